#include "hiero/base/record_sorter.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "hiero/base/error.h"
#include "hiero/base/varint.h"

namespace hiero {
namespace {

// An encoded record. In memory and on disk it is: length of the key, length of the value, key, value.
struct Record {
  Bytes key;
  Bytes value;
  const std::byte* end;
};

Record decode_record(const std::byte* at) {
  const std::size_t key_size = get_varint(at);
  const std::size_t value_size = get_varint(at);
  return {{at, key_size}, {at + key_size, value_size}, at + key_size + value_size};
}

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

void put_record(std::vector<std::byte>& out, Bytes key, Bytes value) {
  put_varint(out, key.size());
  put_varint(out, value.size());
  out.insert(out.end(), key.begin(), key.end());
  out.insert(out.end(), value.begin(), value.end());
}

}  // namespace

// A sorted run on disk. It is written once, and then read from front to back through one buffer.
class RecordSorter::Run {
 public:
  // `level` is the number of merges that its records went through.
  Run(const std::string& folder, std::uint32_t level) : folder_(folder), level_(level) {
    std::string name = folder + "/.hiero-sort-XXXXXX";
    descriptor_ = ::mkstemp(name.data());
    if (descriptor_ < 0) throw FileError(errno, folder);
    ::unlink(name.c_str());
  }
  ~Run() { ::close(descriptor_); }

  void write(Bytes key, Bytes value) {
    put_record(buffer_, key, value);
    if (buffer_.size() >= kBufferBytes) flush();
  }

  void flush() {
    const std::byte* next = buffer_.data();
    std::size_t unwritten = buffer_.size();
    while (unwritten > 0) {
      const ssize_t written = ::write(descriptor_, next, unwritten);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw FileError(errno, folder_);
      next += written;
      unwritten -= static_cast<std::size_t>(written);
    }
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
    if (unread() < bytes) throw FileError(EIO, folder_);
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(next_));
    next_ = 0;
    const std::size_t old_size = buffer_.size();
    const std::uint64_t read_size = std::max<std::uint64_t>(bytes, kBufferBytes) - old_size;
    buffer_.resize(old_size + std::min(read_size, size_ - offset_));
    for (std::size_t at = old_size; at < buffer_.size();) {
      const ssize_t bytes_read =
          ::pread(descriptor_, buffer_.data() + at, buffer_.size() - at, static_cast<off_t>(offset_));
      if (bytes_read < 0 && errno == EINTR) continue;
      if (bytes_read <= 0) throw FileError(bytes_read < 0 ? errno : EIO, folder_);
      at += static_cast<std::size_t>(bytes_read);
      offset_ += static_cast<std::uint64_t>(bytes_read);
    }
  }

  int descriptor_ = -1;
  std::string folder_;
  std::uint32_t level_;
  std::uint64_t size_ = 0;    // bytes in the file
  std::uint64_t offset_ = 0;  // bytes of the file that were read
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

RecordSorter::RecordSorter(std::uint64_t memory, std::string folder, Combine combine)
    : memory_(memory), folder_(std::move(folder)), combine_(combine) {}
RecordSorter::~RecordSorter() = default;

void RecordSorter::add(Bytes key, Bytes value) {
  record_.clear();
  put_record(record_, key, value);
  const std::uint64_t used_memory = buffer_.size() + entries_.size() * sizeof(Entry);
  if (used_memory + record_.size() + sizeof(Entry) > memory_ && !entries_.empty()) spill();
  entries_.push_back({key_prefix(key), buffer_.size()});
  std::memcpy(buffer_.extend(record_.size()), record_.data(), record_.size());
  if (in_order_ && entries_.size() > 1) in_order_ = !before(entries_.end()[-1], entries_.end()[-2]);
  ++count_;
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
  auto run = std::make_unique<Run>(folder_, 0);
  scan_buffer([&run](Bytes key, Bytes value) { run->write(key, value); });
  run->flush();
  runs_.push_back(std::move(run));
  buffer_.clear();
  entries_.clear();
  in_order_ = true;
}

// Merges the last kFanIn runs if they have the same level, and repeats this for the run that it makes: all
// files are open at once, so their number must stay small. Runs stay in the order of their records.
void RecordSorter::merge_tail() {
  constexpr std::size_t kFanIn = 128;
  while (runs_.size() >= kFanIn && runs_[runs_.size() - kFanIn]->level() == runs_.back()->level()) {
    const std::size_t first = runs_.size() - kFanIn;
    auto merged = std::make_unique<Run>(folder_, runs_.back()->level() + 1);
    scan_runs(first, [&merged](Bytes key, Bytes value) { merged->write(key, value); });
    merged->flush();
    runs_.resize(first);
    runs_.push_back(std::move(merged));
  }
}

void RecordSorter::finish() {
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
