// Error types of the core. Each maps to one Python exception:
//   Error -> hiero.Error, FormatError -> hiero.FormatError (also a ValueError),
//   ForestError -> hiero.ForestError, FileError -> the OSError subclass of its errno.
// Arguments that are wrong in themselves raise std::invalid_argument (ValueError) or std::out_of_range
// (IndexError).
#pragma once

#include <stdexcept>
#include <string>

namespace hiero {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Malformed input: the text names file and line, or sentence and token, and what was expected.
class FormatError : public Error {
 public:
  using Error::Error;
};

class ForestError : public FormatError {
 public:
  using FormatError::FormatError;
};

// A file that cannot be opened, read, written or renamed.
class FileError : public Error {
 public:
  FileError(int code, const std::string& path);
  int code() const { return code_; }
  const std::string& path() const { return path_; }

 private:
  int code_;
  std::string path_;
};

}  // namespace hiero
