#include "hiero/base/record_sorter.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "hiero/base/checksum.h"

namespace hiero {

// Passes records on to a visitor. With a `combine` function, records with equal keys become one.
class RecordSorter::Combiner {
 public:
  Combiner(Combine combine, const Visit& visit) : combine_(combine), visit_(visit) {}

  void operator()(Bytes key, Bytes value) {
    if (!combine_) {
      visit_(key, value);
      return;
    }
    if (pending_ && compare_keys(key_, key) == 0) {
      combine_(value_, value);
      return;
    }
    end();
    key_.assign(key.begin(), key.end());
    value_.assign(value.begin(), value.end());
    pending_ = true;
  }

  void end() {
    if (pending_) visit_(key_, value_);
  }

 private:
  Combine combine_;
  const Visit& visit_;
  std::vector<std::byte> key_;
  std::vector<std::byte> value_;
  bool pending_ = false;  // whether a combined record waits to be passed on
};

RecordSorter::RecordSorter(std::uint64_t memory, std::shared_ptr<RunFile> file, Combine combine)
    : memory_(memory), file_(std::move(file)), combine_(combine) {}
RecordSorter::RecordSorter(std::uint64_t memory, const std::string& folder, Combine combine)
    : RecordSorter(memory, std::make_shared<RunFile>(folder), combine) {}
RecordSorter::~RecordSorter() = default;
RecordSorter::RecordSorter(RecordSorter&&) noexcept = default;

void RecordSorter::add(Bytes key, Bytes value) {
  record_.clear();
  put_record(record_, key, value);
  add({key, value, nullptr}, record_, combine_ ? checksum(key.data(), key.size()) : 0);
}

void RecordSorter::add(Bytes records) {
  batch_.clear();
  for (const std::byte* at = records.data(); at != records.data() + records.size();
       at = batch_.back().first.end) {
    const Record record = decode_record(at);
    batch_.emplace_back(record, combine_ ? checksum(record.key.data(), record.key.size()) : 0);
  }
  // The processor waits for all slots at the same time, and then for all records that these are about.
  if (!slots_.empty()) {
    const std::size_t mask = slots_.size() - 1;
    for (const auto& [record, hash] : batch_) __builtin_prefetch(&slots_[hash & mask]);
    for (const auto& [record, hash] : batch_) {
      const Slot& slot = slots_[hash & mask];
      if (slot.place != 0) __builtin_prefetch(buffer_.data() + slot.place - 1);
    }
  }
  const std::byte* begin = records.data();
  for (const auto& [record, hash] : batch_) {
    add(record, {begin, record.end}, hash);
    begin = record.end;
  }
}

void RecordSorter::add(const Record& record, Bytes encoded, std::uint64_t hash) {
  ++count_;
  if (combine_ && combine_with_equal(hash, record)) return;
  const std::uint64_t used_memory =
      buffer_.size() + entries_.size() * sizeof(Entry) + slots_.size() * sizeof(Slot);
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 39;
  if ((used_memory + encoded.size() + sizeof(Entry) > memory_ && !entries_.empty()) ||
      buffer_.size() > kMostBytes)
    spill();
  entries_.push_back({key_prefix(record.key), buffer_.size()});
  std::memcpy(buffer_.extend(encoded.size()), encoded.data(), encoded.size());
  if (combine_) add_slot(hash);
  if (in_order_ && entries_.size() > 1) in_order_ = !before(entries_.end()[-1], entries_.end()[-2]);
}

// Adds a value to that of a record with an equal key. Returns whether there is one.
bool RecordSorter::combine_with_equal(std::uint64_t hash, const Record& record) {
  if (slots_.empty()) return false;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask; slots_[at].place != 0; at = (at + 1) & mask) {
    if (slots_[at].hash != hash >> 40) continue;
    std::byte* const begin = buffer_.data() + slots_[at].place - 1;
    const Record equal = decode_record(begin);
    if (compare_keys(equal.key, record.key) != 0) continue;
    combine_({begin + (equal.value.data() - begin), equal.value.size()}, record.value);
    return true;
  }
  return false;
}

