// The part of RuleParser that reads the rules of Moses.
#include <algorithm>
#include <cmath>
#include <utility>

#include "hiero/grammar/rule_text.h"
#include "hiero/grammar/rule_token.h"

namespace hiero {
namespace {

constexpr double kLogFloor = -100.0;  // of probabilities

}  // namespace

void RuleParser::parse_moses() {
  moses_side(0, source_);
  lhs_ = moses_side(1, target_);
  if (field_count_ >= 4) parse_links(fields_[3]);
  pair_moses_nonterminals();
  parse_moses_features(fields_[2]);
}

// Reads `words [X][NP] words [X]`; returns the left-hand label at the end. Of the two labels of a
// nonterminal, source and target, the target label counts, and so does the left-hand label of the target
// side: the source ones speak of a parse of the input and are all alike for text.
std::string_view RuleParser::moses_side(std::size_t field, std::vector<TokenView>& side) const {
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
    side.push_back({moses_label(token), 1});
  }
  return lhs;
}

// The target label of `[source label][target label]`.
std::string_view RuleParser::moses_label(std::string_view token) const {
  const std::string_view inside = token.substr(1, token.size() - 2);
  const std::size_t middle = inside.find("][");
  if (middle == std::string_view::npos || !is_label(inside.substr(0, middle)) ||
      !is_label(inside.substr(middle + 2))) {
    fail("bad nonterminal " + std::string(token) +
         " (expected [source label][target label]; as a word it is written \\" + std::string(token) + ")");
  }
  return inside.substr(middle + 2);
}

void RuleParser::pair_moses_nonterminals() {
  int count = 0;
  for (TokenView& token : source_) {
    if (token.index > 0 && ++count > kMaxGaps) too_many_nonterminals();
    if (token.index > 0) token.index = count;
  }
  int open = 0;
  for (TokenView& token : target_) {
    if (token.index == 0) continue;
    token.index = -1;
    ++open;
  }
  if (open != count) fail("source and target side differ in their nonterminals");
  if (count == 1) pair_single_nonterminals();
  std::vector<LinkView> words;
  for (const LinkView& link : links_) {
    const bool in_range = link.source < source_.size() && link.target < target_.size();
    if (!in_range || (source_[link.source].index == 0 && target_[link.target].index == 0)) {
      words.push_back(link);
      continue;
    }
    if (source_[link.source].index <= 0 || target_[link.target].index != -1) {
      fail("a link between a nonterminal and something else");
    }
    if (source_[link.source].text != target_[link.target].text) {
      fail("a link between nonterminals of the labels " + std::string(source_[link.source].text) + " and " +
           std::string(target_[link.target].text));
    }
    target_[link.target] = source_[link.source];
    --open;
  }
  if (open != 0) fail("expected a link for every nonterminal");
  bool seen[kMaxGaps + 1] = {};
  for (const TokenView& token : target_) {
    if (token.index > 0 && std::exchange(seen[token.index], true)) fail("a nonterminal linked twice");
  }
  links_ = std::move(words);
}

// Adds the link that may be left out where there is no choice.
void RuleParser::pair_single_nonterminals() {
  const auto place = [](const std::vector<TokenView>& side) {
    const auto is_gap = [](const TokenView& token) { return token.index != 0; };
    return static_cast<std::uint32_t>(std::ranges::find_if(side, is_gap) - side.begin());
  };
  const LinkView link{place(source_), place(target_)};
  const auto touches = [&](const LinkView& other) {
    return other.source == link.source || other.target == link.target;
  };
  if (std::ranges::none_of(links_, touches)) links_.push_back(link);
}

void RuleParser::parse_moses_features(const Tokens& tokens) {
  for (std::uint32_t i = 0; i < tokens.size(); ++i) {
    const float probability = parse_value(tokens[i]);
    if (probability < 0) fail("negative probability " + std::string(tokens[i]));
    const double log =
        probability > 0 ? std::max(std::log(static_cast<double>(probability)), kLogFloor) : kLogFloor;
    features_.push_back({{}, i, static_cast<float>(log)});
  }
  if (field_count_ < 6) return;
  const Tokens& sparse = fields_[5];
  if (sparse.size() % 2 != 0) fail("expected sparse features as pairs of name and value");
  for (std::size_t i = 0; i < sparse.size(); i += 2)
    features_.push_back({sparse[i], 0, parse_value(sparse[i + 1])});
}

}  // namespace hiero
