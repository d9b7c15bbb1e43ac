// What scoring wants of every rule without decoding its record, and every word's number in every LM.
// Computed in one pass over a table, which for a large one takes seconds; a model directory keeps the
// result in a file that is mapped instead, and verified where it is read.
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

struct RuleStatics {
  std::span<const float> lm_estimate;             // rule-major, one per LM: its words, context unknown
  std::span<const std::uint16_t> oov;             // rule-major, one per LM: words that LM does not know
  std::span<const std::uint16_t> target_words;    // words on the target side
  std::span<const std::uint8_t> has_sparse;       // 1: the record holds sparse features
  std::span<const std::uint8_t> reordered;        // bit i: nonterminal i is reordered
  std::vector<std::span<const LmWord>> lm_words;  // by LM: table word -> LM word
  bool any_sparse = false;
  bool any_oov = false;
  std::shared_ptr<const void> storage;          // owns what the spans point to
  std::shared_ptr<const CheckedBlocks> blocks;  // of a file

  // To be called before what is kept of these rules is read. Throws FormatError for a damaged file.
  void touch(RuleId first, std::uint32_t count) const;
};

using LanguageModels = std::span<const std::shared_ptr<const LanguageModel>>;

// Throws FormatError for a damaged table or a target side of more than 65535 words.
RuleStatics compute_statics(const RuleTable& table, LanguageModels lms);

// Replaces `path` when the file is whole. Throws FileError, or FormatError for estimates of a damaged file.
void save_statics(const RuleStatics& statics, const RuleTable& table, LanguageModels lms,
                  const std::string& path);

// Nothing if the file was made for another table or other LMs, or by another version. Throws FileError, or
// FormatError for a damaged file.
std::optional<RuleStatics> load_statics(const std::string& path, const RuleTable& table, LanguageModels lms);

}  // namespace hiero
