// What commit() publishes is on disk before it gets its name, and the name is when commit() returns: counts
// calls of fsync and rename, which are this program's own, by inode and in order.
#ifdef __linux__

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "hiero/base/error.h"
#include "hiero/base/output_file.h"

namespace {

struct Call {
  char kind;  // s for sync, r for rename
  ino_t inode;
};
std::vector<Call> calls;
bool folders_fail = false;

ino_t inode_of(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

}  // namespace

extern "C" int fsync(int descriptor) {
  struct stat status{};
  ::fstat(descriptor, &status);
  calls.push_back({'s', status.st_ino});
  if (folders_fail && S_ISDIR(status.st_mode)) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

extern "C" int rename(const char* from, const char* to) noexcept {
  calls.push_back({'r', inode_of(from)});
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

namespace hiero {
namespace {

bool synced_around_the_rename(const std::string& path, const std::string& folder) {
  calls.clear();
  OutputFile file(path);
  file.write_at(0, "whole", 5);
  file.commit();
  const ino_t inode = inode_of(path);
  const bool good = calls.size() == 3 && calls[0].kind == 's' && calls[0].inode == inode &&
                    calls[1].kind == 'r' && calls[1].inode == inode && calls[2].kind == 's' &&
                    calls[2].inode == inode_of(folder);
  if (!good) {
    std::printf("output_file_test: %s:", path.c_str());
    for (const Call& call : calls) {
      std::printf(" %c %llu", call.kind, static_cast<unsigned long long>(call.inode));
    }
    std::printf("\n");
  }
  return good;
}

// The file has its name then, and nothing else is left.
bool a_folder_that_fails_is_an_error(const std::string& path) {
  folders_fail = true;
  bool thrown = false;
  try {
    OutputFile file(path);
    file.commit();
  } catch (const FileError& error) {
    thrown = error.code() == EIO && error.path() == path;
  }
  folders_fail = false;
  return thrown;
}

int run() {
  char name[] = "/tmp/hiero-output-XXXXXX";
  if (::mkdtemp(name) == nullptr) return 1;
  const std::string folder = name;
  std::filesystem::create_directory(folder + "/in");
  bool good = synced_around_the_rename(folder + "/in/new", folder + "/in") &&
              synced_around_the_rename(folder + "/in/new", folder + "/in") &&
              a_folder_that_fails_is_an_error(folder + "/in/new");
  std::filesystem::current_path(folder);
  good = good && synced_around_the_rename("here", ".") && synced_around_the_rename("in/new", "in");
  std::filesystem::current_path("/");
  good = good && synced_around_the_rename(folder + "/here", folder);
  const auto entries = std::filesystem::recursive_directory_iterator(folder);
  good = good && std::distance(begin(entries), end(entries)) == 3;
  std::filesystem::remove_all(folder);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace hiero

int main() { return hiero::run(); }

#else

int main() { return 0; }

#endif
