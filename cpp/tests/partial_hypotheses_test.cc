// Partial hypotheses against what they stand for: opened and expanded to the end, they give every choice of
// antecedent items once, with the score and the states that the language models have for the whole rule.
// Usage: partial_hypotheses_test [cases = 200] [seed = 1]
#include "hiero/decode/partial_hypotheses.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "cases.h"
#include "hiero/decode/cell_items.h"
#include "hiero/decode/matcher.h"
#include "random_states.h"
#include "small_lm.h"

namespace hiero {
namespace {

// What a case has to show for itself.
struct Counts {
  std::size_t complete = 0;
  std::size_t rests = 0;
};

// A search of all cells without a queue.
class Exhaustive {
 public:
  explicit Exhaustive(const SearchContext& context)
      : context_(context),
        vertices_(space_.items, context.model.lms().size(), context.arena),
        hypotheses_(context.model, vertices_, context.arena),
        items_(space_, context.model.lms().size(), context.arena) {
    space_.clear(context.matches.cells.size());
    vertices_.clear(context.matches.cells.size());
  }

  bool good(Counts& counts) {
    for (CellId cell = 0; cell < context_.matches.cells.size(); ++cell) {
      items_.start(cell);
      const auto& [begin, end, label, first, last] = context_.matches.cells[cell];
      for (std::uint32_t a = first; a < last; ++a) {
        for (std::uint32_t position = 0; position < context_.targets.count(a); ++position) {
          if (!good_target(a, position, counts)) return false;
        }
      }
      space_.survivors[cell] = items_.finish(context_.options);
      vertices_.add(cell, space_.survivors[cell]);
    }
    return true;
  }

 private:
  // The items that a place stands for.
  static std::size_t items_below(const PartialVertex& place) {
    std::size_t count = place.node->item_count;
    for (std::uint32_t c = 0; c < place.index; ++c) count -= place.node->children[c].item_count;
    return count;
  }
  static std::size_t choices(const PartialHypothesis& partial) {
    std::size_t count = 1;
    for (std::uint32_t i = 0; i < partial.side->arity; ++i) count *= items_below(partial.vertices()[i]);
    return count;
  }

  bool good_target(std::uint32_t a, std::uint32_t position, Counts& counts) {
    std::vector<PartialHypothesis*> open{hypotheses_.open(context_, a, position)};
    const std::size_t expected = choices(*open[0]);
    std::map<std::vector<ItemId>, int> seen;
    while (!open.empty()) {
      PartialHypothesis* partial = open.back();
      open.pop_back();
      while (!partial->is_complete()) {
        const std::size_t before = choices(*partial);
        PartialHypothesis* rest = hypotheses_.expand(context_, *partial);
        if (choices(*partial) + (rest ? choices(*rest) : 0) != before) return false;
        if (rest) open.push_back(rest);
        counts.rests += rest != nullptr;
      }
      items_.add(context_, *partial);
      const std::vector<ItemId> tails = tails_of(*partial);
      if (!std::ranges::equal(space_.tails(space_.edges.back(), partial->side->arity), tails)) return false;
      const std::span<const CellId> cells = context_.matches.tails(context_.matches.applications[a]);
      const auto cell_of = [this](ItemId item) { return space_.item_cells[item]; };
      if (!std::ranges::equal(tails, cells, {}, cell_of)) return false;
      if (seen[tails]++ > 0 || !scores_right(*partial, position, tails)) return false;
      hypotheses_.release(partial);
      ++counts.complete;
    }
    return seen.size() == expected;
  }

  // The antecedent items in source order.
  static std::vector<ItemId> tails_of(const PartialHypothesis& partial) {
    std::vector<ItemId> tails(partial.side->arity);
    for (std::uint32_t i = 0; i < partial.side->arity; ++i)
      tails[partial.side->order[i]] = partial.vertices()[i].node->items[0];
    return tails;
  }

