// From aligned sentence pairs to counted rules: extracts, sorts and adds up in bounded memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hiero/base/line_reader.h"
#include "hiero/extract/counts_file.h"
#include "hiero/extract/options.h"

namespace hiero {

// Called now and then with the number of sentence pairs read and of rule occurrences; may throw to stop.
using ExtractProgress = std::function<void(std::uint64_t pairs, std::uint64_t occurrences)>;

// Reads pairs of lines and their links, leaves out pairs with a blank side, and writes the file of counts
// `output` (see counts_file.h), which does not depend on `memory` (bytes; the vocabulary and the word
// translation counts come on top). Throws FormatError naming the line, FileError, std::invalid_argument;
// Error for a rule or target side in 2^28 initial phrases or more.
ExtractStatistics extract_rules(LineReader& source, LineReader& target, LineReader& links,
                                const std::string& output, const ExtractOptions& options,
                                std::uint64_t memory, const ExtractProgress& progress);

}  // namespace hiero
