// The search loop allocates nothing once its buffers have grown: counts calls of operator new while a
// sentence like one seen before is searched.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "hiero/decode/coarse.h"
#include "hiero/decode/matcher.h"
#include "hiero/decode/search.h"
#include "hiero/grammar/rule_text.h"
#include "small_lm.h"

namespace {
std::atomic<long> allocations{0};
}

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return ::operator new(size); }
// The library's temporary buffers are made with this one and freed by the plain operator delete.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace hiero {
namespace {

std::vector<Rule> rules() {
  std::vector<Rule> out;
  for (const char* source : {"a", "b", "a b", "[X,1] b", "a [X,1]", "[X,1] a [X,2]"}) {
    for (const char* words : {"u", "v", "w", "u w", "w v u"}) {
      std::string target = words;
      for (const char* gap : {"[X,1]", "[X,2]"}) {
        if (std::string(source).find(gap) != std::string::npos) target = std::string(gap) + " " + target;
      }
      out.push_back(parse_rule("[X] ||| " + std::string(source) + " ||| " + target + " ||| A=-0." +
                                   std::to_string(out.size() + 10),
                               "rule"));
    }
  }
  return out;
}

int run() {
  ModelParts parts;
  parts.tables.push_back({RuleTable::build(rules(), "t", 0), "t", ""});
  parts.lms.push_back(small_lm());
  const TranslationModel model(std::move(parts));
  const Weights weights(model, std::vector<double>(model.features().size(), 0.5));
  DecoderOptions options;
  options.pass_through = PassThrough::kNone;
  const Sentence sentence(model, {"a", "b", "a", "a", "b", "a", "b", "b"}, {}, {}, options);
  Arena arena;
  Matcher matcher(model);
  Matches matches;
  SentenceTargets targets;
  CoarsePass coarse;
  Search search(model, arena);
  std::uint64_t hypotheses = 0;
  long counted = 0;
  for (int round = 0; round < 3; ++round) {
    arena.reset();
    matcher.run(sentence, options.span_limit, matches);
    targets.prepare(model, sentence, weights, options, matches, arena);
    coarse.run(matches, targets);
    const long before = allocations;
    hypotheses = search.run(matches, targets, coarse, weights, options, false).hypotheses;
    counted = allocations - before;
  }
  std::printf("allocation_test: %llu hypotheses, %ld allocations\n",
              static_cast<unsigned long long>(hypotheses), counted);
  return hypotheses > 1000 && counted == 0 ? 0 : 1;
}

}  // namespace
}  // namespace hiero

int main() { return hiero::run(); }
