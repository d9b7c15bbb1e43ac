// A whole file mapped read-only and shared. It stays readable after the file is unlinked or replaced by
// rename; truncating a mapped file in place is the one thing nobody may do.
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
  // Lets go of the pages held in memory; they are read again when touched.
  void release_pages() const;

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace hiero
