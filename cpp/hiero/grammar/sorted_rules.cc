#include "hiero/grammar/sorted_rules.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "hiero/base/error.h"

namespace hiero {
namespace {

// A record in 32-bit words: total words, source symbols, lhs, features, body bytes, then those in turn.
// Within the buffer and every run, records of equal source and lhs stand in order of arrival.
constexpr std::size_t kHeaderWords = 5;

std::span<const Symbol> source_of(const std::uint32_t* record) { return {record + kHeaderWords, record[1]}; }

RuleRow row_of(const std::uint32_t* record) {
  static_assert(sizeof(SparseFeature) == 2 * sizeof(std::uint32_t));
  const std::uint32_t* features = record + kHeaderWords + record[1];
  const std::uint32_t* body = features + 2 * record[3];
  return {source_of(record),
          record[2],
          {reinterpret_cast<const SparseFeature*>(features), record[3]},
          {reinterpret_cast<const std::byte*>(body), record[4]}};
}

int compare(const std::uint32_t* a, const std::uint32_t* b) {
  const auto x = source_of(a);
  const auto y = source_of(b);
  const std::size_t shared = std::min(x.size(), y.size());
  for (std::size_t i = 0; i < shared; ++i) {
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  }
  if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
  if (a[2] != b[2]) return a[2] < b[2] ? -1 : 1;
  return 0;
}

}  // namespace

// A sorted run on disk, read back through one buffer.
struct SortedRules::Run {
  explicit Run(const std::string& folder) {
    std::string name = folder + "/.hiero-sort-XXXXXX";
    descriptor = ::mkstemp(name.data());
    if (descriptor < 0) throw FileError(errno, folder);
    ::unlink(name.c_str());
    path = folder;
  }
  ~Run() { ::close(descriptor); }

  void write(const std::uint32_t* data, std::size_t words) {
    buffer.insert(buffer.end(), data, data + words);
    if (buffer.size() >= kBufferWords) flush();
  }

  void flush() {
    const char* at = reinterpret_cast<const char*>(buffer.data());
    std::size_t left = buffer.size() * sizeof(std::uint32_t);
    while (left > 0) {
      const ssize_t done = ::write(descriptor, at, left);
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) throw FileError(errno, path);
      at += done;
      left -= static_cast<std::size_t>(done);
    }
    buffer.clear();
  }

  void rewind() {
    offset = 0;
    start = 0;
    buffer.clear();
    current = nullptr;
    next();
  }

  // Moves to the next record; nullptr at the end.
  void next() {
    if (current) start += current[0];
    current = nullptr;
    if (!have(1)) return;
    const std::size_t words = buffer[start];
    if (!have(words)) throw FileError(EIO, path);
    current = buffer.data() + start;
  }

