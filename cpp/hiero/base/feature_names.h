// Feature names with dense ids, in the order in which they were added. A model, its weights, its forests and
// its k-best lists share one such index.
//
// How to use: add() the names while the model is built; share the object as const afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hiero/base/checksum.h"

namespace hiero {

class FeatureNames {
 public:
  static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};

  FeatureNames() = default;
  explicit FeatureNames(const std::vector<std::string>& names) {
    for (const std::string& name : names) add(name);
  }

  // Returns the id of a name. A name that is not there is added.
  std::uint32_t add(const std::string& name) {
    const auto [it, added] = ids_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (added) {
      names_.push_back(name);
      const std::span<const std::byte> bytes = std::as_bytes(std::span(name));
      fingerprint_ = checksum_detail::mix(fingerprint_, checksum(bytes.data(), bytes.size()));
    }
    return it->second;
  }
  // Returns the id of a name, or kAbsent.
  std::uint32_t find(const std::string& name) const {
    const auto it = ids_.find(name);
    return it == ids_.end() ? kAbsent : it->second;
  }
  std::size_t size() const { return names_.size(); }
  const std::string& operator[](std::size_t id) const { return names_[id]; }
  const std::vector<std::string>& list() const { return names_; }

  // Returns a hash of the names and their order.
  std::uint64_t fingerprint() const { return fingerprint_; }
  bool operator==(const FeatureNames& other) const {
    return size() == other.size() && fingerprint_ == other.fingerprint_;
  }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace hiero
