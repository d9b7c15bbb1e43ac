#include "hiero/tune/forest_source.h"

#include <stdexcept>
#include <string>

#include "hiero/base/error.h"
#include "hiero/forest/record.h"

namespace hiero {

ForestList::ForestList(std::vector<std::shared_ptr<const Forest>> forests) : forests_(std::move(forests)) {
  const FeatureNames* names = nullptr;
  for (const auto& forest : forests_) {
    if (forest->graph->root < 0) continue;
    if (!names) names = forest->feature_names.get();
    if (!(*forest->feature_names == *names))
      throw std::invalid_argument("forests: they have different features");
  }
}

ForestRecords::ForestRecords(std::span<const std::byte> memory, std::span<const std::int64_t> extents,
                             std::shared_ptr<const FeatureNames> names)
    : names_(std::move(names)) {
  if (extents.size() % 2 != 0) throw std::invalid_argument("records: expected begin and size of each");
  const auto end = static_cast<std::int64_t>(memory.size());
  for (std::size_t i = 0; i < extents.size(); i += 2) {
    const std::int64_t begin = extents[i];
    const std::int64_t size = extents[i + 1];
    if (begin < 0 || size < 0 || begin > end || size > end - begin)
      throw ForestError("records: record " + std::to_string(i / 2) + " is beyond the end");
    records_.push_back(memory.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(size)));
  }
}

std::shared_ptr<const Forest> ForestRecords::forest(std::size_t sentence) const {
  try {
    return std::make_shared<const Forest>(read_record(records_[sentence], names_));
  } catch (const ForestError& error) {
    throw ForestError("sentence " + std::to_string(sentence) + ": " + error.what());
  }
}

}  // namespace hiero
