#include "hiero/base/descriptor_io.h"

#include <fcntl.h>
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

int open_temporary(const std::string& path, std::string& temporary) {
  // mkstemp would make the file private; tables are shared as far as the umask allows.
  const std::size_t name_begin = path.rfind('/') + 1;  // 0 if there is no slash
  const std::string prefix = path.substr(0, name_begin) + "." + path.substr(name_begin) + ".hiero-" +
                             std::to_string(::getpid()) + "-";
  for (unsigned attempt = 0;; ++attempt) {
    temporary = prefix + std::to_string(attempt);
    const int descriptor = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return descriptor;
    if (errno != EEXIST) throw FileError(errno, path);
  }
}

int open_unnamed(const std::string& folder) {
#ifdef O_TMPFILE
  const int unnamed = ::open(folder.c_str(), O_RDWR | O_TMPFILE | O_EXCL | O_CLOEXEC, 0600);
  if (unnamed >= 0) return unnamed;
  // The other codes say that the file system or an old kernel cannot do this.
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) throw FileError(errno, folder);
#endif
  std::string temporary;
  const int descriptor = open_temporary(folder + "/unnamed", temporary);
  ::unlink(temporary.c_str());
  return descriptor;
}

}  // namespace hiero
