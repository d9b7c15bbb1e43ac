// A file that appears under its name only when it is whole: written under a temporary name in the same
// folder, synced, and renamed by commit(), which syncs the folder too: a power failure leaves the old file or
// the new one. Without commit() nothing is left behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hiero {

// The folder that a file is in, as far as its path says: "." for a bare name.
std::string folder_of(const std::string& path);

class OutputFile {
 public:
  // Throws FileError, as all methods do.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write_at(std::uint64_t offset, const void* data, std::size_t size);
  // Reads back what was written.
  void read_at(std::uint64_t offset, void* data, std::size_t size) const;
  void commit();

 private:
  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

}  // namespace hiero
