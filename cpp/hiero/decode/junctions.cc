#include "hiero/decode/junctions.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include "hiero/base/interrupt.h"

namespace hiero {
namespace {

constexpr std::size_t kMostPairs = std::size_t{1} << 24;  // of runs that may meet in a sentence

template <class T>
void append_bytes(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
void sort_unique(std::vector<T>& values) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
}

}  // namespace

Junctions::Junctions(const SentenceContext& context)
    : context_(context), lms_(context.model.lms().size()), words_(lms_), by_last_(lms_) {
  for (std::size_t k = 0; k < lms_; ++k) sound_ = sound_ && context.weights.lm[k] >= 0;
}

bool Junctions::is_empty(const ChartState* states) const {
  return std::all_of(states, states + lms_, [](const ChartState& state) {
    return state.left.length == 0 && !state.left.full && state.right.length == 0;
  });
}

StartId Junctions::start(const ChartState* states) {
  std::string key;
  for (std::size_t k = 0; k < lms_; ++k) {
    const auto& left = states[k].left;
    key += static_cast<char>(2 * left.length + left.full);
    if (left.length > 0) append_bytes(key, left.pointers[left.length - 1]);
  }
  const auto [it, added] = start_ids_.try_emplace(std::move(key), static_cast<StartId>(pairs_.size()));
  if (!added) return it->second;
  double alone = 0;
  for (std::size_t k = 0; k < lms_; ++k) {
    ChartState& state = starts_.emplace_back();
    state.left = states[k].left;
    state.right.length = 0;
    float sum = 0;
    for (unsigned i = 0; i < state.left.length; ++i)
      sum += context_.model.lms()[k]->unrest(state.left.pointers[i], i + 1);
    alone += context_.weights.lm[k] * sum;
  }
  alone_.push_back(alone);
  pairs_.emplace_back();
  ranked_.emplace_back();
  has_pairs_.push_back(0);
  return it->second;
}

EndId Junctions::end(const ChartState* states) {
  std::string key;
  for (std::size_t k = 0; k < lms_; ++k) {
    key += static_cast<char>(2 * states[k].right.length + states[k].left.full);
    for (unsigned i = 0; i < states[k].right.length; ++i) append_bytes(key, states[k].right.words[i]);
  }
  const auto [it, added] = end_ids_.try_emplace(std::move(key), static_cast<EndId>(potentials_.size()));
  if (!added) return it->second;
  double backoffs = 0;
  for (std::size_t k = 0; k < lms_; ++k) {
    const auto& right = states[k].right;
    ends_.push_back(states[k]);
    float sum = 0;
    for (unsigned i = 0; i < right.length; ++i) sum += right.backoff[i];
    backoffs += context_.weights.lm[k] * sum * kNaturalLog10;
  }
  backoffs_.push_back(backoffs);
  potentials_.push_back(0);
  allowed_.push_back(0);
  return it->second;
}

void Junctions::restart() {
  for (std::size_t k = 0; k < lms_; ++k) {
    words_[k].clear();
    by_last_[k].clear();
  }
  std::ranges::fill(allowed_, 0);
  std::ranges::fill(has_pairs_, 0);
  pair_count_ = 0;
}

void Junctions::prepare() {
  order_.clear();
  for (EndId end = 0; end < potentials_.size(); ++end) {
    if (!allowed_[end]) continue;
    order_.push_back(end);
    for (std::size_t k = 0; k < lms_; ++k) {
      const auto& right = ends_[end * lms_ + k].right;
      if (right.length > 0) by_last_[k][right.words[0]].push_back(end);
    }
  }
  find_ngrams();
  update();
}

void Junctions::find_ngrams() {
  const bool is_new = ngrams_.empty();
  for (std::size_t k = 0; k < lms_; ++k) {
    const LanguageModel& lm = *context_.model.lms()[k];
    words_[k].push_back(lm.index("<s>"));
    sort_unique(words_[k]);
    if (is_new) {
      ngrams_.emplace_back(lm, words_[k]);
      sound_ = sound_ && !ngrams_[k].any_positive_backoff();
    } else {
      ngrams_[k].restrict(words_[k]);
    }
  }
}

std::uint64_t Junctions::lm_queries() const {
  std::uint64_t sum = queries_;
  for (const SentenceNgrams& ngrams : ngrams_) sum += ngrams.lm_queries();
  return sum;
}

// Returns a bound on what changes when a start comes after an end.
float Junctions::score_pair(EndId end, StartId start) {
  constexpr std::array<Symbol, 2> kBoth{nonterminal(0), nonterminal(1)};
  double sum = 0;
  for (std::size_t k = 0; k < lms_; ++k) {
    const ChartState& first = ends_[end * lms_ + k];
    const ChartState* const tails[] = {&first, &starts_[start * lms_ + k]};
    ChartState joined;
    float change = context_.model.lms()[k]->score_rule(kBoth, tails, false, joined, queries_);
    for (unsigned i = first.left.length; !first.left.full && i < joined.left.length; ++i)
      change += ngrams_[k].excess(joined.left, i);
    sum += context_.weights.lm[k] * change;
  }
  return static_cast<float>(sum);
}

void Junctions::find_pairs(StartId start) {
  has_pairs_[start] = 1;
  pairs_[start].clear();
  ranked_[start].clear();
  if (!sound_) return;
  poll_interrupts();
  std::vector<EndId> ends;
  for (std::size_t k = 0; k < lms_; ++k) {
    const auto& left = starts_[start * lms_ + k].left;
    if (left.length == 0) continue;
    for (const LmWord word : ngrams_[k].before(static_cast<LmWord>(left.pointers[0]))) {
      if (const auto found = by_last_[k].find(word); found != by_last_[k].end())
        ends.insert(ends.end(), found->second.begin(), found->second.end());
    }
  }
  sort_unique(ends);
  pair_count_ += ends.size();
  if (pair_count_ > kMostPairs) {
    sound_ = false;
    return;
  }
  for (const EndId end : ends) pairs_[start].push_back({end, score_pair(end, start)});
  ranked_[start] = pairs_[start];
  std::ranges::stable_sort(ranked_[start], std::greater{}, &Pair::score);
}

void Junctions::update() {
  least_potential_ = std::numeric_limits<double>::infinity();
  for (const EndId end : order_) least_potential_ = std::min(least_potential_, potentials_[end]);
  std::ranges::sort(order_, [this](EndId a, EndId b) {
    const double x = backoffs_[a] - potentials_[a];
    const double y = backoffs_[b] - potentials_[b];
    return x != y ? x > y : a < b;
  });
}

Junctions::Best Junctions::best(StartId start) {
  if (!has_pairs_[start]) find_pairs(start);
  const std::vector<Pair>& pairs = pairs_[start];
  Best best{-std::numeric_limits<double>::infinity(), 0};
  for (const Pair& pair : ranked_[start]) {
    if (pair.score - least_potential_ <= best.score) break;
    const double score = pair.score - potentials_[pair.end];
    if (score > best.score) best = {score, pair.end};
  }
  for (const EndId end : order_) {
    const double score = alone_[start] + backoffs_[end] - potentials_[end];
    if (score <= best.score) break;
    if (std::ranges::binary_search(pairs, end, {}, &Pair::end)) continue;
    best = {score, end};
    break;
  }
  return best;
}

double Junctions::excess(StartId start, const ChartState* states) {
  double sum = 0;
  for (std::size_t k = 0; k < lms_; ++k) {
    const auto& left = states[k].left;
    for (unsigned i = starts_[start * lms_ + k].left.length; i < left.length; ++i)
      sum += context_.weights.lm[k] * ngrams_[k].excess(left, i);
  }
  return sum;
}

double Junctions::pair(EndId end, StartId start) {
  if (!has_pairs_[start]) find_pairs(start);
  const std::vector<Pair>& pairs = pairs_[start];
  const auto found = std::ranges::lower_bound(pairs, end, {}, &Pair::end);
  return found != pairs.end() && found->end == end ? found->score : alone_[start] + backoffs_[end];
}

}  // namespace hiero
