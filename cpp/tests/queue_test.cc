// The queue against its definition: entries leave it by score as a float, equal scores in order of arrival.
// Usage: queue_test [cases = 500] [seed = 1]
#include "hiero/decode/queue.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "cases.h"
#include "random_rules.h"

namespace hiero {
namespace {

struct Entry {
  std::size_t number = 0;  // from 1
};

double random_score(Random& random) {
  switch (below(random, 10)) {
    case 0:
      return -std::numeric_limits<double>::infinity();
    case 1:
      return static_cast<double>(below(random, 1000000)) * 1e-9;
    default:
      return static_cast<double>(below(random, 20)) - 10.5;
  }
}

// Pushes and pops at random, and compares with the best of a plain list.
bool good(Random& random, ArrivalQueue<Entry>& queue) {
  queue.clear();
  std::vector<float> scores;          // by number - 1
  std::vector<std::size_t> expected;  // numbers in the queue, in order of arrival
  const std::size_t steps = 1 + below(random, 200);
  for (std::size_t step = 0; step < steps || !expected.empty(); ++step) {
    if (step < steps && (expected.empty() || below(random, 3) > 0)) {
      const double score = random_score(random);
      scores.push_back(static_cast<float>(score));
      expected.push_back(scores.size());
      queue.push(score, {scores.size()});
      continue;
    }
    const auto best = std::ranges::max_element(expected, {}, [&](std::size_t n) { return scores[n - 1]; });
    if (queue.empty() || queue.best_score() != scores[*best - 1] || queue.pop().number != *best) return false;
    expected.erase(best);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const bool waits = std::ranges::count(expected, i + 1) > 0;
      if (queue.entries()[i].number != (waits ? i + 1 : 0)) return false;
    }
  }
  return queue.empty();
}

int run(std::size_t cases, std::uint64_t seed) {
  ArrivalQueue<Entry> queue;
  for (std::size_t i = 0; i < cases; ++i) {
    Random random(seed * 7919 + static_cast<unsigned>(i));
    if (!good(random, queue)) {
      std::printf("queue_test: case %zu: not the best, or not the first of equals\n", i);
      return 1;
    }
  }
  std::printf("queue_test: %zu cases\n", cases);
  return 0;
}

}  // namespace
}  // namespace hiero

int main(int argc, char** argv) { return hiero::run_cases(argc, argv, 500, hiero::run); }
