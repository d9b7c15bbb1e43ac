#include "hiero/base/descriptor_io.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

#include "hiero/base/error.h"

namespace hiero {

void write_at(int descriptor, std::uint64_t offset, std::span<const std::byte> bytes,
              const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw FileError(errno, path);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

void read_at(int descriptor, std::uint64_t offset, std::span<std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t bytes_read = ::pread(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (bytes_read < 0 && errno == EINTR) continue;
    if (bytes_read <= 0) throw FileError(bytes_read < 0 ? errno : EIO, path);
    bytes = bytes.subspan(static_cast<std::size_t>(bytes_read));
    offset += static_cast<std::uint64_t>(bytes_read);
  }
}

int open_unnamed(const std::string& folder) {
  std::string name = folder + "/.hiero-XXXXXX";
  const int descriptor = ::mkstemp(name.data());
  if (descriptor < 0) throw FileError(errno, folder);
  ::unlink(name.c_str());
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return descriptor;
}

}  // namespace hiero
