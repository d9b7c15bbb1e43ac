// A whole file, mapped read-only and shared between processes.
//
// The mapping stays readable after the file is removed or replaced by a rename. Never truncate a mapped file
// in place: reading the lost pages kills the process.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace hiero {

class MappedFile {
 public:
  // Throws FileError.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  // Frees the memory of pages that were read. They are read again at the next access.
  void release_pages() const;

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace hiero
