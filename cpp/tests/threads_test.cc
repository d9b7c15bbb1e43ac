// Tests that several threads with one shared decoder get the results of one thread. They decode the same
// random sentences, some with other weights, some with sentence rules. Run it with ThreadSanitizer too.
// Usage: threads_test [cases = 30] [seed = 1]
#include <cstdio>
#include <thread>

#include "cases.h"
#include "hiero/decode/decoder.h"
#include "random_rules.h"
#include "small_lm.h"

namespace hiero {
namespace {

constexpr std::size_t kThreads = 4;
constexpr std::size_t kSentences = 24;

struct Job {
  std::vector<std::string> tokens;
  std::vector<Rule> sentence_rules;
  bool other_weights;
};

std::vector<Job> random_jobs(Random& random) {
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < kSentences; ++i) {
    std::vector<Rule> rules;
    if (below(random, 3) == 0) rules.push_back(parse_rule("[X] ||| d ||| u v ||| A=-0.5", "rule"));
    jobs.push_back({random_sentence(random, 7), std::move(rules), below(random, 2) == 0});
  }
  return jobs;
}

std::shared_ptr<const Weights> random_weights(Random& random, const TranslationModel& model) {
  std::vector<double> values;
  for (std::size_t f = 0; f < model.features().size(); ++f)
    values.push_back(static_cast<double>(below(random, 200)) / 100 - 1);
  return std::make_shared<const Weights>(model, std::move(values));
}

Translation decode(const Decoder& decoder, const std::shared_ptr<const Weights>& other, const Job& job) {
  const SentenceInput input{.tokens = job.tokens, .rules = job.sentence_rules};
  if (!job.other_weights) return decoder.translate(input, Keep::kForest);
  return decoder.with_weights(other).translate(input, Keep::kForest);
}

bool same(const Hypergraph& a, const Hypergraph& b) {
  return a.node_spans == b.node_spans && a.node_labels == b.node_labels && a.edge_offsets == b.edge_offsets &&
         a.root == b.root && a.tail_offsets == b.tail_offsets && a.tails == b.tails &&
         a.edge_tables == b.edge_tables && a.edge_rules == b.edge_rules && a.words == b.words &&
         a.targets->symbols == b.targets->symbols;
}

bool same(const Forest& a, const Forest& b) {
  return same(*a.graph, *b.graph) && a.rows->offsets == b.rows->offsets && a.rows->ids == b.rows->ids &&
         a.rows->values == b.rows->values;
}

bool same(const Translation& a, const Translation& b) {
  return same(*a.best, *b.best) && same(*a.forest, *b.forest) && a.unknown == b.unknown;
}

bool threads_agree(Random& random, const std::shared_ptr<const LanguageModel>& lm) {
  const auto built = RuleTable::build(random_rules(random), "t", 0);
  // A copy of the table of which nothing has been read yet, so that threads verify its blocks at once.
  const auto table = RuleTable::from_image({built->image().begin(), built->image().end()}, "t");
  ModelParts parts;
  parts.tables.push_back({table, "t", ""});
  parts.lms.push_back(lm);
  const auto model = std::make_shared<const TranslationModel>(std::move(parts));
  DecoderOptions options;
  options.pop_limit = 30;
  const Decoder decoder(model, random_weights(random, *model), options);
  const auto other = random_weights(random, *model);
  const std::vector<Job> jobs = random_jobs(random);
  std::vector<std::vector<Translation>> results(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      // Each thread begins with another sentence.
      for (std::size_t i = 0; i < kSentences; ++i)
        results[t].push_back(decode(decoder, other, jobs[(i + t) % kSentences]));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < kSentences; ++i) {
    const Translation expected = decode(decoder, other, jobs[i]);
    for (std::size_t t = 0; t < kThreads; ++t) {
      if (!same(results[t][(i + kSentences - t) % kSentences], expected)) return false;
    }
  }
  return true;
}

int run(std::size_t cases, std::uint64_t seed) {
  const auto lm = small_lm();
  for (std::size_t i = 0; i < cases; ++i) {
    Random random(seed * 7919 + static_cast<unsigned>(i));
    if (!threads_agree(random, lm)) {
      std::printf("threads_test: case %zu differs between threads\n", i);
      return 1;
    }
  }
  std::printf("threads_test: %zu cases of %zu sentences by %zu threads\n", cases, kSentences, kThreads);
  return 0;
}

}  // namespace
}  // namespace hiero

int main(int argc, char** argv) { return hiero::run_cases(argc, argv, 30, hiero::run); }
