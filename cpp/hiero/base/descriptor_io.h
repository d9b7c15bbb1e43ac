// Reading and writing at a place of an open file, in full, and files without names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace hiero {

// Errors name `path`. Throws FileError, as all of these do.
void write_at(int descriptor, std::uint64_t offset, std::span<const std::byte> bytes,
              const std::string& path);
// A file that ends too early is an error.
void read_at(int descriptor, std::uint64_t offset, std::span<std::byte> bytes, const std::string& path);

// Opens a new file beside `path`, with a hidden name that is set in `temporary`. It contains the number of
// this process, by which later runs find what a killed one left. Other programs that this one starts do not
// get the descriptor.
int open_temporary(const std::string& path, std::string& temporary);

// Opens a new file in `folder` that has no name and vanishes when it is closed. Other programs that this one
// starts do not get it. Where the file system has no such files, it has a temporary name for a moment.
int open_unnamed(const std::string& folder);

}  // namespace hiero
