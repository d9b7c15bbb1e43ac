// The part of RuleParser (rule_text.h) that reads rules in the format of Moses.
#include <algorithm>
#include <cmath>
#include <utility>

#include "hiero/grammar/rule_text.h"
#include "hiero/grammar/rule_token.h"

namespace hiero {
namespace {

constexpr double kMinLogProbability = -100.0;

}  // namespace

void RuleParser::parse_moses() {
  parse_moses_side(0, source_);
  lhs_ = parse_moses_side(1, target_);
  if (field_count_ >= 4) parse_links(fields_[3]);
  pair_moses_nonterminals();
  parse_moses_features(fields_[2]);
}

// Reads `words [X][NP] words [X]` and returns the left-hand label at the end. A nonterminal has a source and
// a target label, and a rule has a left-hand label on each side. The target labels count: source labels are
// for parsed input and are all the same where the input is text.
std::string_view RuleParser::parse_moses_side(std::size_t field, std::vector<TokenView>& side) const {
  const Tokens& tokens = fields_[field];
  if (tokens.empty() || !is_bracketed(tokens.back()))
    fail("expected a left-hand label such as [X] at the end of a side");
  const std::string_view lhs = tokens.back().substr(1, tokens.back().size() - 2);
  if (!is_label(lhs)) fail("bad left-hand label " + std::string(tokens.back()));
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const std::string_view token = tokens[i];
    if (!is_bracketed(token)) {
      side.push_back({unescape(token), 0});
      continue;
    }
    side.push_back({parse_moses_label(token), 1});
  }
  return lhs;
}

// Returns the target label of `[source label][target label]`.
std::string_view RuleParser::parse_moses_label(std::string_view token) const {
  const std::string_view inside = token.substr(1, token.size() - 2);
  const std::size_t middle = inside.find("][");
  if (middle == std::string_view::npos || !is_label(inside.substr(0, middle)) ||
      !is_label(inside.substr(middle + 2))) {
    fail("bad nonterminal " + std::string(token) +
         " (expected [source label][target label]; for the word write \\" + std::string(token) + ")");
  }
  return inside.substr(middle + 2);
}

// Gives target nonterminals the index of the source nonterminal that they are linked to, and keeps only the
// links between words.
void RuleParser::pair_moses_nonterminals() {
  constexpr int kUnlinked = -1;
  int count = 0;
  for (TokenView& token : source_) {
    if (token.index > 0 && ++count > kMaxIndex) fail_too_many_nonterminals();
    if (token.index > 0) token.index = count;
  }
  int unlinked = 0;
  for (TokenView& token : target_) {
    if (token.index == 0) continue;
    token.index = kUnlinked;
    ++unlinked;
  }
  if (unlinked != count) fail("source and target side have different numbers of nonterminals");
  if (count == 1) add_single_nonterminal_link();
  std::vector<LinkView> word_links;
  for (const LinkView& link : links_) {
    const bool in_range = link.source < source_.size() && link.target < target_.size();
    if (!in_range || (source_[link.source].index == 0 && target_[link.target].index == 0)) {
      word_links.push_back(link);
      continue;
    }
    if (source_[link.source].index <= 0 || target_[link.target].index != kUnlinked) {
      fail("a link must join two words, or two nonterminals without another link");
    }
    if (source_[link.source].text != target_[link.target].text) {
      fail("a link joins nonterminals with the different labels " + std::string(source_[link.source].text) +
           " and " + std::string(target_[link.target].text));
    }
    target_[link.target] = source_[link.source];
    --unlinked;
  }
  if (unlinked != 0) fail("expected a link for every nonterminal");
  bool seen[kMaxIndex + 1] = {};
  for (const TokenView& token : target_) {
    if (token.index > 0 && std::exchange(seen[token.index], true)) fail("a nonterminal is linked twice");
  }
  links_ = std::move(word_links);
}

// Adds the link of the only nonterminal, which a rule may leave out.
void RuleParser::add_single_nonterminal_link() {
  const auto nonterminal_position = [](const std::vector<TokenView>& side) {
    const auto has_index = [](const TokenView& token) { return token.index != 0; };
    return static_cast<std::uint32_t>(std::ranges::find_if(side, has_index) - side.begin());
  };
  const LinkView link{nonterminal_position(source_), nonterminal_position(target_)};
  const auto touches = [&](const LinkView& other) {
    return other.source == link.source || other.target == link.target;
  };
  if (std::ranges::none_of(links_, touches)) links_.push_back(link);
}

void RuleParser::parse_moses_features(const Tokens& tokens) {
  for (std::uint32_t i = 0; i < tokens.size(); ++i) {
    const float probability = parse_value(tokens[i]);
    if (probability < 0) fail("negative probability " + std::string(tokens[i]));
    const double log = probability > 0
                           ? std::max(std::log(static_cast<double>(probability)), kMinLogProbability)
                           : kMinLogProbability;
    features_.push_back({{}, i, static_cast<float>(log)});
  }
  if (field_count_ < 6) return;
  const Tokens& sparse = fields_[5];
  if (sparse.size() % 2 != 0) fail("expected pairs of name and value as sparse features");
  for (std::size_t i = 0; i < sparse.size(); i += 2)
    features_.push_back({sparse[i], 0, parse_value(sparse[i + 1])});
}

}  // namespace hiero
