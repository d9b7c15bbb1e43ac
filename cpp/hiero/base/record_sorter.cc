#include "hiero/base/record_sorter.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <tuple>
#include <utility>

#include "hiero/base/checksum.h"
#include "hiero/base/error.h"

namespace hiero {
namespace {

int compare(Bytes a, Bytes b) {
  const std::size_t common_size = std::min(a.size(), b.size());
  const int order = common_size == 0 ? 0 : std::memcmp(a.data(), b.data(), common_size);
  return order != 0 ? order : (a.size() > b.size()) - (a.size() < b.size());
}

std::uint64_t key_prefix(Bytes key) {
  std::uint64_t prefix = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    prefix = prefix << 8 | (i < key.size() ? static_cast<std::uint64_t>(key[i]) : 0);
  }
  return prefix;
}

}  // namespace

// Runs take parts of the file, as large as they may become, and give them back where the system can.
class RecordSorter::RunFile {
 public:
  explicit RunFile(std::string folder) : folder_(std::move(folder)) {}
  ~RunFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;

  // Returns the place of a part of so many bytes.
  std::uint64_t take(std::uint64_t size) {
    const std::lock_guard lock(mutex_);
    if (descriptor_ < 0) open();
    return std::exchange(size_, size_ + size);
  }

  [[noreturn]] void fail(int error) const { throw FileError(error, folder_); }

  void give_back(std::uint64_t at, std::uint64_t size) const {
#ifdef FALLOC_FL_PUNCH_HOLE
    // Where a file system has no holes, the part stays until the file goes.
    if (size > 0)
      std::ignore = ::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                static_cast<off_t>(at), static_cast<off_t>(size));
#else
    static_cast<void>(at), static_cast<void>(size);
#endif
  }

  void write(std::uint64_t at, Bytes bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(errno);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      at += static_cast<std::uint64_t>(written);
    }
  }

  void read(std::uint64_t at, std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t bytes_read = ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at));
      if (bytes_read < 0 && errno == EINTR) continue;
      if (bytes_read <= 0) fail(bytes_read < 0 ? errno : EIO);
      bytes = bytes.subspan(static_cast<std::size_t>(bytes_read));
      at += static_cast<std::uint64_t>(bytes_read);
    }
  }

 private:
  void open() {
    std::string name = folder_ + "/.hiero-sort-XXXXXX";
    descriptor_ = ::mkstemp(name.data());
    if (descriptor_ < 0) fail(errno);
    ::unlink(name.c_str());
  }

  std::string folder_;
  std::mutex mutex_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

// A sorted run on disk. It is written once, and then read from front to back through one buffer.
class RecordSorter::Run {
 public:
  // `size` is that of its part of the file, and `level` the number of merges that its records went through.
  Run(const RunFile& file, std::uint64_t at, std::uint64_t size, std::uint32_t level)
      : file_(file), at_(at), part_size_(size), level_(level) {}
  ~Run() { file_.give_back(at_, part_size_); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void write(Bytes key, Bytes value) {
    put_record(buffer_, key, value);
    if (buffer_.size() >= kBufferBytes) flush();
  }

  void flush() {
    file_.write(at_ + size_, buffer_);
    size_ += buffer_.size();
    buffer_ = {};
  }

  void rewind() {
    offset_ = 0;
    buffer_.clear();
    next_ = 0;
    next();
  }

  // Moves to the next record, or to the end.
  void next() {
    at_end_ = next_ == buffer_.size() && offset_ == size_;
    if (at_end_) return;
    // The two lengths take at most 20 bytes. They tell the size of the whole record.
    fill_buffer(std::min<std::uint64_t>(20, unread()));
    const std::byte* at = buffer_.data() + next_;
    const std::byte* const begin = at;
    const std::uint64_t body_size = get_varint(at) + get_varint(at);
    fill_buffer(static_cast<std::uint64_t>(at - begin) + body_size);
    const Record record = decode_record(buffer_.data() + next_);
    key_ = record.key;
    value_ = record.value;
    prefix_ = key_prefix(key_);
    next_ = static_cast<std::size_t>(record.end - buffer_.data());
  }

  std::uint32_t level() const { return level_; }
  std::uint64_t size() const { return size_; }
  bool at_end() const { return at_end_; }
  Bytes key() const { return key_; }
  Bytes value() const { return value_; }

  bool after(const Run& other) const {
    return prefix_ != other.prefix_ ? prefix_ > other.prefix_ : compare(key_, other.key_) > 0;
  }
  bool same_key(const Run& other) const { return prefix_ == other.prefix_ && compare(key_, other.key_) == 0; }

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 18;

  std::uint64_t unread() const { return buffer_.size() - next_ + size_ - offset_; }

  // Reads on until the buffer holds at least `bytes` unread bytes.
  void fill_buffer(std::uint64_t bytes) {
    if (buffer_.size() - next_ >= bytes) return;
    if (unread() < bytes) file_.fail(EIO);
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(next_));
    next_ = 0;
    const std::size_t old_size = buffer_.size();
    const std::uint64_t read_size = std::max<std::uint64_t>(bytes, kBufferBytes) - old_size;
    buffer_.resize(old_size + std::min(read_size, size_ - offset_));
    file_.read(at_ + offset_, std::span(buffer_).subspan(old_size));
    offset_ += buffer_.size() - old_size;
  }

