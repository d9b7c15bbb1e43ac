// A growing array in a file without a name, for data that need not fit into memory: the system writes pages
// out and reads them again as it sees fit. The file is gone when the array or the process is.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>

namespace hiero {

class FileBytes {
 public:
  // Makes an empty file in a folder. Throws FileError.
  explicit FileBytes(const std::string& folder);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  FileBytes(FileBytes&& other) noexcept;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  // Makes the array as long as this; new bytes are 0. Moves the data. Throws FileError where the disk is
  // full.
  void resize(std::size_t size);

 private:
  void reserve(std::size_t capacity);
  [[noreturn]] void fail(int error) const;

  std::string folder_;
  int descriptor_ = -1;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

template <class T>
class FileArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit FileArray(const std::string& folder) : bytes_(folder) {}

  std::size_t size() const { return bytes_.size() / sizeof(T); }
  std::span<T> items() { return {reinterpret_cast<T*>(bytes_.data()), size()}; }
  std::span<const T> items() const { return {reinterpret_cast<const T*>(bytes_.data()), size()}; }
  void resize(std::size_t size) { bytes_.resize(size * sizeof(T)); }
  void push_back(const T& item) {
    resize(size() + 1);
    items().back() = item;
  }

 private:
  FileBytes bytes_;
};

}  // namespace hiero
