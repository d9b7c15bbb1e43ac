#include "hiero/base/exchange_paths.h"

#include <cerrno>

#include "hiero/base/error.h"

#if defined(__linux__)
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__APPLE__)
#include <stdio.h>
#endif

namespace hiero {
namespace {

// Returns 0, or -1 and sets errno.
int rename_exchange(const char* first, const char* second) {
#if defined(__linux__)
  // The system call by number, since older C libraries have no function for it. The flag is RENAME_EXCHANGE
  // of linux/fs.h.
  constexpr unsigned kRenameExchange = 1U << 1;
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, first, AT_FDCWD, second, kRenameExchange));
#elif defined(__APPLE__)
  return ::renamex_np(first, second, RENAME_SWAP);
#else
  static_cast<void>(first);
  static_cast<void>(second);
  errno = ENOSYS;
  return -1;
#endif
}

}  // namespace

void exchange_paths(const std::string& first, const std::string& second) {
  if (rename_exchange(first.c_str(), second.c_str()) != 0) throw FileError(errno, first);
}

}  // namespace hiero
