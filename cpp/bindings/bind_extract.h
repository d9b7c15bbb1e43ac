// Parts that the bindings of extraction and scoring share.
#pragma once

#include <optional>
#include <utility>

#include "bindings.h"
#include "hiero/extract/counts_file.h"
#include "hiero/extract/extraction.h"
#include "hiero/extract/significance.h"
#include "python_lines.h"

namespace hiero {

// Binary files of source and target sentences with their names, or none.
using BitextFiles = std::optional<std::pair<NamedFile, NamedFile>>;

// The three files that rules are extracted from.
struct AlignedLines {
  // Call it with the interpreter's lock.
  AlignedLines(const NamedFile& source_file, const NamedFile& target_file, const NamedFile& link_file)
      : source(source_file.first, source_file.second),
        target(target_file.first, target_file.second),
        links(link_file.first, link_file.second) {}

  PythonLines source, target, links;
};

// The function must outlive what is returned.
inline ExtractProgress report_to(const Counters& progress) {
  return [&progress](std::uint64_t pairs, std::uint64_t occurrences) {
    call_progress(progress, pairs, occurrences);
  };
}

// The bitext that rules come from, for the test of their significance, if there is one.
class TestedBitext {
 public:
  // Call it with the interpreter's lock.
  explicit TestedBitext(const BitextFiles& files) {
    if (!files) return;
    source_.emplace(files->first.first, files->first.second);
    target_.emplace(files->second.first, files->second.second);
  }

  // Reads the bitext. Returns nullptr if there is none. Throws as IndexedBitext does.
  IndexedBitext* read(const CountsFile& counts) {
    if (!source_) return nullptr;
    Vocab words(&counts.words());
    return &index_.emplace(source_->reader(), target_->reader(), words, counts.statistics().pairs);
  }

 private:
  std::optional<PythonLines> source_, target_;
  std::optional<IndexedBitext> index_;
};

}  // namespace hiero
