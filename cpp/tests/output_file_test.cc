// Tests that OutputFile::commit() syncs the file, renames it, and syncs its folder, in this order, and that
// files without names have one only where the file system has no other way. The program defines fsync,
// rename, unlink and open itself and records their calls.
#ifdef __linux__

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "hiero/base/descriptor_io.h"
#include "hiero/base/error.h"
#include "hiero/base/output_file.h"

namespace {

struct Call {
  char kind;  // s: fsync, r: rename
  ino_t inode;
};
std::vector<Call> calls;
bool fail_folder_sync = false;
std::vector<std::string> unlinked;
bool has_unnamed_files = true;

ino_t path_inode(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

}  // namespace

extern "C" int fsync(int descriptor) {
  struct stat status{};
  ::fstat(descriptor, &status);
  calls.push_back({'s', status.st_ino});
  if (fail_folder_sync && S_ISDIR(status.st_mode)) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

extern "C" int rename(const char* from, const char* to) noexcept {
  calls.push_back({'r', path_inode(from)});
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

extern "C" int unlink(const char* path) noexcept {
  unlinked.emplace_back(path);
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

// Its own name is `open`, which some C libraries define in their headers.
extern "C" int opened(const char* path, int flags, ...) __asm__("open");
extern "C" int opened(const char* path, int flags, ...) {
  if ((flags & O_TMPFILE) == O_TMPFILE && !has_unnamed_files) {
    errno = EOPNOTSUPP;
    return -1;
  }
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

namespace hiero {
namespace {

bool syncs_before_and_after_rename(const std::string& path, const std::string& folder) {
  calls.clear();
  OutputFile file(path);
  file.write_at(0, "text\n", 5);
  file.commit();
  const ino_t inode = path_inode(path);
  const bool in_order = calls.size() == 3 && calls[0].kind == 's' && calls[0].inode == inode &&
                        calls[1].kind == 'r' && calls[1].inode == inode && calls[2].kind == 's' &&
                        calls[2].inode == path_inode(folder);
  if (!in_order) {
    std::printf("output_file_test: %s:", path.c_str());
    for (const Call& call : calls) {
      std::printf(" %c %llu", call.kind, static_cast<unsigned long long>(call.inode));
    }
    std::printf("\n");
  }
  return in_order;
}

// The file has its final name at that time, and no temporary file is left; run() counts the files.
bool folder_sync_failure_is_an_error(const std::string& path) {
  fail_folder_sync = true;
  bool thrown = false;
  try {
    OutputFile file(path);
    file.commit();
  } catch (const FileError& error) {
    thrown = error.code() == EIO && error.path() == path;
  }
  fail_folder_sync = false;
  return thrown;
}

// A process that is killed leaves no file behind, or one of which later runs see that no process needs it.
bool unnamed_files_leave_nothing(const std::string& folder) {
  std::vector<std::string> expected;
  for (const bool supported : {true, false}) {
    unlinked.clear();
    has_unnamed_files = supported;
    const int descriptor = open_unnamed(folder);
    struct stat status{};
    if (::fstat(descriptor, &status) != 0 || status.st_nlink != 0) return false;
    if ((::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) == 0) return false;
    ::close(descriptor);
    if (unlinked != expected) return false;
    expected = {folder + "/.unnamed.hiero-" + std::to_string(::getpid()) + "-0"};
  }
  has_unnamed_files = true;
  try {
    open_unnamed(folder + "/none");
    return false;
  } catch (const FileError& error) {
    return error.code() == ENOENT && error.path() == folder + "/none";
  }
}

int run() {
  char name[] = "/tmp/hiero-output-XXXXXX";
  if (::mkdtemp(name) == nullptr) return 1;
  const std::string folder = name;
  std::filesystem::create_directory(folder + "/in");
  bool passed = syncs_before_and_after_rename(folder + "/in/new", folder + "/in") &&
                syncs_before_and_after_rename(folder + "/in/new", folder + "/in") &&
                folder_sync_failure_is_an_error(folder + "/in/new") && unnamed_files_leave_nothing(folder);
  std::filesystem::current_path(folder);
  passed =
      passed && syncs_before_and_after_rename("here", ".") && syncs_before_and_after_rename("in/new", "in");
  std::filesystem::current_path("/");
  passed = passed && syncs_before_and_after_rename(folder + "/here", folder);
  const auto entries = std::filesystem::recursive_directory_iterator(folder);
  passed = passed && std::distance(begin(entries), end(entries)) == 3;
  std::filesystem::remove_all(folder);
  return passed ? 0 : 1;
}

}  // namespace
}  // namespace hiero

int main() { return hiero::run(); }

#else

int main() { return 0; }

#endif