// Adds the last entry to the hash table.
void RecordSorter::add_slot(std::uint64_t hash) {
  const auto put = [this](const Entry& entry, std::uint64_t hash_of_entry) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash_of_entry & mask;
    while (slots_[at].place != 0) at = (at + 1) & mask;
    slots_[at].place = entry.offset + 1;
    slots_[at].hash = hash_of_entry >> 40;
  };
  constexpr std::size_t kFirstSlots = 64;
  if (4 * entries_.size() <= 3 * slots_.size()) {
    put(entries_.end()[-1], hash);
    return;
  }
  clear_slots(std::max(kFirstSlots, 2 * slots_.size()));
  for (const Entry& entry : entries_) {
    const Bytes key = decode_record(buffer_.data() + entry.offset).key;
    put(entry, checksum(key.data(), key.size()));
  }
}

// Makes a hash table with so many empty slots.
void RecordSorter::clear_slots(std::size_t size) {
  slots_.clear();
  std::uninitialized_default_construct_n(slots_.extend(size), size);
}

bool RecordSorter::before(const Entry& a, const Entry& b) const {
  if (a.prefix != b.prefix) return a.prefix < b.prefix;
  const int order = compare_keys(decode_record(buffer_.data() + a.offset).key,
                                 decode_record(buffer_.data() + b.offset).key);
  return order != 0 ? order < 0 : a.offset < b.offset;
}

void RecordSorter::sort() {
  if (!in_order_)
    std::sort(entries_.begin(), entries_.end(),
              [this](const Entry& a, const Entry& b) { return before(a, b); });
}

void RecordSorter::spill() {
  merge_tail();
  sort();
  auto run = std::make_unique<SortedRun>(*file_, buffer_.size(), 0);
  scan_buffer([&run](Bytes key, Bytes value) { run->write(key, value); });
  run->flush();
  runs_.push_back(std::move(run));
  buffer_.clear();
  entries_.clear();
  clear_slots(slots_.size());
  in_order_ = true;
}

// Merges the last kFanIn runs if they have the same level, and repeats this for the run that it makes: all
// runs have buffers at once, so their number must stay small. Runs stay in the order of their records.
void RecordSorter::merge_tail() {
  constexpr std::size_t kFanIn = 128;
  while (runs_.size() >= kFanIn && runs_[runs_.size() - kFanIn]->level() == runs_.back()->level()) {
    const std::size_t first = runs_.size() - kFanIn;
    std::uint64_t size = 0;
    for (std::size_t r = first; r < runs_.size(); ++r) size += runs_[r]->size();
    auto merged = std::make_unique<SortedRun>(*file_, size, runs_.back()->level() + 1);
    scan_runs(first, [&merged](Bytes key, Bytes value) { merged->write(key, value); });
    merged->flush();
    runs_.resize(first);
    runs_.push_back(std::move(merged));
  }
}

void RecordSorter::finish() {
  slots_.release();
  if (runs_.empty()) {
    sort();
    return;
  }
  if (!entries_.empty()) spill();
  buffer_.release();
  entries_.release();
}

void RecordSorter::release() {
  buffer_.release();
  entries_.release();
  slots_.release();
  runs_.clear();
}

void RecordSorter::scan(const Visit& visit) const {
  if (runs_.empty()) {
    scan_buffer(visit);
  } else {
    scan_runs(0, visit);
  }
}

void RecordSorter::scan_buffer(const Visit& visit) const {
  Combiner out(combine_, visit);
  for (const Entry& entry : entries_) {
    const Record record = decode_record(buffer_.data() + entry.offset);
    out(record.key, record.value);
  }
  out.end();
}

// Merges the runs from `first` on. Of equal keys those of earlier runs come first: they were added first.
void RecordSorter::scan_runs(std::size_t first, const Visit& visit) const {
  const auto after = [this](std::size_t a, std::size_t b) {
    if (runs_[a]->after(*runs_[b])) return true;
    return a > b && runs_[a]->same_key(*runs_[b]);
  };
  std::vector<std::size_t> heap;
  for (std::size_t r = first; r < runs_.size(); ++r) {
    runs_[r]->rewind();
    if (!runs_[r]->at_end()) heap.push_back(r);
  }
  std::ranges::make_heap(heap, after);
  Combiner out(combine_, visit);
  while (!heap.empty()) {
    std::ranges::pop_heap(heap, after);
    SortedRun& run = *runs_[heap.back()];
    out(run.key(), run.value());
    run.next();
    if (run.at_end()) {
      heap.pop_back();
    } else {
      std::ranges::push_heap(heap, after);
    }
  }
  out.end();
}

}  // namespace hiero
