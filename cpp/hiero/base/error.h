// Error types of the core and the Python exceptions that the bindings make of them:
//   Error                  hiero.Error
//   FormatError            hiero.FormatError, also a ValueError
//   ForestError            hiero.ForestError
//   FileError              the subclass of OSError for its errno
//   std::invalid_argument  ValueError, for a wrong argument
//   std::out_of_range      IndexError
#pragma once

#include <stdexcept>
#include <string>

namespace hiero {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Malformed input. The message names the file and line, or the sentence and token, and what was expected.
class FormatError : public Error {
 public:
  using Error::Error;
};

// A hypergraph that is no forest, such as one with a cycle.
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
