// Tests that several threads give what one gives: streams of items, sorters in parts, extraction and scoring.
// The sorters have so little memory that most records go through the disk.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "cases.h"
#include "expect.h"
#include "hiero/base/error.h"
#include "hiero/base/ordered_map.h"
#include "hiero/base/parallel.h"
#include "hiero/base/partitioned_sorter.h"
#include "hiero/extract/extraction.h"
#include "hiero/extract/scoring.h"

namespace hiero {
namespace {

using Random = std::mt19937_64;

std::string temporary(const std::string& name) {
  return (std::filesystem::temp_directory_path() / ("hiero-extract-threads-" + name)).string();
}

void items_are_taken_in_order(std::size_t threads, std::size_t count) {
  struct Item {
    std::size_t number = 0;
    std::size_t square = 0;
  };
  std::size_t next = 0;
  std::vector<std::size_t> taken;
  ordered_map<Item>(
      threads,
      [&](Item& item) {
        item.number = next;
        return next++ < count;
      },
      [&](Item& item, std::size_t worker) {
        expect(worker < threads, "a worker has a number below that of threads");
        item.square = item.number * item.number;
      },
      [&](const Item& item) { taken.push_back(item.square); });
  expect(taken.size() == count, "all items are taken");
  for (std::size_t i = 0; i < taken.size(); ++i) expect(taken[i] == i * i, "items are taken in order");
}

void errors_end_the_map(std::size_t threads) {
  for (const std::string place : {"read", "work", "take"}) {
    std::size_t next = 0;
    std::size_t taken = 0;
    const auto fail = [&](const char* here, std::size_t item) {
      if (place == here && item == 20) throw Error("at 20");
    };
    expect_throws<Error>(
        [&] {
          ordered_map<std::size_t>(
              threads,
              [&](std::size_t& item) {
                item = next++;
                fail("read", item);
                return item < 1000;
              },
              [&](std::size_t item, std::size_t) { fail("work", item); },
              [&](std::size_t item) {
                fail("take", item);
                ++taken;
              });
        },
        "an error of a call is that of the map");
    expect(taken <= 20, "nothing is taken behind an error");
  }
}

void add(std::span<std::byte> total, Bytes value) {
  std::uint64_t a, b;
  std::memcpy(&a, total.data(), sizeof a);
  std::memcpy(&b, value.data(), sizeof b);
  a += b;
  std::memcpy(total.data(), &a, sizeof a);
}

void parts_count_all_records(std::size_t threads, std::uint64_t memory, Random& random) {
  constexpr std::size_t kParts = 7;
  std::vector<std::string> keys(2000);
  std::map<std::string, std::uint64_t> expected;
  for (std::string& key : keys) ++expected[key = "key " + std::to_string(random() % 500)];
  PartitionedSorter sorters(kParts, memory, std::filesystem::temp_directory_path().string(), add);
  std::vector<PartitionedSorter::Writer> writers(threads, PartitionedSorter::Writer(sorters));
  parallel_for(keys.size(), threads, [&](std::size_t i, std::size_t worker) {
    const std::uint64_t one = 1;
    writers[worker].add(keys[i].back() % kParts, std::as_bytes(std::span(keys[i])),
                        std::as_bytes(std::span(&one, 1)));
  });
  for (PartitionedSorter::Writer& writer : writers) writer.flush();
  std::map<std::string, std::uint64_t> counted;
  for (std::size_t part = 0; part < sorters.size(); ++part) {
    sorters[part].finish();
    std::string last;
    sorters[part].scan([&](Bytes bytes, Bytes value) {
      const std::string key(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      expect(last < key, "records of a part are sorted");
      expect(key.back() % kParts == part, "records are in their part");
      last = key;
      std::memcpy(&counted[key], value.data(), sizeof(std::uint64_t));
    });
  }
  expect(counted == expected, "values of equal keys are added up");
}

LineReader lines_of(const std::string& text, const std::string& name) {
  return {[text, given = false]() mutable -> std::string_view {
            return std::exchange(given, true) ? std::string_view() : std::string_view(text);
          },
          name};
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

struct Text {
  std::string source, target, links;
};

Text random_text(Random& random, std::size_t pairs) {
  Text text;
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::size_t words = random() % 9;
    std::vector<std::size_t> order(words);
    std::iota(order.begin(), order.end(), 0);
    if (words > 2) std::swap(order[random() % words], order[random() % words]);
    for (std::size_t j = 0; j < words; ++j) {
      text.source += "f" + std::to_string(random() % 12) + " ";
      text.target += "e" + std::to_string(random() % 12) + " ";
      if (random() % 6 > 0) text.links += std::to_string(j) + "-" + std::to_string(order[j]) + " ";
    }
    for (std::string* side : {&text.source, &text.target, &text.links}) *side += "\n";
  }
  return text;
}

// Returns the bytes of a table of the rules that are significant. Among 700 pairs, most words are in more
// than 64, so that the counts of target sides are shared by threads.
std::string significant(const Text& text, const std::string& counts, std::size_t threads) {
  const std::string table = temporary("significant");
  const CountsFile file(counts);
  LineReader source = lines_of(text.source, "source");
  LineReader target = lines_of(text.target, "target");
  Vocab words(&file.words());
  IndexedBitext bitext(source, target, words, file.statistics().pairs);
  ScoreOptions options;
  const ScoreStatistics scored =
      score_rules(file, table, options, &bitext, 5.0, threads, [](std::uint64_t) {});
  expect(scored.read == file.statistics().rules, "all rules are tested");
  expect(scored.kept > 20 && scored.kept < scored.read, "some rules are significant");
  const std::string out = contents(table);
  std::filesystem::remove(table);
  return out;
}

struct Extracted {
  std::string counts, table, significant;

  bool operator==(const Extracted&) const = default;
};

// Returns the bytes of the rule counts and of both tables.
Extracted extracted(const Text& text, std::uint64_t memory, std::size_t threads) {
  const std::string counts = temporary("counts");
  const std::string table = temporary("table");
  LineReader source = lines_of(text.source, "source");
  LineReader target = lines_of(text.target, "target");
  LineReader links = lines_of(text.links, "links");
  std::uint64_t pairs = 0;
  const ExtractStatistics statistics =
      extract_rules(source, target, links, counts, {}, memory, threads,
                    [&](std::uint64_t done, std::uint64_t) { pairs = done; });
  expect(pairs == statistics.pairs, "progress ends with all pairs");
  ScoreOptions options;
  options.ttable_limit = 2;
  const ScoreStatistics scored =
      score_rules(CountsFile(counts), table, options, nullptr, 0, threads, [](std::uint64_t) {});
  expect(scored.read == statistics.rules && scored.kept < scored.read, "all rules are read, some kept");
  Extracted out{contents(counts), contents(table), significant(text, counts, threads)};
  std::filesystem::remove(counts);
  std::filesystem::remove(table);
  return out;
}

void threads_and_memory_change_no_rule(Random& random) {
  const Text text = random_text(random, 700);
  const Extracted expected = extracted(text, 1 << 30, 1);
  for (const std::size_t threads : {1, 2, 5}) {
    for (const std::uint64_t memory : {std::uint64_t{1} << 30, std::uint64_t{1} << 18})
      expect(extracted(text, memory, threads) == expected, "threads and memory change no rule");
  }
}

int run(std::size_t cases, std::uint64_t seed) {
  for (std::size_t i = 0; i < cases; ++i) {
    Random random(seed * 1000003 + i);
    for (const std::size_t threads : {1, 2, 3, 8}) {
      items_are_taken_in_order(threads, random() % 200);
      errors_end_the_map(threads);
      parts_count_all_records(threads, random() % 2 == 0 ? 1 << 20 : 4096, random);
    }
    threads_and_memory_change_no_rule(random);
  }
  return failed();
}

}  // namespace
}  // namespace hiero

int main(int argc, char** argv) { return hiero::run_cases(argc, argv, 3, hiero::run); }
