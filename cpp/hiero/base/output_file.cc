#include "hiero/base/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "hiero/base/descriptor_io.h"
#include "hiero/base/error.h"

namespace hiero {
namespace {

// Syncs the folder of a file, without which a rename may be lost when the power fails. Some file systems
// cannot sync folders, and a folder that may be written but not read cannot be opened; neither is an error.
void sync_parent_folder(const std::string& path) {
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
  // A rename would replace a device or pipe by a plain file.
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw FileError(S_ISDIR(status.st_mode) ? EISDIR : EINVAL, path);
  }
  descriptor_ = open_temporary(path, temporary_);
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void OutputFile::write_at(std::uint64_t offset, const void* data, std::size_t size) {
  hiero::write_at(descriptor_, offset, {static_cast<const std::byte*>(data), size}, path_);
}

void OutputFile::read_at(std::uint64_t offset, void* data, std::size_t size) const {
  hiero::read_at(descriptor_, offset, {static_cast<std::byte*>(data), size}, path_);
}

void OutputFile::commit() {
  if (::fsync(descriptor_) != 0) throw FileError(errno, path_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw FileError(errno, path_);
  ::close(descriptor_);
  descriptor_ = -1;
  sync_parent_folder(path_);
}

}  // namespace hiero
