// Sorted runs of records (record.h) on disk, for record_sorter.h.
//
// How to use:
//   1. RunFile file(folder);                      // for any number of runs
//   2. SortedRun run(file, most_bytes, level);
//   3. run.write(key, value); ...; run.flush();   // in order
//   4. for (run.rewind(); !run.at_end(); run.next()) ... run.key(), run.value() ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "hiero/base/record.h"

namespace hiero {

// Compares as memcmp does; a key comes before longer keys that it begins.
int compare_keys(Bytes a, Bytes b);
// Returns the first eight bytes of a key as a number that orders keys as they do.
std::uint64_t key_prefix(Bytes key);

// A file without a name, made when it is needed first. Runs take parts of it, as large as they may become,
// and give them back where the system can. Several threads may use it at once. Its methods throw FileError.
class RunFile {
 public:
  explicit RunFile(std::string folder) : folder_(std::move(folder)) {}
  ~RunFile();
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;

  // Returns the place of a part of so many bytes.
  std::uint64_t take(std::uint64_t size);
  void give_back(std::uint64_t at, std::uint64_t size) const;
  void write(std::uint64_t at, Bytes bytes) const;
  void read(std::uint64_t at, std::span<std::byte> bytes) const;
  [[noreturn]] void fail(int error) const;

 private:
  std::string folder_;
  std::mutex mutex_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

// A run is written once, and then read from front to back through one buffer.
class SortedRun {
 public:
  // `most_bytes` is the most that its encoded records can take, and `level` the number of merges that they
  // went through. The file must outlive it.
  SortedRun(RunFile& file, std::uint64_t most_bytes, std::uint32_t level)
      : file_(file), at_(file.take(most_bytes)), part_size_(most_bytes), level_(level) {}
  ~SortedRun() { file_.give_back(at_, part_size_); }
  SortedRun(const SortedRun&) = delete;
  SortedRun& operator=(const SortedRun&) = delete;

  void write(Bytes key, Bytes value);
  void flush();

  void rewind();
  // Moves to the next record, or to the end.
  void next();
  bool at_end() const { return at_end_; }
  Bytes key() const { return key_; }
  Bytes value() const { return value_; }

  std::uint32_t level() const { return level_; }
  std::uint64_t size() const { return size_; }
  // Compares the keys where both are.
  bool after(const SortedRun& other) const {
    return prefix_ != other.prefix_ ? prefix_ > other.prefix_ : compare_keys(key_, other.key_) > 0;
  }
  bool same_key(const SortedRun& other) const {
    return prefix_ == other.prefix_ && compare_keys(key_, other.key_) == 0;
  }

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 18;

  std::uint64_t unread() const { return buffer_.size() - next_ + size_ - offset_; }
  void fill_buffer(std::uint64_t bytes);

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

}  // namespace hiero
