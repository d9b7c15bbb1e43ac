// What the decoder reads of every rule of a table without decoding the rule's record: the LM estimate of its
// target side and a few counts and flags; and the number of every word of the table in every LM. Computing
// them takes one pass over the table, which is seconds for a large one, so a model directory keeps them in a
// file. The file is mapped, and its blocks are verified where they are first read.
//
// How to use: compute_rule_estimates() or load_rule_estimates(); then touch() a range of rules before reading
// their entries.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hiero/base/checked_blocks.h"
#include "hiero/grammar/rule_table.h"
#include "hiero/lm/language_model.h"

namespace hiero {

struct RuleEstimates {
  std::span<const float> lm_estimate;             // by rule, then LM: score of its words, context unknown
  std::span<const std::uint16_t> oov;             // by rule, then LM: words that the LM does not know
  std::span<const std::uint16_t> target_words;    // by rule: words on the target side
  std::span<const std::uint8_t> has_sparse;       // by rule: 1 if the record has sparse features
  std::span<const std::uint8_t> reordered;        // by rule: bit i if nonterminal i is reordered
  std::vector<std::span<const LmWord>> lm_words;  // by LM, then table word
  bool any_sparse = false;
  bool any_oov = false;
  std::shared_ptr<const void> storage;          // owns what the spans point to
  std::shared_ptr<const CheckedBlocks> blocks;  // of a mapped file, else null

  // Verifies the entries of rules [first, first + count). Throws FormatError for a damaged file.
  void touch(RuleId first, std::uint32_t count) const;
};

using LanguageModels = std::span<const std::shared_ptr<const LanguageModel>>;

// Throws FormatError for a damaged table or a target side of more than 65535 words.
RuleEstimates compute_rule_estimates(const RuleTable& table, LanguageModels lms);

// Writes the file `path` in full or not at all. Throws FileError, or FormatError for estimates that were
// loaded from a damaged file.
void save_rule_estimates(const RuleEstimates& estimates, const RuleTable& table, LanguageModels lms,
                         const std::string& path);

// Maps the file `path`. Returns nothing if it was made for another table or other LMs, or by another version.
// Throws FileError, or FormatError for a damaged file.
std::optional<RuleEstimates> load_rule_estimates(const std::string& path, const RuleTable& table,
                                                 LanguageModels lms);

}  // namespace hiero
