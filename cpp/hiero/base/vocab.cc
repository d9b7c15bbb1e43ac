#include "hiero/base/vocab.h"

#include <cstring>

#include "hiero/base/checksum.h"

namespace hiero {

std::uint64_t hash_word(std::string_view text) {
  return checksum(reinterpret_cast<const std::byte*>(text.data()), text.size());
}

std::uint32_t Vocab::intern(std::string_view text) {
  std::size_t mask = slots_.size() - 1;
  std::size_t at = hash_word(text) & mask;
  for (; slots_[at] != kEmpty; at = (at + 1) & mask) {
    if (words_[slots_[at]] == text) return slots_[at];
  }
  const std::uint32_t id = size();
  words_.push_back(store(text));
  slots_[at] = id;
  if (2 * words_.size() > slots_.size()) grow();
  return id;
}

std::optional<std::uint32_t> Vocab::find(std::string_view text) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash_word(text) & mask; slots_[at] != kEmpty; at = (at + 1) & mask) {
    if (words_[slots_[at]] == text) return slots_[at];
  }
  return std::nullopt;
}

Vocab Vocab::copy() const {
  Vocab out;
  for (const std::string_view word : words_) out.intern(word);
  return out;
}

std::string_view Vocab::store(std::string_view text) {
  constexpr std::size_t kBlockBytes = std::size_t{1} << 18;
  if (text.size() > free_) {
    free_ = text.size() > kBlockBytes ? text.size() : kBlockBytes;
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(free_));
    next_ = blocks_.back().get();
  }
  if (!text.empty()) std::memcpy(next_, text.data(), text.size());
  const std::string_view stored(next_, text.size());
  next_ += text.size();
  free_ -= text.size();
  return stored;
}

void Vocab::grow() {
  slots_.assign(2 * slots_.size(), kEmpty);
  const std::size_t mask = slots_.size() - 1;
  for (std::uint32_t id = 0; id < size(); ++id) {
    std::size_t at = hash_word(words_[id]) & mask;
    while (slots_[at] != kEmpty) at = (at + 1) & mask;
    slots_[at] = id;
  }
}

}  // namespace hiero
