// Interned strings with dense ids in order of first occurrence.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace hiero {

// Also the hash of the word index inside packed tables: changing it changes their format.
std::uint64_t hash_word(std::string_view text);

class Vocab {
 public:
  std::uint32_t intern(std::string_view text);
  std::uint32_t size() const { return static_cast<std::uint32_t>(words_.size()); }
  std::string_view operator[](std::uint32_t id) const { return words_[id]; }

 private:
  static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};
  std::string_view store(std::string_view text);
  void grow();

  std::vector<std::string_view> words_;
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(1024, kEmpty);
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t left_ = 0;  // bytes left in the last block
  char* next_ = nullptr;
};

}  // namespace hiero
