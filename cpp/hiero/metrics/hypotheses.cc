#include "hiero/metrics/hypotheses.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace hiero {

Hypotheses::Hypotheses(const ReferenceSet& references, std::vector<std::int32_t> segments,
                       std::span<const std::string> vocabulary, std::vector<std::int32_t> words,
                       std::vector<std::int32_t> offsets)
    : segments_(std::move(segments)), words_(std::move(words)), offsets_(std::move(offsets)) {
  for (const std::int32_t segment : segments_) {
    if (segment < 0 || static_cast<std::size_t>(segment) >= references.size()) {
      throw std::out_of_range("segment " + std::to_string(segment) + ": there are " +
                              std::to_string(references.size()));
    }
  }
  if (offsets_.size() != segments_.size() + 1 || offsets_.front() < 0 ||
      offsets_.back() > static_cast<std::int32_t>(words_.size()) || !std::ranges::is_sorted(offsets_)) {
    throw std::invalid_argument("offsets: expected one more than segments, rising, within the words");
  }
  const std::vector<std::int32_t> numbers = references.words(vocabulary);
  for (std::int32_t& word : words_) {
    if (word < 0 || static_cast<std::size_t>(word) >= numbers.size())
      throw std::out_of_range("word " + std::to_string(word) + " is not in the vocabulary");
    word = numbers[static_cast<std::size_t>(word)];
  }
}

}  // namespace hiero
