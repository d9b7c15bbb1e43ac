#include "hiero/base/exchange.h"

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

int exchange_names(const char* one, const char* other) {
#if defined(__linux__)
  // By its number: older C libraries have no function for it. The flag is that of linux/fs.h.
  constexpr unsigned kExchange = 1U << 1;
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, kExchange));
#elif defined(__APPLE__)
  return ::renamex_np(one, other, RENAME_SWAP);
#else
  static_cast<void>(one);
  static_cast<void>(other);
  errno = ENOSYS;
  return -1;
#endif
}

}  // namespace

void exchange(const std::string& one, const std::string& other) {
  if (exchange_names(one.c_str(), other.c_str()) != 0) throw FileError(errno, one);
}

}  // namespace hiero
