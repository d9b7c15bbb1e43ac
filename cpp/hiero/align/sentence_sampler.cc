#include "hiero/align/sentence_sampler.h"

#include <algorithm>
#include <numeric>

#include "hiero/align/bitext.h"

namespace hiero {
namespace {

// Dirichlet priors, as in the authors' program.
constexpr float kLexicalPrior = 0.001f;
constexpr float kJumpPrior = 0.5f;
constexpr float kFertilityPrior = 0.5f;
// The prior probability of no link.
constexpr float kEmptyPrior = 0.2f;
// A word can hardly have this many links or more.
constexpr float kMostFertile = 1e-10f;

}  // namespace

DirectionTables::DirectionTables(const DirectionView& model, AlignStage stage, std::size_t longest)
    : model_(model), stage_(stage), longest_(static_cast<std::ptrdiff_t>(longest) + 1) {
  if (stage != AlignStage::kLexical) update_jumps();
}

void DirectionTables::fit(std::size_t longest) {
  if (static_cast<std::ptrdiff_t>(longest) < longest_) return;
  longest_ = static_cast<std::ptrdiff_t>(longest) + 1;
  update_jumps();
}

void DirectionTables::update_jumps() {
  const auto probability = [&](std::ptrdiff_t distance) {
    constexpr std::ptrdiff_t kFarthest = JumpCounts::kFarthest;
    const auto near = static_cast<int>(std::clamp(distance, -kFarthest, kFarthest));
    return static_cast<float>(model_.jumps().count(near)) + kJumpPrior;
  };
  jumps_.clear();
  for (std::ptrdiff_t distance = -longest_; distance <= longest_; ++distance)
    jumps_.push_back(probability(distance));
  reversed_.assign(jumps_.rbegin(), jumps_.rend());
  constexpr float kDistances = 2 * JumpCounts::kFarthest + 1;
  jump_total_ = static_cast<float>(model_.jumps().total()) + kJumpPrior * kDistances;
}

void SentenceSampler::begin(std::span<const WordId> source, std::span<const WordId> target,
                            std::span<const LinkPosition> links, bool counted) {
  const DirectionView& model = tables_->model_;
  source_ = source;
  columns_ = source.size() + 1;
  lexical_.resize(target.size() * columns_);
  const float empty = tables_->stage_ == AlignStage::kLexical
                          ? kEmptyPrior / (1 - kEmptyPrior) * static_cast<float>(source.size())
                          : kEmptyPrior;
  const auto inverse = [](std::uint32_t total) { return 1 / static_cast<float>(std::max(total, 1u)); };
  // The source words and the empty word, with factors of their counts.
  words_.assign(source.begin(), source.end());
  words_.push_back(BitextSide::kEmptyWord);
  factors_.clear();
  for (const WordId word : words_) factors_.push_back(inverse(model.total(word)));
  factors_.back() *= empty;
  for (std::size_t j = 0; j < target.size(); ++j) {
    const LinkRow row = model.row(target[j]);
    float* const out = lexical_.data() + j * columns_;
    row.counts(words_, [out, factors = factors_.data()](std::size_t i, std::uint32_t count) {
      out[i] = (static_cast<float>(count) + kLexicalPrior) * factors[i];
    });
    if (!counted) continue;
    // What is said of the word that the target word was linked with leaves out this link.
    const WordId linked = links[j] == kNoLink ? BitextSide::kEmptyWord : source[links[j]];
    const float own =
        (static_cast<float>(row.count(linked) - 1) + kLexicalPrior) * inverse(model.total(linked) - 1);
    if (links[j] == kNoLink) {
      out[source.size()] = own * empty;
    } else {
      for (std::size_t i = 0; i < source.size(); ++i) {
        if (source[i] == linked) out[i] = own;
      }
    }
  }
  fertilities_.assign(source.size(), 0);
  for (const LinkPosition link : links) {
    if (link != kNoLink) ++fertilities_[link];
  }
  gains_.resize(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) update_gain(i);
}

void SentenceSampler::update_gain(std::size_t i) {
  if (tables_->stage_ != AlignStage::kFertilities) return;
  const std::size_t next = fertilities_[i] + 1u;
  if (next >= kMostLinks) {
    gains_[i] = kMostFertile;
    return;
  }
  const Fertilities& counts = tables_->model_.fertilities(source_[i]);
  gains_[i] = (static_cast<float>(counts[next]) + kFertilityPrior) /
              (static_cast<float>(counts[next - 1]) + kFertilityPrior);
}

void SentenceSampler::sweep(std::span<LinkPosition> links, Random& random, std::span<float> probabilities) {
  const std::size_t count = source_.size();
  next_.resize(links.size());
  auto next = static_cast<LinkPosition>(count);
  for (std::size_t j = links.size(); j-- > 0;) {
    next_[j] = next;
    if (links[j] != kNoLink) next = links[j];
  }
  sums_.resize(columns_);
  std::ptrdiff_t before = -1;
  for (std::size_t j = 0; j < links.size(); ++j) {
    if (links[j] != kNoLink) {
      --fertilities_[links[j]];
      update_gain(links[j]);
    }
    const float* const lexical = lexical_.data() + j * columns_;
    float sum = weigh(lexical, before, next_[j]);
    if (!probabilities.empty()) {
      const float scale = 1 / sum;
      float* const out = probabilities.data() + j * columns_;
      out[0] += sums_[0] * scale;
      for (std::size_t i = 1; i < columns_; ++i) out[i] += (sums_[i] - sums_[i - 1]) * scale;
    }
    const float drawn = random.uniform() * sum;
    std::size_t chosen = 0;
    while (chosen < count && sums_[chosen] <= drawn) ++chosen;
    links[j] = chosen == count ? kNoLink : static_cast<LinkPosition>(chosen);
    if (chosen == count) continue;
    ++fertilities_[chosen];
    update_gain(chosen);
    before = static_cast<std::ptrdiff_t>(chosen);
  }
}

// Puts the sums of the weights of all positions up to each into sums_, and at last that with no link. A
// position has two jumps and no link has one: the probabilities are times the square of all jumps.
float SentenceSampler::weigh(const float* lexical, std::ptrdiff_t before, std::ptrdiff_t next) {
  const std::size_t count = source_.size();
  float* const sums = sums_.data();
  if (tables_->stage_ == AlignStage::kLexical) {
    std::partial_sum(lexical, lexical + columns_, sums);
    return sums[count];
  }
  const float* const jumps_in = tables_->jumps_.data() + (tables_->longest_ - before);
  const float* const jumps_out = tables_->reversed_.data() + (tables_->longest_ - next);
  if (tables_->stage_ == AlignStage::kJumps) {
    for (std::size_t i = 0; i < count; ++i) sums[i] = lexical[i] * jumps_in[i] * jumps_out[i];
  } else {
    const float* const gains = gains_.data();
    for (std::size_t i = 0; i < count; ++i) sums[i] = lexical[i] * jumps_in[i] * jumps_out[i] * gains[i];
  }
  sums[count] = lexical[count] * tables_->jump_total_ * jumps_in[next];
  std::partial_sum(sums, sums + columns_, sums);
  return sums[count];
}

}  // namespace hiero
