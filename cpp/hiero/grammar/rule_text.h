// Rules as text, one a line. Two formats are read, told apart by the shape of the first field:
//   Hiero (cdec, Joshua, Thrax):  [X] ||| ne [X,1] pas ||| do not [X,1] ||| A=-0.3 0.5 ||| 0-1 2-1
//   Moses:                        ne [X][X] pas [X] ||| do not [X][X] [X] ||| 0.1 0.2 ||| 1-2 ||| counts
// In Hiero format a source nonterminal may leave out its index ([X], numbered from left to right) and a
// target nonterminal its label ([1]), features and links may be missing, values without a name are numbered.
// In Moses format links between nonterminals pair them up (a single one needs none) and the probabilities
// become natural logs, at least -100.
//
// How to use: RuleParser parser; parser.parse(line, where); then parser.lhs() and so on, which point
// into the line and hold until the next call.
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
  int index = 0;          // 0: a word; 1, 2, ...: nonterminal, numbered in source order
};

struct FeatureView {
  std::string_view name;  // empty: the value is known by its position
  std::uint32_t position = 0;
  float value = 0;
};

struct LinkView {
  std::uint32_t source;
  std::uint32_t target;
};

class RuleParser {
 public:
  // Throws FormatError, its text beginning with `where`, for anything that is no rule. False for a
  // blank line.
  bool parse(std::string_view line, const std::string& where);

  std::string_view lhs() const { return lhs_; }
  const std::vector<TokenView>& source() const { return source_; }
  const std::vector<TokenView>& target() const { return target_; }
  const std::vector<FeatureView>& features() const { return features_; }
  const std::vector<LinkView>& links() const { return links_; }

  // The rule with strings of its own; values without a name are called prefix0, prefix1, ...
  Rule rule(const std::string& prefix) const;

 private:
  using Tokens = std::vector<std::string_view>;

  [[noreturn]] void fail(const std::string& what) const;
  void split_fields(std::string_view line);
  void parse_hiero();
  void parse_moses();
  TokenView source_token(std::string_view token, int nonterminals) const;
  TokenView target_token(std::string_view token) const;
  TokenView indexed(std::string_view token, std::string_view label, std::string_view index) const;
  [[noreturn]] void bad_nonterminal(std::string_view token) const;
  [[noreturn]] void too_many_nonterminals() const;
  std::string_view moses_side(std::size_t field, std::vector<TokenView>& side) const;
  std::string_view moses_label(std::string_view token) const;
  void pair_moses_nonterminals();
  void pair_single_nonterminals();
  void number_nonterminals();
  void parse_hiero_features(const Tokens& tokens);
  void parse_moses_features(const Tokens& tokens);
  void parse_links(const Tokens& tokens);
  float parse_value(std::string_view text) const;
  std::uint32_t parse_count(std::string_view text) const;
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

// A token as it stands in rule, n-best and forest text: one that matches \\*(\[.*\]|\|\|\|) in full
// gets one more leading backslash.
std::string escape(std::string_view token);

// The rule as one line without line end, in the form that is read back the same.
std::string format_rule(const Rule& rule);

// One line of text; `where` begins error messages.
Rule parse_rule(std::string_view line, const std::string& where);

}  // namespace hiero
