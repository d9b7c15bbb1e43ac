#include "hiero/grammar/input_filter.h"

#include <algorithm>
#include <utility>

#include "hiero/base/error.h"
#include "hiero/base/tokens.h"
#include "hiero/grammar/rule_token.h"

namespace hiero {
namespace {

bool is_word(const TokenView& token, std::string_view word) { return token.index == 0 && token.text == word; }

}  // namespace

InputFilter::InputFilter(LineReader& input, std::uint32_t span_limit, std::string goal)
    : span_limit_(span_limit), goal_(std::move(goal)) {
  std::string_view line;
  std::vector<WordId> sentence;
  while (input.next(line)) {
    if (!is_utf8(line)) throw FormatError(input.where() + ": invalid UTF-8");
    sentence.assign(1, words_.intern(kOpenMark));
    for (std::string_view token = next_token(line); !token.empty(); token = next_token(line)) {
      sentence.push_back(words_.intern(token));
    }
    if (sentence.size() == 1) continue;
    plain_.add(std::span(sentence).subspan(1));
    sentence.push_back(words_.intern(kCloseMark));
    marked_.add(sentence);
  }
  input_words_ = words_.size();
}

bool InputFilter::can_match(const RuleParser& rule) {
  const std::vector<TokenView>& source = rule.source();
  const bool opens = is_word(source.front(), kOpenMark);
  const bool closes = is_word(source.back(), kCloseMark);
  if (opens && !rule.target().empty() && is_word(rule.target().front(), kOpenMark)) {
    // The decoder learns the goal from this rule, even if it never matches.
    marked_goals_.emplace(rule.lhs());
    return true;
  }
  const bool marked = opens || closes || marked_goals_.contains(rule.lhs());
  const bool maybe_marked = marked || rule.lhs() == goal_;
  const Kind kind = marked ? Kind::kMarked : maybe_marked ? Kind::kEither : Kind::kPlain;
  pattern_.clear();
  for (const TokenView& token : source) {
    const Symbol symbol = token.index > 0 ? nonterminal(0) : words_.intern(token.text);
    pattern_.push_back(symbol);
  }
  if (pattern_ == last_pattern_ && kind == last_kind_) return last_matched_;
  last_pattern_ = pattern_;
  last_kind_ = kind;
  last_matched_ = kind != Kind::kMarked && find_match(plain_, kind == Kind::kPlain ? span_limit_ : 0);
  // The words after the rule end with </s>, which no nonterminal of the rule stands for.
  if (!closes) pattern_.push_back(nonterminal(0));
  last_matched_ = last_matched_ || (kind != Kind::kPlain && find_match(marked_, 0));
  return last_matched_;
}

bool InputFilter::find_match(const PatternIndex& index, std::uint32_t span_limit) const {
  const auto in_input = [this](Symbol symbol) { return is_nonterminal(symbol) || symbol < input_words_; };
  if (!std::ranges::all_of(pattern_, in_input)) return false;
  const auto match = [&](std::uint32_t s) { return index.matches(s, pattern_, span_limit); };
  const WordId rarest = index.rarest(pattern_);
  if (rarest != kNoWord) return std::ranges::any_of(index.sentences_with(rarest), match);
  for (std::uint32_t s = 0; s < index.size(); ++s) {
    if (match(s)) return true;
  }
  return false;
}

}  // namespace hiero