  bool have(std::size_t words) {
    if (buffer.size() - start >= words) return true;
    buffer.erase(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(start));
    start = 0;
    const std::size_t old = buffer.size();
    buffer.resize(std::max(words, kBufferWords));
    char* to = reinterpret_cast<char*>(buffer.data() + old);
    std::size_t wanted = (buffer.size() - old) * sizeof(std::uint32_t);
    while (wanted > 0) {
      const ssize_t got = ::pread(descriptor, to, wanted, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw FileError(errno, path);
      if (got == 0) break;
      to += got;
      offset += static_cast<std::uint64_t>(got);
      wanted -= static_cast<std::size_t>(got);
    }
    buffer.resize(buffer.size() - wanted / sizeof(std::uint32_t));
    return buffer.size() >= words;
  }

  static constexpr std::size_t kBufferWords = std::size_t{1} << 16;
  int descriptor = -1;
  std::string path;
  std::vector<std::uint32_t> buffer;
  std::size_t start = 0;
  std::uint64_t offset = 0;
  const std::uint32_t* current = nullptr;
};

SortedRules::SortedRules(std::uint64_t memory, std::string folder)
    : memory_(memory), folder_(std::move(folder)) {}
SortedRules::~SortedRules() = default;

void SortedRules::add(const RuleRow& row) {
  const std::size_t body_words = (row.body.size() + 3) / 4;
  const std::size_t words = kHeaderWords + row.source.size() + 2 * row.features.size() + body_words;
  const std::uint64_t used =
      (buffer_.size() + words) * sizeof(std::uint32_t) + (keys_.size() + 1) * sizeof(Key);
  if (used > memory_ && !keys_.empty()) spill();
  // Growing in steps of an eighth keeps the peak near what is used.
  if (buffer_.capacity() < buffer_.size() + words)
    buffer_.reserve(buffer_.size() + std::max(buffer_.size() / 8, words + (1u << 16)));
  if (keys_.capacity() == keys_.size())
    keys_.reserve(keys_.size() + std::max<std::size_t>(keys_.size() / 8, 4096));

  const std::size_t at = buffer_.size();
  buffer_.resize(at + words);
  std::uint32_t* record = buffer_.data() + at;
  record[0] = static_cast<std::uint32_t>(words);
  record[1] = static_cast<std::uint32_t>(row.source.size());
  record[2] = row.lhs;
  record[3] = static_cast<std::uint32_t>(row.features.size());
  record[4] = static_cast<std::uint32_t>(row.body.size());
  std::uint32_t* to = std::copy(row.source.begin(), row.source.end(), record + kHeaderWords);
  if (!row.features.empty()) std::memcpy(to, row.features.data(), row.features.size_bytes());
  to += 2 * row.features.size();
  if (body_words > 0) {
    to[body_words - 1] = 0;
    std::memcpy(to, row.body.data(), row.body.size());
  }
  const std::uint64_t second = row.source.size() > 1 ? std::uint64_t{row.source[1]} + 1 : 0;
  keys_.push_back({(std::uint64_t{row.source[0]} << 32) | std::min<std::uint64_t>(second, 0xFFFFFFFFu), at});
  ++count_;
}

bool SortedRules::before(const Key& a, const Key& b) const {
  if (a.prefix != b.prefix) return a.prefix < b.prefix;
  const int order = compare(buffer_.data() + a.offset, buffer_.data() + b.offset);
  return order != 0 ? order < 0 : a.offset < b.offset;
}

void SortedRules::sort() {
  std::sort(keys_.begin(), keys_.end(), [this](const Key& a, const Key& b) { return before(a, b); });
}

void SortedRules::spill() {
  sort();
  auto run = std::make_unique<Run>(folder_);
  for (const Key& key : keys_) run->write(buffer_.data() + key.offset, buffer_[key.offset]);
  run->flush();
  runs_.push_back(std::move(run));
  buffer_.clear();
  keys_.clear();
}

void SortedRules::finish() {
  if (runs_.empty()) {
    sort();
    return;
  }
  if (!keys_.empty()) spill();
  buffer_ = {};
  keys_ = {};
}

void SortedRules::scan(const std::function<void(const RuleRow&)>& visit) const {
  if (runs_.empty()) {
    scan_memory(visit);
  } else {
    scan_runs(visit);
  }
}

void SortedRules::scan_memory(const std::function<void(const RuleRow&)>& visit) const {
  for (const Key& key : keys_) visit(row_of(buffer_.data() + key.offset));
}

// Merges the runs; equal records come from earlier runs first, which is their order of arrival.
void SortedRules::scan_runs(const std::function<void(const RuleRow&)>& visit) const {
  const auto after = [this](std::size_t a, std::size_t b) {
    const int order = compare(runs_[a]->current, runs_[b]->current);
    return order != 0 ? order > 0 : a > b;
  };
  std::vector<std::size_t> heap;
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    runs_[r]->rewind();
    if (runs_[r]->current) heap.push_back(r);
  }
  std::make_heap(heap.begin(), heap.end(), after);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), after);
    Run& run = *runs_[heap.back()];
    visit(row_of(run.current));
    run.next();
    if (run.current) {
      std::push_heap(heap.begin(), heap.end(), after);
    } else {
      heap.pop_back();
    }
  }
}

}  // namespace hiero
