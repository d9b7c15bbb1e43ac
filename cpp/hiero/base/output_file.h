// A file that is written in full or not at all, even if the power fails.
//
// How to use:
//   1. OutputFile file("table");                // a temporary file in the same folder
//   2. file.write_at(offset, data, size);       // in any order
//   3. file.commit();                           // syncs the file, renames it to "table", syncs the folder
// Without commit() the destructor removes the temporary file and leaves an old "table" as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hiero {

// Returns the folder part of a path, or "." for a path without a slash.
std::string folder_of(const std::string& path);

class OutputFile {
 public:
  // Throws FileError, as all methods do. A device, pipe or folder at `path` is an error: a rename would
  // replace it.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write_at(std::uint64_t offset, const void* data, std::size_t size);
  // Reads bytes that were written before.
  void read_at(std::uint64_t offset, void* data, std::size_t size) const;
  void commit();

 private:
  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

}  // namespace hiero
