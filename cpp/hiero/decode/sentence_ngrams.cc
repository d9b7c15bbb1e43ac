#include "hiero/decode/sentence_ngrams.h"

#include <algorithm>

#include "hiero/base/interrupt.h"

namespace hiero {

SentenceNgrams::SentenceNgrams(const LanguageModel& lm, std::vector<LmWord> words)
    : lm_(lm), words_(std::move(words)), has_(lm.word_bound(), 0), ids_(lm.order()) {
  for (const LmWord word : words_) has_[word] = 1;
}

bool SentenceNgrams::any_positive_backoff() {
  for (const LmWord word : words_) {
    poll_interrupts();
    ChartState state;
    lm_.score_terminals({&word, 1}, false, state, queries_);
    if (state.right.length > 0 && state.right.backoff[0] > 0) return true;
    if (state.left.length > 0 && any_positive_backoff(find(state.left, 0))) return true;
  }
  return false;
}

bool SentenceNgrams::any_positive_backoff(Id id) {
  if (ngrams_[id].length + 1 >= lm_.order()) return false;  // longer n-grams are no contexts
  expand(id);
  for (std::size_t i = 0; i < ngrams_[id].longer.size() && !is_positive_; ++i) {
    const Id longer = ngrams_[id].longer[i].id;
    if (longer != kNone) any_positive_backoff(longer);
  }
  return is_positive_;
}

void SentenceNgrams::restrict(std::span<const LmWord> words) {
  std::ranges::fill(has_, 0);
  for (const LmWord word : words) has_[word] = 1;
  for (Ngram& ngram : ngrams_) ngram.has_excess = false;
}

std::vector<LmWord> SentenceNgrams::before(LmWord word) {
  const Id id = find(word, 1, kNone);
  expand(id);
  std::vector<LmWord> out;
  for (const Longer& longer : ngrams_[id].longer) {
    if (has_[longer.word]) out.push_back(longer.word);
  }
  return out;
}

float SentenceNgrams::excess(const ::lm::ngram::Left& left, unsigned i) { return excess(find(left, i)); }

float SentenceNgrams::excess(Id id) {
  if (ngrams_[id].has_excess) return ngrams_[id].excess;
  expand(id);
  float most = lm_.unrest(ngrams_[id].pointer, ngrams_[id].length);
  for (std::size_t i = 0; i < ngrams_[id].longer.size(); ++i) {
    const Longer longer = ngrams_[id].longer[i];
    if (!has_[longer.word]) continue;
    most = std::max(most, longer.change + (longer.id == kNone ? 0 : excess(longer.id)));
  }
  ngrams_[id].excess = most;
  ngrams_[id].has_excess = true;
  return most;
}

SentenceNgrams::Id SentenceNgrams::find(std::uint64_t pointer, unsigned length, Id shorter) {
  const auto [it, added] = ids_[length].try_emplace(pointer, static_cast<Id>(ngrams_.size()));
  if (added) ngrams_.push_back({pointer, length, shorter});
  return it->second;
}

SentenceNgrams::Id SentenceNgrams::find(const ::lm::ngram::Left& left, unsigned i) {
  if (const auto known = ids_[i + 1].find(left.pointers[i]); known != ids_[i + 1].end()) return known->second;
  return find(left.pointers[i], i + 1, i == 0 ? kNone : find(left, i - 1));
}

// Looks up all n-grams that have one more word in front.
void SentenceNgrams::expand(Id id) {
  if (ngrams_[id].is_expanded) return;
  ngrams_[id].is_expanded = true;
  const Id shorter = ngrams_[id].shorter;
  if (shorter == kNone) {
    for (const LmWord word : words_) try_word(id, word, kNone);
    return;
  }
  expand(shorter);
  for (std::size_t i = 0; i < ngrams_[shorter].longer.size(); ++i) {
    const Longer longer = ngrams_[shorter].longer[i];
    try_word(id, longer.word, longer.id);
  }
}

// `shorter` is the longer n-gram without its last word.
void SentenceNgrams::try_word(Id id, LmWord word, Id shorter) {
  const LeftExtension longer = lm_.extend_left(ngrams_[id].pointer, ngrams_[id].length, word, queries_);
  if (!longer.found) return;
  if (longer.backoff > 0) is_positive_ = true;
  Id longer_id = kNone;
  if (longer.extends) {
    const unsigned length = ngrams_[id].length;
    longer_id = find(longer.pointer, length + 1, length == 1 ? find(word, 1, kNone) : shorter);
  }
  ngrams_[id].longer.push_back({word, longer.change, longer_id});
}

}  // namespace hiero
