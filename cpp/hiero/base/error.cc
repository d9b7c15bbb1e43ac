#include "hiero/base/error.h"

#include <cstring>

namespace hiero {

FileError::FileError(int code, const std::string& path)
    : Error(path + ": " + std::strerror(code)), code_(code), path_(path) {}

}  // namespace hiero
