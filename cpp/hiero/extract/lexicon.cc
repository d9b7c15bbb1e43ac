#include "hiero/extract/lexicon.h"

#include <algorithm>

namespace hiero {
namespace {

std::uint64_t pair_key(WordId source, WordId target) { return std::uint64_t{source} << 32 | target; }

std::size_t total_index(WordId word) { return word == Lexicon::kNull ? 0 : std::size_t{word} + 1; }

void add_total(std::vector<std::uint64_t>& totals, WordId word, std::uint64_t count) {
  const std::size_t index = total_index(word);
  if (index >= totals.size()) totals.resize(index + 1, 0);
  totals[index] += count;
}

std::uint64_t total_of(const std::vector<std::uint64_t>& totals, WordId word) {
  const std::size_t index = total_index(word);
  return index < totals.size() ? totals[index] : 0;
}

}  // namespace

void Lexicon::add(const AlignedPair& pair) {
  std::vector<char> linked(pair.target.size(), 0);
  auto link = pair.links.begin();
  for (std::uint32_t s = 0; s < pair.source.size(); ++s) {
    if (link == pair.links.end() || link->source != s) add(pair.source[s], kNull, 1);
    for (; link != pair.links.end() && link->source == s; ++link) {
      add(pair.source[s], pair.target[link->target], 1);
      linked[link->target] = 1;
    }
  }
  for (std::uint32_t t = 0; t < pair.target.size(); ++t) {
    if (!linked[t]) add(kNull, pair.target[t], 1);
  }
}

void Lexicon::add(WordId source, WordId target, std::uint64_t count) {
  const std::uint64_t key = pair_key(source, target);
  Slot& slot = slots_[find(key)];
  if (slot.count == 0) ++size_;
  slot.key = key;
  slot.count += count;
  add_total(source_totals_, source, count);
  add_total(target_totals_, target, count);
  if (2 * size_ > slots_.size()) grow();
}

std::size_t Lexicon::find(std::uint64_t key) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = (key * 0x9E3779B97F4A7C15ull >> 20) & mask;
  while (slots_[at].count != 0 && slots_[at].key != key) at = (at + 1) & mask;
  return at;
}

void Lexicon::grow() {
  std::vector<Slot> old_slots(2 * slots_.size());
  old_slots.swap(slots_);
  for (const Slot& slot : old_slots) {
    if (slot.count != 0) slots_[find(slot.key)] = slot;
  }
}

std::vector<Lexicon::Entry> Lexicon::entries() const {
  std::vector<Entry> out;
  for (const Slot& slot : slots_) {
    if (slot.count == 0) continue;
    out.push_back({static_cast<WordId>(slot.key >> 32), static_cast<WordId>(slot.key), slot.count});
  }
  std::ranges::sort(out, {}, [](const Entry& entry) { return pair_key(entry.source, entry.target); });
  return out;
}

std::uint64_t Lexicon::count(WordId source, WordId target) const {
  return slots_[find(pair_key(source, target))].count + (base_ ? base_->count(source, target) : 0);
}

std::uint64_t Lexicon::source_total(WordId word) const {
  return total_of(source_totals_, word) + (base_ ? base_->source_total(word) : 0);
}

std::uint64_t Lexicon::target_total(WordId word) const {
  return total_of(target_totals_, word) + (base_ ? base_->target_total(word) : 0);
}

double Lexicon::target_given_source(WordId source, WordId target) const {
  const std::uint64_t pairs = count(source, target);
  return pairs == 0 ? 0 : static_cast<double>(pairs) / static_cast<double>(source_total(source));
}

double Lexicon::source_given_target(WordId source, WordId target) const {
  const std::uint64_t pairs = count(source, target);
  return pairs == 0 ? 0 : static_cast<double>(pairs) / static_cast<double>(target_total(target));
}

}  // namespace hiero
