#include "hiero/base/vocab.h"

#include <cstring>

#include "hiero/base/checksum.h"

namespace hiero {

std::uint64_t hash_word(std::string_view text) {
  return checksum(reinterpret_cast<const std::byte*>(text.data()), text.size());
}

std::size_t Vocab::place(std::string_view text) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash_word(text) & mask;
  while (slots_[at] != kEmpty && words_[slots_[at]] != text) at = (at + 1) & mask;
  return at;
}

std::uint32_t Vocab::intern(std::string_view text) {
  if (base_) {
    if (const std::optional<std::uint32_t> id = base_->find(text)) return *id;
  }
  const std::size_t at = place(text);
  if (slots_[at] != kEmpty) return first_ + slots_[at];
  const std::uint32_t id = size();
  slots_[at] = id - first_;
  words_.push_back(store(text));
  if (2 * words_.size() > slots_.size()) grow();
  return id;
}

std::optional<std::uint32_t> Vocab::find(std::string_view text) const {
  if (base_) {
    if (const std::optional<std::uint32_t> id = base_->find(text)) return id;
  }
  const std::uint32_t slot = slots_[place(text)];
  return slot == kEmpty ? std::nullopt : std::optional(first_ + slot);
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
  for (std::uint32_t k = 0; k < words_.size(); ++k) {
    std::size_t at = hash_word(words_[k]) & mask;
    while (slots_[at] != kEmpty) at = (at + 1) & mask;
    slots_[at] = k;
  }
}

}  // namespace hiero
