// Where the forests of a training set come from: a list of forests, or records in memory, such as a mapped
// archive, that are read one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "hiero/forest/forest.h"

namespace hiero {

// Forests whose features have the same names in the same order. Several threads may read at once.
class ForestSource {
 public:
  virtual ~ForestSource() = default;
  virtual std::size_t size() const = 0;
  virtual std::shared_ptr<const Forest> forest(std::size_t sentence) const = 0;
};

class ForestList final : public ForestSource {
 public:
  // Throws std::invalid_argument where forests that have derivations differ in their features.
  explicit ForestList(std::vector<std::shared_ptr<const Forest>> forests);

  std::size_t size() const override { return forests_.size(); }
  std::shared_ptr<const Forest> forest(std::size_t sentence) const override { return forests_[sentence]; }

 private:
  std::vector<std::shared_ptr<const Forest>> forests_;
};

class ForestRecords : public ForestSource {
 public:
  // Reads records (see record.h) from memory that outlives this object: that of sentence i begins at byte
  // extents[2 i] and has extents[2 i + 1] bytes. Throws ForestError for records beyond the end,
  // std::invalid_argument for an odd number of extents.
  ForestRecords(std::span<const std::byte> memory, std::span<const std::int64_t> extents,
                std::shared_ptr<const FeatureNames> names);

  std::size_t size() const override { return records_.size(); }
  // Throws ForestError that names the sentence for a damaged record.
  std::shared_ptr<const Forest> forest(std::size_t sentence) const override;

 private:
  std::vector<std::span<const std::byte>> records_;
  std::shared_ptr<const FeatureNames> names_;
};

}  // namespace hiero
