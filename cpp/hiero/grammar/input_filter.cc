#include "hiero/grammar/input_filter.h"

#include <algorithm>
#include <utility>

#include "hiero/base/error.h"
#include "hiero/base/tokens.h"

namespace hiero {

InputFilter::InputFilter(LineReader& input, std::uint32_t span_limit, std::string goal)
    : span_limit_(span_limit), goal_(std::move(goal)) {
  std::string_view line;
  std::vector<WordId> sentence;
  while (input.next(line)) {
    if (!is_utf8(line)) throw FormatError(input.where() + ": invalid UTF-8");
    sentence.clear();
    for (std::string_view token = next_token(line); !token.empty(); token = next_token(line)) {
      sentence.push_back(words_.intern(token));
    }
    index_.add(sentence);
  }
  known_words_ = words_.size();
}

bool InputFilter::can_match(std::string_view lhs, const std::vector<TokenView>& source) {
  const std::uint32_t limit = lhs == goal_ ? 0 : span_limit_;
  pattern_.clear();
  for (const TokenView& token : source) {
    // Words that the input does not have make the vocabulary grow by what the grammar has, no more.
    const Symbol symbol = token.index > 0 ? nonterminal(0) : words_.intern(token.text);
    pattern_.push_back(symbol);
  }
  if (pattern_ == last_ && limit == last_limit_) return last_matched_;
  last_ = pattern_;
  last_limit_ = limit;
  last_matched_ = find_match(limit);
  return last_matched_;
}

bool InputFilter::find_match(std::uint32_t span_limit) const {
  const auto in_input = [this](Symbol symbol) { return is_nonterminal(symbol) || symbol < known_words_; };
  if (!std::ranges::all_of(pattern_, in_input)) return false;
  const auto match = [&](std::uint32_t s) { return index_.matches(s, pattern_, span_limit); };
  const WordId rarest = index_.rarest(pattern_);
  if (rarest != kNoWord) return std::ranges::any_of(index_.sentences_with(rarest), match);
  for (std::uint32_t s = 0; s < index_.size(); ++s) {
    if (match(s)) return true;
  }
  return false;
}

}  // namespace hiero
