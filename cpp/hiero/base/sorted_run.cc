#include "hiero/base/sorted_run.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>

#include "hiero/base/descriptor_io.h"
#include "hiero/base/error.h"

namespace hiero {

int compare_keys(Bytes a, Bytes b) {
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

RunFile::~RunFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::uint64_t RunFile::take(std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  if (descriptor_ < 0) descriptor_ = open_unnamed(folder_);
  return std::exchange(size_, size_ + size);
}

void RunFile::give_back(std::uint64_t at, std::uint64_t size) const {
#ifdef FALLOC_FL_PUNCH_HOLE
  // Where a file system has no holes, the part stays until the file goes.
  if (size > 0)
    std::ignore = ::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(at),
                              static_cast<off_t>(size));
#else
  std::ignore = std::tuple(at, size);
#endif
}

void RunFile::write(std::uint64_t at, Bytes bytes) const { write_at(descriptor_, at, bytes, folder_); }

void RunFile::read(std::uint64_t at, std::span<std::byte> bytes) const {
  read_at(descriptor_, at, bytes, folder_);
}

void RunFile::fail(int error) const { throw FileError(error, folder_); }

void SortedRun::write(Bytes key, Bytes value) {
  put_record(buffer_, key, value);
  if (buffer_.size() >= kBufferBytes) flush();
}

void SortedRun::flush() {
  file_.write(at_ + size_, buffer_);
  size_ += buffer_.size();
  buffer_ = {};
}

void SortedRun::rewind() {
  offset_ = 0;
  buffer_.clear();
  next_ = 0;
  next();
}

void SortedRun::next() {
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

// Reads on until the buffer holds at least `bytes` unread bytes.
void SortedRun::fill_buffer(std::uint64_t bytes) {
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

}  // namespace hiero