  const RunFile& file_;
  std::uint64_t at_;
  std::uint64_t part_size_;
  std::uint32_t level_;
  std::uint64_t size_ = 0;    // bytes that were written
  std::uint64_t offset_ = 0;  // bytes of these that were read
  std::vector<std::byte> buffer_;
  std::size_t next_ = 0;  // start of the record after the current one, in the buffer
  std::uint64_t prefix_ = 0;
  Bytes key_;
  Bytes value_;
  bool at_end_ = true;
};

// Passes records on to a visitor. With a `combine` function, records with equal keys become one.
class RecordSorter::Combiner {
 public:
  Combiner(Combine combine, const Visit& visit) : combine_(combine), visit_(visit) {}

  void operator()(Bytes key, Bytes value) {
    if (!combine_) {
      visit_(key, value);
      return;
    }
    if (pending_ && compare(key_, key) == 0) {
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

std::shared_ptr<RecordSorter::RunFile> RecordSorter::make_file(std::string folder) {
  return std::make_shared<RunFile>(std::move(folder));
}

RecordSorter::RecordSorter(std::uint64_t memory, std::shared_ptr<RunFile> file, Combine combine)
    : memory_(memory), file_(std::move(file)), combine_(combine) {}
RecordSorter::RecordSorter(std::uint64_t memory, const std::string& folder, Combine combine)
    : RecordSorter(memory, make_file(folder), combine) {}
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
    if (compare(equal.key, record.key) != 0) continue;
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
  slots_.assign(std::max(kFirstSlots, 2 * slots_.size()), {});
  for (const Entry& entry : entries_) {
    const Bytes key = decode_record(buffer_.data() + entry.offset).key;
    put(entry, checksum(key.data(), key.size()));
  }
}

bool RecordSorter::before(const Entry& a, const Entry& b) const {
  if (a.prefix != b.prefix) return a.prefix < b.prefix;
  const int order =
      compare(decode_record(buffer_.data() + a.offset).key, decode_record(buffer_.data() + b.offset).key);
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
  auto run = std::make_unique<Run>(*file_, file_->take(buffer_.size()), buffer_.size(), 0);
  scan_buffer([&run](Bytes key, Bytes value) { run->write(key, value); });
  run->flush();
  runs_.push_back(std::move(run));
  buffer_.clear();
  entries_.clear();
  slots_.assign(slots_.size(), {});
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
    auto merged = std::make_unique<Run>(*file_, file_->take(size), size, runs_.back()->level() + 1);
    scan_runs(first, [&merged](Bytes key, Bytes value) { merged->write(key, value); });
    merged->flush();
    runs_.resize(first);
    runs_.push_back(std::move(merged));
  }
}

void RecordSorter::finish() {
  slots_ = {};
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
  slots_ = {};
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
    Run& run = *runs_[heap.back()];
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
