// Interned strings with dense ids, in order of first occurrence.
//
// How to use: Vocab words; id = words.intern("maison"); words[id] is "maison". A string_view that it returns
// stays valid as long as the vocabulary.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace hiero {

// Hashes a word. Packed tables store an index by this hash: a change of it is a change of their format.
std::uint64_t hash_word(std::string_view text);

class Vocab {
 public:
  // Returns the id of a string. A string that is not there is added.
  std::uint32_t intern(std::string_view text);
  // Returns the id of a string, if it is there.
  std::optional<std::uint32_t> find(std::string_view text) const;
  // Returns a copy.
  Vocab copy() const;
  std::uint32_t size() const { return static_cast<std::uint32_t>(words_.size()); }
  std::string_view operator[](std::uint32_t id) const { return words_[id]; }

 private:
  static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};
  std::string_view store(std::string_view text);
  void grow();

  std::vector<std::string_view> words_;
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(1024, kEmpty);
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;  // first free byte of the last block
  std::size_t free_ = 0;  // number of free bytes in the last block
};

}  // namespace hiero
