// One input sentence in the terms of a model: which tables are consulted, the sentence's words in each
// table's numbering, and the rules that exist for this sentence alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hiero/decode/options.h"
#include "hiero/decode/translation_model.h"

namespace hiero {

class Sentence {
 public:
  // `rules`: extra rules for this sentence. Pass-through rules are added as `pass_through` says.
  // Throws FormatError for a rule whose label or feature the model lacks.
  Sentence(const TranslationModel& model, std::vector<std::string> tokens, const std::vector<Rule>& rules,
           PassThrough pass_through);

  std::uint32_t size() const { return static_cast<std::uint32_t>(tokens_.size()); }
  const std::vector<std::string>& tokens() const { return tokens_; }
  // Positions of words that no table translates.
  const std::vector<std::uint32_t>& unknown() const { return unknown_; }

  // The model's tables and, last, the sentence's own if it has rules.
  std::size_t table_count() const { return tables_.size(); }
  const BoundTable& table(std::size_t t) const { return *tables_[t]; }
  // The sentence in table t's word ids; kNoWord where the table lacks the word.
  const std::vector<WordId>& words(std::size_t t) const { return words_[t]; }

  // The text of a model word, or of a word this sentence brought.
  std::string_view word(WordId id) const;

 private:
  const TranslationModel& model_;
  std::vector<std::string> tokens_;
  std::vector<std::uint32_t> unknown_;
  std::unique_ptr<BoundTable> own_;
  std::vector<std::string_view> own_words_;
  std::vector<const BoundTable*> tables_;
  std::vector<std::vector<WordId>> words_;
};

}  // namespace hiero
