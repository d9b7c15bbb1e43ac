// Lines of Python binary files, and progress functions, for work that runs without the GIL.
#pragma once

#include <string>
#include <utility>

#include "bindings.h"
#include "hiero/base/error.h"
#include "hiero/base/line_reader.h"

namespace hiero {

// Blocks of a Python binary file. Reading takes the GIL for the moment, which also lets signals through.
class PythonBlocks {
 public:
  PythonBlocks(py::object file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}

  std::string_view operator()() {
    const py::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    try {
      block_ = file_.attr("read")(kBlock);
    } catch (py::error_already_set& error) {
      if (!is_damage(error)) throw;
      throw FormatError(
          name_ + ": damaged or truncated compressed file: " + py::str(error.value()).cast<std::string>());
    }
    return block_;
  }

 private:
  static constexpr int kBlock = 1 << 20;

  static bool is_damage(const py::error_already_set& error) {
    return error.matches(PyExc_EOFError) || error.matches(py::module_::import("gzip").attr("BadGzipFile")) ||
           error.matches(py::module_::import("zlib").attr("error")) ||
           error.matches(py::module_::import("lzma").attr("LZMAError"));
  }

  py::object file_;
  std::string name_;
  py::bytes block_;
};

class PythonLines {
 public:
  // `name` is what messages call the file.
  PythonLines(py::object file, const std::string& name)
      : blocks_(std::move(file), name), reader_([this] { return blocks_(); }, name) {}
  PythonLines(const PythonLines&) = delete;
  PythonLines& operator=(const PythonLines&) = delete;

  LineReader& reader() { return reader_; }

 private:
  PythonBlocks blocks_;
  LineReader reader_;
};

// Calls a progress function, None for none, and lets signals through.
template <class... Counts>
void call_progress(const py::object& progress, Counts... counts) {
  const py::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  if (!progress.is_none()) progress(counts...);
}

}  // namespace hiero
