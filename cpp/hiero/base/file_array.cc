#include "hiero/base/file_array.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "hiero/base/descriptor_io.h"
#include "hiero/base/error.h"

namespace hiero {
namespace {

constexpr std::size_t kFirstCapacity = std::size_t{1} << 16;

// Returns the number of an error, or 0.
int allocate(int descriptor, std::size_t begin, std::size_t end) {
#ifdef __linux__
  return posix_fallocate(descriptor, static_cast<off_t>(begin), static_cast<off_t>(end - begin));
#else
  // A page of a file without space on the disk would end the process when it is written.
  const std::vector<char> zeros(kFirstCapacity, 0);
  while (begin < end) {
    const ssize_t written =
        pwrite(descriptor, zeros.data(), std::min(zeros.size(), end - begin), static_cast<off_t>(begin));
    if (written < 0) return errno;
    begin += static_cast<std::size_t>(written);
  }
  return 0;
#endif
}

}  // namespace

FileBytes::FileBytes(const std::string& folder) : folder_(folder), descriptor_(open_unnamed(folder)) {}

FileBytes::FileBytes(FileBytes&& other) noexcept
    : folder_(std::move(other.folder_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

FileBytes::~FileBytes() {
  if (data_) munmap(data_, capacity_);
  if (descriptor_ >= 0) close(descriptor_);
}

void FileBytes::fail(int error) const { throw FileError(error, folder_); }

void FileBytes::resize(std::size_t size) {
  if (size > capacity_) reserve(std::max({size, 2 * capacity_, kFirstCapacity}));
  if (size < size_) std::fill(data_ + size, data_ + size_, std::byte{0});
  size_ = size;
}

void FileBytes::reserve(std::size_t capacity) {
  if (const int error = allocate(descriptor_, capacity_, capacity)) fail(error);
  void* const mapped = mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (mapped == MAP_FAILED) fail(errno);
  if (data_) munmap(data_, capacity_);
  data_ = static_cast<std::byte*>(mapped);
  capacity_ = capacity;
}

}  // namespace hiero
