// The items of a cell against a plain list of what recombines: scores, edges, order, pruning, and items
// apart. Usage: cell_items_test [cases = 1000] [seed = 1]
#include "hiero/decode/cell_items.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <numeric>

#include "cases.h"
#include "hiero/decode/matcher.h"
#include "random_states.h"

namespace hiero {
namespace {

constexpr std::size_t kMostLms = 2;

// A complete hypothesis of a rule without nonterminals, whose states follow it in memory.
struct Complete {
  PartialHypothesis hypothesis;
  ChartState states[kMostLms];
};

struct Expected {
  const ChartState* states;
  double score;
  std::vector<std::uint32_t> applications;  // of its edges, the last one first
};

// The items that hypotheses recombine into, in the order in which they appear.
std::vector<Expected> recombined(const std::deque<Complete>& hypotheses, std::size_t lms, bool keep_all) {
  std::vector<Expected> items;
  for (const Complete& complete : hypotheses) {
    const auto& [score, side, next_free, application, slot, capacity, incomplete] = complete.hypothesis;
    const auto same = std::ranges::find_if(
        items, [&](const Expected& item) { return same_states(item.states, complete.states, lms); });
    if (same == items.end()) {
      items.push_back({complete.states, score, {application}});
      continue;
    }
    if (!keep_all && score > same->score) same->applications.clear();
    if (keep_all || score > same->score) same->applications.insert(same->applications.begin(), application);
    same->score = std::max(same->score, score);
  }
  return items;
}

bool is_item(const SearchSpace& space, ItemId id, const Expected& expected, CellId cell, std::size_t lms) {
  const Item& item = space.items[id];
  if (item.score != expected.score || !same_states(item.states, expected.states, lms)) return false;
  if (space.item_cells[id] != cell) return false;
  std::vector<std::uint32_t> applications;
  for (std::uint32_t e = item.edge; e != kNoEdge; e = space.edges[e].next) {
    applications.push_back(space.edges[e].application);
    if (space.edges[e].slot != 2 * space.edges[e].application) return false;
  }
  return applications == expected.applications;
}

// Items sorted by score, ties by id, and pruned.
std::vector<ItemId> survivors(const std::vector<Expected>& items, ItemId first,
                              const DecoderOptions& options) {
  std::vector<ItemId> ids(items.size());
  std::iota(ids.begin(), ids.end(), first);
  const auto score = [&](ItemId id) { return items[id - first].score; };
  std::ranges::stable_sort(ids, std::ranges::greater(), score);
  const double threshold = score(ids[0]) - options.beam_threshold;
  std::erase_if(ids, [&](ItemId id) { return score(id) < threshold; });
  if (options.beam_size > 0) ids.resize(std::min<std::size_t>(ids.size(), options.beam_size));
  return ids;
}

std::deque<Complete> random_hypotheses(Random& random, const TargetSide& side) {
  std::deque<Complete> out;
  // Sometimes more than the table of items has room for at first.
  const std::size_t count = below(random, 20) == 0 ? 2000 : below(random, 40);
  for (std::uint32_t i = 0; i < count; ++i) {
    Complete complete{{-static_cast<double>(below(random, 8)), &side, nullptr, i, 2 * i, 0, 0}, {}};
    for (ChartState& state : complete.states) state = random_state(random);
    out.push_back(complete);
  }
  return out;
}

bool good(Random& random, const SentenceContext& sentence, SentenceTargets& targets,
          std::size_t& recombinations) {
  const CoarsePass coarse(sentence.matches, targets);
  const bool keep_all = below(random, 2) == 0;
  const SearchContext context{sentence, targets, coarse, keep_all ? Keep::kForest : Keep::kNone};
  const std::size_t lms = below(random, kMostLms + 1);
  const TargetSide side{};
  SearchSpace space;
  space.clear(3);
  CellItems items(space, lms, sentence.arena);
  for (CellId cell = 0; cell < 3; ++cell) {
    const std::deque<Complete> hypotheses = random_hypotheses(random, side);
    const std::vector<Expected> expected = recombined(hypotheses, lms, keep_all);
    recombinations += hypotheses.size() - expected.size();
    const auto first = static_cast<ItemId>(space.items.size());
    const std::size_t first_edge = space.edges.size();
    items.start(cell);
    for (const Complete& complete : hypotheses) items.add(context, complete.hypothesis);
    if (space.items.size() - first != expected.size()) return false;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (!is_item(space, first + static_cast<ItemId>(i), expected[i], cell, lms)) return false;
    }
    if (items.edges().size() != space.edges.size() - first_edge) return false;
    const std::span<const ItemId> finished = items.finish(context.options);
    if (hypotheses.empty()) {
      if (!finished.empty()) return false;
      continue;
    }
    if (!std::ranges::equal(finished, survivors(expected, first, context.options))) return false;
    const ItemId apart = items.add_apart(hypotheses[0].hypothesis);
    const Expected alone{hypotheses[0].states, hypotheses[0].hypothesis.score, {0}};
    if (apart + 1 != space.items.size() || !is_item(space, apart, alone, cell, lms)) return false;
  }
  return true;
}

int run(std::size_t cases, std::uint64_t seed) {
  std::size_t recombinations = 0;
  Arena arena;
  const TranslationModel model(ModelParts{});
  const Weights weights(model, std::vector<double>(model.features().size(), 0.0));
  for (std::size_t i = 0; i < cases; ++i) {
    Random random(seed * 7919 + static_cast<unsigned>(i));
    DecoderOptions options;
    options.beam_size = static_cast<std::uint32_t>(below(random, 4));
    if (below(random, 2) == 0) options.beam_threshold = static_cast<double>(below(random, 6));
    const Sentence sentence(model, {}, options);
    arena.reset();
    Matches matches;
    const SentenceContext context{model, sentence, weights, options, matches, arena};
    TargetScratch scratch;
    SentenceTargets targets(context, scratch);
    if (!good(random, context, targets, recombinations)) {
      std::printf("cell_items_test: case %zu is not as defined\n", i);
      return 1;
    }
  }
  std::printf("cell_items_test: %zu cases, %zu recombinations\n", cases, recombinations);
  return recombinations > cases ? 0 : 1;
}

}  // namespace
}  // namespace hiero

int main(int argc, char** argv) { return hiero::run_cases(argc, argv, 1000, hiero::run); }
