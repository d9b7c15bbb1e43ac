// Lines of Python's binary files, and progress functions, for work that runs without Python's lock.
#pragma once

#include <string>
#include <utility>

#include "bindings.h"
#include "hiero/base/error.h"
#include "hiero/base/line_reader.h"

namespace hiero {

// An open binary file and its name in messages.
using NamedFile = std::pair<BinaryFile, std::string>;

// Blocks of a Python binary file. Reading takes Python's lock, and handles signals.
class PythonBlocks {
 public:
  PythonBlocks(nb::object file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}

  std::string_view operator()() {
    const nb::gil_scoped_acquire acquire;
    check_signals();
    try {
      const nb::object block = file_.attr("read")(kBlock);
      if (!nb::isinstance<nb::bytes>(block))
        throw type_error(name_ + ": expected bytes, not " + repr_of(block.type()));
      block_ = nb::borrow<nb::bytes>(block);
    } catch (nb::python_error& error) {
      if (!is_damage(error)) throw;
      throw FormatError(
          name_ + ": damaged or truncated compressed file: " + nb::cast<std::string>(nb::str(error.value())));
    }
    return {block_.c_str(), block_.size()};
  }

 private:
  static constexpr int kBlock = 1 << 20;

  static bool is_damage(const nb::python_error& error) {
    return error.matches(PyExc_EOFError) || error.matches(nb::module_::import_("gzip").attr("BadGzipFile")) ||
           error.matches(nb::module_::import_("zlib").attr("error")) ||
           error.matches(nb::module_::import_("lzma").attr("LZMAError"));
  }

  nb::object file_;
  std::string name_;
  nb::bytes block_;
};

class PythonLines {
 public:
  // `name` is the name of the file in messages.
  PythonLines(nb::object file, const std::string& name)
      : blocks_(std::move(file), name), reader_([this] { return blocks_(); }, name) {}
  PythonLines(const PythonLines&) = delete;
  PythonLines& operator=(const PythonLines&) = delete;

  LineReader& reader() { return reader_; }

 private:
  PythonBlocks blocks_;
  LineReader reader_;
};

// Calls a progress function unless it is None, and handles signals.
template <class... Counts>
void call_progress(const nb::object& progress, Counts... counts) {
  const nb::gil_scoped_acquire acquire;
  check_signals();
  if (!progress.is_none()) progress(counts...);
}

}  // namespace hiero
