// Exchanges two files or directories in one step: at every moment both paths exist.
//
// How to use: write a new directory beside the old one, exchange_paths(new, old), remove what is at `new`
// now. It works on Linux and macOS, within one file system, where that file system supports it.
#pragma once

#include <string>

namespace hiero {

// Throws FileError naming `first`. Its code is ENOSYS, EINVAL or ENOTSUP where the system or the file system
// cannot exchange paths.
void exchange_paths(const std::string& first, const std::string& second);

}  // namespace hiero