  bool scores_right(const PartialHypothesis& partial, std::uint32_t position,
                    const std::vector<ItemId>& tails) {
    const Application& application = context_.matches.applications[partial.application];
    const TargetSet& set = context_.matches.target_sets[application.targets];
    const BoundTable& bound = context_.sentence.table(set.table);
    const std::size_t lms = context_.model.lms().size();
    const std::size_t rule = std::size_t{set.group.first_rule} + partial.slot;
    const Target& target = context_.targets.target(partial.application, position);
    if (target.slot != partial.slot) return false;
    double score = target.score;
    for (const ItemId tail : tails) score += space_.items[tail].score;
    for (std::size_t k = 0; k < lms; ++k) {
      std::vector<Symbol> symbols(partial.side->symbols, partial.side->symbols + partial.side->size);
      for (Symbol& symbol : symbols)
        symbol = is_nonterminal(symbol) ? symbol : bound.estimates.lm_words[k][symbol];
      const ChartState* below[kMaxArity] = {};
      for (std::size_t i = 0; i < tails.size(); ++i) below[i] = &space_.items[tails[i]].states[k];
      ChartState state;
      std::uint64_t queries = 0;
      const double lm_score = context_.model.lms()[k]->score_rule(
          symbols, below, context_.targets.follows_bos(application), state, queries);
      score += context_.weights.lm[k] * (lm_score - bound.estimates.lm_estimate[rule * lms + k]);
      if (!same_states(&state, &partial.states()[k], 1)) return false;
    }
    return std::abs(score - partial.score) < 1e-4;
  }

  const SearchContext& context_;
  SearchSpace space_;
  Vertices vertices_;
  PartialHypotheses hypotheses_;
  CellItems items_;
};

std::vector<Rule> rules_of(Random& random) {
  std::vector<Rule> rules = random_rules(random);
  rules.push_back(parse_rule("[X] ||| [X,1] b [X,2] [X,3] ||| [X,3] u [X,1] [X,2] ||| A=-0.125", "rule"));
  rules.push_back(parse_rule("[X] ||| a ||| u v ||| A=-0.25", "rule"));
  rules.push_back(parse_rule("[X] ||| a ||| v ||| A=-0.5", "rule"));
  return rules;
}

int run(std::size_t cases, std::uint64_t seed) {
  const std::shared_ptr<const LanguageModel> lms[] = {small_lm(), small_lm("-0.9"), small_rest_lm()};
  Counts counts;
  Arena arena;
  for (std::size_t i = 0; i < cases; ++i) {
    Random random(seed * 7919 + static_cast<unsigned>(i));
    ModelParts parts;
    parts.tables.push_back({RuleTable::build(rules_of(random), "t", 0), "t", ""});
    for (std::size_t k = below(random, 4); k > 0; --k) parts.lms.push_back(lms[k - 1]);
    const TranslationModel model(std::move(parts));
    const Weights weights(model, std::vector<double>(model.features().size(), 0.5));
    DecoderOptions options;
    options.beam_size = static_cast<std::uint32_t>(1 + below(random, 8));
    // Words of a rule of the goal follow <s>.
    const Rule opening = parse_rule("[S] ||| a [X,1] ||| u v [X,1] ||| NameRule=1", "rule");
    const Sentence sentence(model, {.tokens = random_sentence(random, 5), .rules = {opening}}, options);
    arena.reset();
    Matches matches;
    Matcher(model).run(sentence, options.span_limit, matches);
    const SentenceContext sentence_context{model, sentence, weights, options, matches, arena};
    TargetScratch scratch;
    SentenceTargets targets(sentence_context, scratch);
    const CoarsePass coarse(matches, targets);
    const SearchContext context{sentence_context, targets, coarse, Keep::kForest};
    if (!Exhaustive(context).good(counts)) {
      std::printf("partial_hypotheses_test: case %zu: not the choices, scores or states of the rule\n", i);
      return 1;
    }
  }
  std::printf("partial_hypotheses_test: %zu cases, %zu complete, %zu rests\n", cases, counts.complete,
              counts.rests);
  return counts.complete > 10 * cases && counts.rests > 2 * cases ? 0 : 1;
}

}  // namespace
}  // namespace hiero

int main(int argc, char** argv) { return hiero::run_cases(argc, argv, 200, hiero::run); }
