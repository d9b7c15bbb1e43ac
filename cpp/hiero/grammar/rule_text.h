// Reads and writes rules as text, one rule per line. Two formats are read. The first field tells them apart:
// in the Hiero format it is a single label.
//   Hiero (cdec, Joshua, Thrax):  [X] ||| ne [X,1] pas ||| do not [X,1] ||| A=-0.3 0.5 ||| 0-1 2-1
//   Moses:                        ne [X][X] pas [X] ||| do not [X][X] [X] ||| 0.1 0.2 ||| 1-2 ||| counts
// Hiero format: a source nonterminal may leave out its index ([X]; they are numbered from left to right) and
// a target nonterminal its label ([1]). Features and links may be missing. Values without a name are
// numbered. Moses format: a link between nonterminals pairs them; a single nonterminal needs no link.
// Probabilities become natural logs, at least -100.
//
// How to use:
//   1. RuleParser parser;
//   2. if (parser.parse(line, where)) ...    // false for a blank line
//   3. parser.lhs(), parser.source(), ...    // views of the line, valid until the next call of parse()
// parse_rule() and format_rule() convert single rules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hiero/base/symbol.h"
#include "hiero/grammar/rule.h"

namespace hiero {

struct TokenView {
  std::string_view text;  // a word (unescaped), or a nonterminal's label
  int index = 0;          // 0 for a word; nonterminals are numbered 1, 2, ... in source order
};

struct FeatureView {
  std::string_view name;  // empty for a value without a name, which has a position
  std::uint32_t position = 0;
  float value = 0;
};

struct LinkView {
  std::uint32_t source;
  std::uint32_t target;
};

class RuleParser {
 public:
  // Returns false for a blank line. Throws FormatError for a malformed rule, with a message that begins with
  // `where`.
  bool parse(std::string_view line, const std::string& where);

  std::string_view lhs() const { return lhs_; }
  const std::vector<TokenView>& source() const { return source_; }
  const std::vector<TokenView>& target() const { return target_; }
  const std::vector<FeatureView>& features() const { return features_; }
  const std::vector<LinkView>& links() const { return links_; }

  // Returns a copy of the rule. Values without a name are called <prefix>0, <prefix>1, ...
  Rule rule(const std::string& prefix) const;

 private:
  using Tokens = std::vector<std::string_view>;

  [[noreturn]] void fail(const std::string& what) const;
  void split_fields(std::string_view line);
  void parse_hiero();
  void parse_moses();
  TokenView parse_source_token(std::string_view token, int nonterminals) const;
  TokenView parse_target_token(std::string_view token) const;
  TokenView make_nonterminal(std::string_view token, std::string_view label, std::string_view index) const;
  [[noreturn]] void fail_bad_nonterminal(std::string_view token) const;
  [[noreturn]] void fail_too_many_nonterminals() const;
  std::string_view parse_moses_side(std::size_t field, std::vector<TokenView>& side) const;
  std::string_view parse_moses_label(std::string_view token) const;
  void pair_moses_nonterminals();
  void add_single_nonterminal_link();
  void number_nonterminals();
  void check_links() const;
  void parse_hiero_features(const Tokens& tokens);
  void parse_moses_features(const Tokens& tokens);
  void parse_links(const Tokens& tokens);
  float parse_value(std::string_view text) const;
  std::uint32_t parse_position(std::string_view text) const;
  void check_feature_names();

  const std::string* where_ = nullptr;
  std::vector<Tokens> fields_;
  std::size_t field_count_ = 0;
  std::string_view lhs_;
  std::vector<TokenView> source_;
  std::vector<TokenView> target_;
  std::vector<FeatureView> features_;
  std::vector<LinkView> links_;
  std::vector<std::string_view> names_;
};

// Returns a word as it is written in rule, n-best and forest text: a word that matches the regular expression
// \\*(\[.*\]|\|\|\|) in full gets one more leading backslash.
std::string escape(std::string_view token);

// Returns a token as it is written in rule text: [X,1] for a nonterminal, words escaped.
std::string token_text(const RuleToken& token);

// Returns the rule in Hiero format, without line end. parse_rule() reads the same rule from it.
std::string format_rule(const Rule& rule);

// Reads one rule. Throws FormatError, with a message that begins with `where`.
Rule parse_rule(std::string_view line, const std::string& where);

}  // namespace hiero
