#include "hiero/base/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "hiero/base/error.h"

namespace hiero {
namespace {

// Only then is a renamed file sure to have its name after a power failure. Some file systems do not sync
// folders, and some folders may be written but not read.
void sync_folder_of(const std::string& path) {
  const int descriptor = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    if (errno == EACCES) return;
    throw FileError(errno, path);
  }
  const int code = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  if (code != 0 && code != EINVAL && code != ENOTSUP) throw FileError(code, path);
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

OutputFile::OutputFile(const std::string& path) : path_(path) {
  // A device or pipe cannot be replaced by renaming, and must not be.
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw FileError(S_ISDIR(status.st_mode) ? EISDIR : EINVAL, path);
  }
  // Not mkstemp, which makes files private: tables are meant to be shared as far as the umask allows.
  const std::size_t name = path.rfind('/') + 1;  // 0 if there is no slash
  for (unsigned attempt = 0; descriptor_ < 0; ++attempt) {
    temporary_ = path.substr(0, name) + "." + path.substr(name) + ".hiero-" + std::to_string(::getpid()) +
                 "-" + std::to_string(attempt);
    descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) throw FileError(errno, path);
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void OutputFile::write_at(std::uint64_t offset, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::pwrite(descriptor_, at, size, static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      throw FileError(errno, path_);
    }
    at += written;
    offset += static_cast<std::uint64_t>(written);
    size -= static_cast<std::size_t>(written);
  }
}

void OutputFile::read_at(std::uint64_t offset, void* data, std::size_t size) const {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = ::pread(descriptor_, at, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw FileError(got < 0 ? errno : EIO, path_);
    at += got;
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::size_t>(got);
  }
}

void OutputFile::commit() {
  if (::fsync(descriptor_) != 0) throw FileError(errno, path_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw FileError(errno, path_);
  ::close(descriptor_);
  descriptor_ = -1;
  sync_folder_of(path_);
}

}  // namespace hiero
