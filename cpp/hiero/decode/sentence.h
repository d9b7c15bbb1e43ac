// One input sentence in the terms of a model: which tables are consulted, the sentence's words in each
// table's numbering, and the rules that exist for this sentence alone.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hiero/decode/options.h"
#include "hiero/decode/translation_model.h"

namespace hiero {

class Sentence {
 public:
  // `rules`: extra rules for this sentence, which may have features that only `own_features` names. Rules
  // that pass words through are added as `options` say. Throws FormatError for rules that do not fit the
  // model.
  Sentence(const TranslationModel& model, std::vector<std::string> tokens, const std::vector<Rule>& rules,
           const std::vector<std::string>& own_features, const DecoderOptions& options);

  std::uint32_t size() const { return static_cast<std::uint32_t>(tokens_.size()); }
  const std::vector<std::string>& tokens() const { return tokens_; }
  // Positions of words that no rule of this word alone translates.
  const std::vector<std::uint32_t>& unknown() const { return unknown_; }

  bool has_own_rules() const { return own_ != nullptr; }
  // The model's tables and, last, the sentence's own if it has rules.
  std::size_t table_count() const { return tables_.size(); }
  const BoundTable& table(std::size_t t) const { return *tables_[t]; }
  // The sentence in table t's word ids; kNoWord where the table lacks the word.
  const std::vector<WordId>& words(std::size_t t) const { return words_[t]; }

  // Ranks of the model's labels by all unary rules, those of the sentence among them (label_order.h).
  std::span<const std::uint32_t> ranks() const { return own_ranks_.empty() ? model_.ranks() : own_ranks_; }

  // The text of a model word, or of a word this sentence brought.
  std::string_view word(WordId id) const;

 private:
  const TranslationModel& model_;
  std::vector<std::string> tokens_;
  std::vector<std::uint32_t> unknown_;
  std::unique_ptr<BoundTable> own_;
  std::vector<std::uint32_t> own_ranks_;  // empty: the model's
  std::vector<std::string_view> own_words_;
  std::vector<const BoundTable*> tables_;
  std::vector<std::vector<WordId>> words_;
};

}  // namespace hiero
