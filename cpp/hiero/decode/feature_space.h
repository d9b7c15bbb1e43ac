// Feature names and their dense indices. Grows while a model is put together and is fixed afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hiero {

class FeatureSpace {
 public:
  static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};

  std::uint32_t add(const std::string& name) {
    const auto [it, added] = index_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (added) names_.push_back(name);
    return it->second;
  }
  std::uint32_t find(const std::string& name) const {
    const auto it = index_.find(name);
    return it == index_.end() ? kAbsent : it->second;
  }
  std::size_t size() const { return names_.size(); }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> index_;
};

}  // namespace hiero
