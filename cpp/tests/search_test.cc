// One search after another: each counts anew, queries included, and pops first what local features make best.
#include "hiero/decode/search.h"

#include <cstdio>

#include "hiero/decode/matcher.h"
#include "hiero/grammar/rule_text.h"
#include "small_lm.h"

namespace hiero {
namespace {

struct Result {
  double best = 0;
  std::uint64_t hypotheses = 0;
  std::uint64_t lm_queries = 0;
  std::size_t goals = 0;

  bool operator==(const Result&) const = default;
};

// Searches one sentence with one workspace as often as run() is called.
class Bench {
 public:
  explicit Bench(ModelParts parts)
      : model_(std::move(parts)),
        weights_(model_, std::vector<double>(model_.features().size(), 0.5)),
        search_(model_, arena_) {}

  Result run(const std::vector<std::string>& tokens, std::uint32_t pop_limit) {
    DecoderOptions options;
    options.pop_limit = pop_limit;
    const Sentence sentence(model_, {.tokens = tokens}, options);
    arena_.reset();
    Matches matches;
    Matcher(model_).run(sentence, options.span_limit, matches);
    const SentenceContext sentence_context{model_, sentence, weights_, options, matches, arena_};
    TargetScratch scratch;
    SentenceTargets targets(sentence_context, scratch);
    const CoarsePass coarse(matches, targets);
    const SearchSpace& space = search_.run({sentence_context, targets, coarse, Keep::kNone});
    return {space.goals.at(0).score, space.hypotheses, space.lm_queries, space.goals.size()};
  }

 private:
  TranslationModel model_;
  Weights weights_;
  Arena arena_;
  Search search_;
};

ModelParts parts_with(std::initializer_list<const char*> rules) {
  std::vector<Rule> parsed;
  for (const char* rule : rules) parsed.push_back(parse_rule(rule, "rule"));
  ModelParts parts;
  parts.tables.push_back({RuleTable::build(parsed, "t", 0), "t", ""});
  return parts;
}

bool counts_anew() {
  ModelParts parts =
      parts_with({"[X] ||| a ||| u ||| A=-1", "[X] ||| a ||| v ||| A=-2", "[X] ||| b ||| w u ||| A=-1",
                  "[X] ||| b ||| v v ||| A=-1", "[X] ||| [X,1] b ||| v [X,1] ||| A=-3"});
  parts.lms.push_back(small_lm());
  Bench bench(std::move(parts));
  const Result first = bench.run({"a", "b", "a", "b"}, 200);
  const Result other = bench.run({"b", "a"}, 200);
  // A goal takes at most one query, for </s>.
  return first.lm_queries > first.goals && first.hypotheses > other.hypotheses &&
         first.lm_queries > other.lm_queries && bench.run({"a", "b", "a", "b"}, 200) == first;
}

// The rule with a gap is worse but for its gap, and a cell has one hypothesis.
bool orders_by_offsets() {
  ModelParts parts = parts_with(
      {"[X] ||| a b ||| u ||| A=-1", "[X] ||| [X,1] b ||| [X,1] v ||| A=-2", "[X] ||| a ||| w ||| A=-1"});
  GapFeatures gaps{{"Gap"}, false, 1, {{0, 1, 2}, {0, 0}, {20.0, 20.0}}};
  parts.gap_features.push_back(std::make_shared<const GapFeatures>(std::move(gaps)));
  Bench bench(std::move(parts));
  const Result exact = bench.run({"a", "b"}, 0);
  const Result pruned = bench.run({"a", "b"}, 1);
  return pruned.hypotheses < exact.hypotheses && pruned.best == exact.best;
}

int run() {
  if (!counts_anew()) {
    std::printf("search_test: a search depends on the one before it, or does not count its queries\n");
    return 1;
  }
  if (!orders_by_offsets()) {
    std::printf("search_test: local features do not order what a cell pops\n");
    return 1;
  }
  std::printf("search_test: two searches\n");
  return 0;
}

}  // namespace
}  // namespace hiero

int main() { return hiero::run(); }
