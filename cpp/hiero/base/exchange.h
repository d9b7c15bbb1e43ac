// Exchanges what two paths name, files or directories, in one step: at no moment does either name nothing.
// Linux and macOS can do that where the file system can, within one file system.
#pragma once

#include <string>

namespace hiero {

// Throws FileError naming `one`; with code ENOSYS, EINVAL or ENOTSUP where it cannot be done here.
void exchange(const std::string& one, const std::string& other);

}  // namespace hiero
