// Bounds on words whose context is not known, against the scores after all contexts of a sentence's words.
#include "hiero/decode/sentence_ngrams.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "expect.h"
#include "small_lm.h"

namespace hiero {
namespace {

constexpr double kTolerance = 1e-5;

double score_words(const LanguageModel& lm, std::vector<LmWord> words, ChartState& state) {
  std::uint64_t queries = 0;
  const bool after_bos = !words.empty() && words[0] == lm.index("<s>");
  return lm.score_terminals(std::span(words).subspan(after_bos), after_bos, state, queries);
}

// Returns what the last word adds to the score of the others.
double score_last(const LanguageModel& lm, std::vector<LmWord> words) {
  ChartState state;
  const double all = score_words(lm, words, state);
  words.pop_back();
  return all - score_words(lm, words, state);
}

// Checks the bounds of a string's words if these words may come before it. Returns how many contexts make a
// word as probable as its bound.
int check_string(const LanguageModel& lm, SentenceNgrams& ngrams, const std::vector<LmWord>& string,
                 const std::vector<LmWord>& words) {
  ChartState state;
  score_words(lm, string, state);
  int reached = 0;
  for (unsigned i = 0; i < state.left.length; ++i) {
    const std::vector<LmWord> known(string.begin(), string.begin() + i + 1);
    const double bound = score_last(lm, known) + ngrams.excess(state.left, i);
    for (const LmWord first : words) {
      for (const LmWord second : words) {
        if (second == lm.index("<s>")) continue;
        std::vector<LmWord> all{first, second};
        all.insert(all.end(), known.begin(), known.end());
        const double score = score_last(lm, all);
        expect(score < bound + kTolerance, "no context gives more than the bound");
        reached += std::abs(score - bound) < kTolerance;
      }
    }
  }
  return reached;
}

void check_bounds(const LanguageModel& lm) {
  const std::vector<LmWord> all{lm.index("<unk>"), lm.index("<s>"), lm.index("u"), lm.index("v")};
  SentenceNgrams ngrams(lm, all);
  expect(!ngrams.any_positive_backoff(), "the model has no positive back-off weight");
  int reached = 0;
  for (unsigned subset = 1; subset < 16; ++subset) {
    std::vector<LmWord> words;
    for (unsigned i = 0; i < 4; ++i) {
      if (subset >> i & 1) words.push_back(all[i]);
    }
    ngrams.restrict(words);
    for (const LmWord first : {all[0], all[2], all[3], lm.index("</s>")}) {
      reached += check_string(lm, ngrams, {first}, words);
      for (const LmWord second : {all[2], all[3], lm.index("</s>")})
        reached += check_string(lm, ngrams, {first, second}, words);
    }
  }
  expect(reached > 20, "some contexts give as much as the bound");
}

void check_positive_backoff() {
  const TemporaryFile arpa;
  std::string text = small_arpa("-0.1");
  text.replace(text.find("v u\t-0.3"), 8, "v u\t0.3");
  std::ofstream(arpa.path()) << text;
  const auto lm = LanguageModel::load(arpa.path());
  expect(SentenceNgrams(*lm, {lm->index("u"), lm->index("v")}).any_positive_backoff(), "v u is a context");
  expect(!SentenceNgrams(*lm, {lm->index("u")}).any_positive_backoff(), "v does not occur");
}

}  // namespace
}  // namespace hiero

int main() {
  hiero::check_bounds(*hiero::small_lm());
  hiero::check_bounds(*hiero::small_rest_lm());
  hiero::check_positive_backoff();
  return hiero::failed();
}
