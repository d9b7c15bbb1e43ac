// Tests that two loops do not allocate once their buffers have grown: search of a sentence like one before,
// and writing rules into a table. Counts calls of operator new.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "hiero/decode/coarse.h"
#include "hiero/decode/matcher.h"
#include "hiero/decode/search.h"
#include "hiero/grammar/rule_text.h"
#include "hiero/grammar/table_writer.h"
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
// The standard library allocates temporary buffers with this one, and frees them with the plain operator
// delete.
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

int search() {
  ModelParts parts;
  parts.tables.push_back({RuleTable::build(rules(), "t", 0), "t", ""});
  parts.lms.push_back(small_lm());
  const TranslationModel model(std::move(parts));
  const Weights weights(model, std::vector<double>(model.features().size(), 0.5));
  DecoderOptions options;
  options.pass_through = PassThrough::kNone;
  const Sentence sentence(model, {.tokens = {"a", "b", "a", "a", "b", "a", "b", "b"}}, options);
  Arena arena;
  Matcher matcher(model);
  Matches matches;
  TargetScratch target_scratch;
  Search search(model, arena);
  std::uint64_t hypotheses = 0;
  long counted = 0;
  for (int round = 0; round < 3; ++round) {
    arena.reset();
    matcher.run(sentence, options.span_limit, matches);
    const SentenceContext sentence_context{model, sentence, weights, options, matches, arena};
    SentenceTargets targets(sentence_context, target_scratch);
    const CoarsePass coarse(matches, targets);
    const SearchContext context{sentence_context, targets, coarse, Keep::kNone};
    const long before = allocations;
    hypotheses = search.run(context).hypotheses;
    counted = allocations - before;
  }
  std::printf("allocation_test: %llu hypotheses, %ld allocations\n",
              static_cast<unsigned long long>(hypotheses), counted);
  return hypotheses > 1000 && counted == 0 ? 0 : 1;
}

// Stores a table in memory.
class Sink : public ImageSink {
 public:
  void allocate(std::uint64_t length) override { image_.resize(length); }
  void write(std::uint64_t offset, const void* data, std::size_t size) override {
    std::memcpy(image_.data() + offset, data, size);
  }
  void read(std::uint64_t offset, void* data, std::size_t size) const override {
    std::memcpy(data, image_.data() + offset, size);
  }

 private:
  std::vector<std::byte> image_;
};

// Returns the number of allocations for writing `count` rules of one source side.
long count_allocations(std::uint64_t count) {
  TableNames names;
  names.words.intern("a");
  names.labels.intern("X");
  names.rules = count;
  names.features.push_back({"A", -1, count});
  names.features.push_back({"B", -1, count / 4});
  const Symbol source[] = {0, nonterminal(0)};
  const SparseFeature features[] = {{0, 1.0f}, {1, 2.0f}};
  const std::byte body[] = {std::byte{0}, std::byte{0}, std::byte{0}};
  const RuleScan scan = [&](const std::function<void(const RuleRow&)>& visit) {
    // Every fourth rule has the sparse feature, and every third does not have the dense feature.
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::size_t first = i % 3 == 0 ? 1 : 0;
      const std::size_t past = i % 4 == 0 ? 2 : 1;
      visit({source, 0, std::span(features).subspan(std::min(first, past), past - std::min(first, past)),
             body});
    }
  };
  Sink sink;
  const long before = allocations;
  write_table(names, scan, sink, [] {});
  return allocations - before;
}

int run() {
  const long few = count_allocations(1000);
  const long many = count_allocations(50000);
  std::printf("allocation_test: %ld allocations for 1,000 rules, %ld for 50,000\n", few, many);
  return many > few + 100 ? 1 : search();
}

}  // namespace
}  // namespace hiero

int main() { return hiero::run(); }
