// Hypotheses of the segments of a test set as flat arrays, such as Python hands them over: hypothesis i is
// for segment segments[i], and its words are words[offsets[i]] to words[offsets[i + 1]], indices into a
// vocabulary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hiero/metrics/reference_set.h"

namespace hiero {

class Hypotheses {
 public:
  // Checks the arrays and numbers the words as `references` does. Throws std::out_of_range for a segment or
  // word that does not exist, std::invalid_argument for offsets that do not fit.
  Hypotheses(const ReferenceSet& references, std::vector<std::int32_t> segments,
             std::span<const std::string> vocabulary, std::vector<std::int32_t> words,
             std::vector<std::int32_t> offsets);

  std::size_t size() const { return segments_.size(); }
  std::size_t segment(std::size_t i) const { return static_cast<std::size_t>(segments_[i]); }
  std::span<const std::int32_t> words(std::size_t i) const {
    return {words_.data() + offsets_[i], words_.data() + offsets_[i + 1]};
  }

 private:
  std::vector<std::int32_t> segments_;
  std::vector<std::int32_t> words_;
  std::vector<std::int32_t> offsets_;
};

}  // namespace hiero
