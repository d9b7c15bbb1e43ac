// Extracts rules from aligned sentence pairs and counts them, on several threads and in bounded memory:
// occurrences are grouped by target side to be summed, and the sums sorted by source side to be written, on
// disk where they do not fit into memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hiero/base/line_reader.h"
#include "hiero/extract/counts_file.h"
#include "hiero/extract/options.h"

namespace hiero {

// Receives the numbers of sentence pairs and rule occurrences so far. It is called regularly and may throw to
// stop the work.
using ExtractProgress = std::function<void(std::uint64_t pairs, std::uint64_t occurrences)>;

// Writes the counts (counts_file.h) of the rules of all pairs without a blank side. `memory` is in bytes; the
// vocabulary and the word translation counts take additional memory. The counts depend neither on it nor on
// the number of threads.
// Throws FormatError naming the line, FileError, std::invalid_argument for wrong options, and Error if a rule
// or target side occurs in 2^28 initial phrases or more.
ExtractStatistics extract_rules(LineReader& source, LineReader& target, LineReader& links,
                                const std::string& output, const ExtractOptions& options,
                                std::uint64_t memory, std::size_t threads, const ExtractProgress& progress);

}  // namespace hiero
