// Interned strings with dense ids, in order of first occurrence. A vocabulary may go on where another one
// ends.
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
  Vocab() = default;
  // Has the strings of a base, which must outlive it and stay as it is, and then its own.
  explicit Vocab(const Vocab* base) : base_(base), first_(base->size()) {}

  // Returns the id of a string. A string that is not there is added.
  std::uint32_t intern(std::string_view text);
  // Returns the id of a string, if it is there.
  std::optional<std::uint32_t> find(std::string_view text) const;
  std::uint32_t size() const { return first_ + static_cast<std::uint32_t>(words_.size()); }
  std::string_view operator[](std::uint32_t id) const {
    return id < first_ ? (*base_)[id] : words_[id - first_];
  }

 private:
  static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};
  std::string_view store(std::string_view text);
  void grow();

  // Returns the place in slots_ of a string of its own, or the empty place for it.
  std::size_t place(std::string_view text) const;

  const Vocab* base_ = nullptr;
  std::uint32_t first_ = 0;  // the first id of its own
  std::vector<std::string_view> words_;
  // Places in words_, by hash.
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(1024, kEmpty);
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;  // first free byte of the last block
  std::size_t free_ = 0;  // number of free bytes in the last block
};

}  // namespace hiero
