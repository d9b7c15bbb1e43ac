// Reads randomly mutated rules, packed tables and files of estimates, and decodes with them. Every case must
// end in success or in an Error, never in a fault. Usage: mutation_test [cases = 20000] [seed = 1]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <random>

#include "cases.h"
#include "hiero/base/checked_blocks.h"
#include "hiero/base/checksum.h"
#include "hiero/base/error.h"
#include "hiero/base/mapped_file.h"
#include "hiero/decode/decoder.h"
#include "hiero/decode/rule_estimates.h"
#include "hiero/grammar/packed_format.h"
#include "hiero/grammar/rule_table.h"
#include "hiero/grammar/rule_text.h"
#include "small_lm.h"

namespace hiero {
namespace {

using Random = std::mt19937_64;

const char* const kLines[] = {
    "[X] ||| ne [X,1] pas ||| do not [X,1] ||| A=-0.3 B=-1.2 ||| 0-1 2-1",
    "[X] ||| [X,1] de [NP,2] ||| [2] 's [1] ||| 0.5 -1e-3 C=7 ||| 1-1",
    "[S] ||| \\[X] \xe5\xbd\xbc \\||| ||| ||| A=1",
    "[X][X] de [X][X] [X] ||| [X][X] 's [X][X] [X] ||| 0.1 0 1 ||| 0-2 2-0 1-1 ||| 1 2 3 ||| s 1",
};
const char* const kTokens[] = {"|||",   "[X,1]", "[X,2]", "[X,3]",  "[1]",  "[X][X]",      "[]",
                               "[,1]",  "[X]",   "\\[X]", "0-0",    "9-9",  "-",           "A=nan",
                               "A=1e9", "=",     "A=",    "1e-999", "\xff", "\xed\xa0\x80"};

std::size_t below(Random& random, std::size_t limit) { return limit == 0 ? 0 : random() % limit; }

std::string mutated_line(Random& random) {
  std::string line = kLines[below(random, std::size(kLines))];
  for (std::size_t n = 1 + below(random, 4); n > 0; --n) {
    const std::size_t at = below(random, line.size() + 1);
    switch (below(random, 5)) {
      case 0:
        line.insert(at, 1, static_cast<char>(random()));
        break;
      case 1:
        line.erase(at, 1 + below(random, 6));
        break;
      case 2:
        if (at < line.size()) line[at] = static_cast<char>(random());
        break;
      case 3:
        line.insert(at, " " + std::string(kTokens[below(random, std::size(kTokens))]) + " ");
        break;
      default:
        line += line.substr(at);
    }
  }
  return line;
}

// Parses a line. A rule that parses must be the same after writing and reading, and must be packed.
void try_line(const std::string& line) {
  const Rule rule = parse_rule(line, "line:1");
  if (parse_rule(format_rule(rule), "again:1") != rule)
    throw std::logic_error("not read back the same: " + line);
  RuleTable::build({rule}, "mutation", 0)->check();
}

std::vector<std::byte> sample_image() {
  std::vector<Rule> rules;
  for (int i = 0; i < 40; ++i) {
    const std::string word = "w" + std::to_string(i % 7);
    rules.push_back(parse_rule("[X] ||| " + word + " [X,1] v" + std::to_string(i) + " [NP,2] ||| [NP,2] t" +
                                   std::to_string(i) + " [X,1] ||| A=" + std::to_string(i) +
                                   (i % 3 == 0 ? " sparse=1" : "") + " ||| 0-1",
                               "sample"));
    rules.push_back(parse_rule("[NP] ||| " + word + " ||| ||| A=1", "sample"));
    rules.push_back(parse_rule("[X] ||| " + word + " ||| u v ||| A=2", "sample"));
  }
  const auto table = RuleTable::build(rules, "sample", 12);
  return {table->image().begin(), table->image().end()};
}

// Makes the checksums match again, so that the damage is not found by them.
void repair(std::vector<std::byte>& image) {
  packed::Header header;
  std::memcpy(&header, image.data(), sizeof header);
  header.length = image.size();
  header.sum = packed::header_sum(header);
  std::memcpy(image.data(), &header, sizeof header);
  const std::uint64_t end = header.sections[packed::kBlockSums].offset;
  if (end > image.size()) return;
  for (std::uint64_t block = 0; block < block_count(end); ++block) {
    const std::uint64_t start = block * kBlockSize;
    const std::uint64_t sum =
        checksum(image.data() + start, std::min<std::uint64_t>(kBlockSize, end - start));
    if (end + (block + 1) * sizeof sum > image.size()) return;
    std::memcpy(image.data() + end + block * sizeof sum, &sum, sizeof sum);
  }
}

std::vector<std::byte> mutated(Random& random, std::vector<std::byte> image) {
  const std::uint64_t interesting[] = {
      0, 1, 0x7F, 0x80, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, ~std::uint64_t{0}, image.size()};
  for (std::size_t n = 1 + below(random, 4); n > 0; --n) {
    const std::size_t at = below(random, image.size());
    switch (below(random, 4)) {
      case 0:
        image[at] ^= static_cast<std::byte>(1u << below(random, 8));
        break;
      case 1:
        image[at] = static_cast<std::byte>(random());
        break;
      case 2: {
        const std::uint64_t value = interesting[below(random, std::size(interesting))];
        std::memcpy(image.data() + at, &value, std::min(sizeof value, image.size() - at));
        break;
      }
      default:
        if (below(random, 8) == 0) image.resize(below(random, image.size() + 64));
        if (image.empty()) return image;
    }
  }
  return image;
}

std::vector<std::byte> mutated_image(Random& random, const std::vector<std::byte>& sample) {
  std::vector<std::byte> image = mutated(random, sample);
  if (image.size() >= sizeof(packed::Header) && below(random, 4) != 0) repair(image);
  return image;
}

// Decodes with whatever the table, or the file of its estimates, has become.
void try_decoding(const std::shared_ptr<const RuleTable>& table,
                  const std::shared_ptr<const LanguageModel>& lm, const std::string& estimates) {
  ModelParts parts;
  parts.tables.push_back({table, "t", estimates});
  parts.lms.push_back(lm);
  const auto model = std::make_shared<const TranslationModel>(std::move(parts));
  const std::vector<double> values(model->features().size(), 0.5);
  DecoderOptions options;
  options.pop_limit = 5;
  const Decoder decoder(model, std::make_shared<const Weights>(*model, values), options);
  for (const char* last : {"v3", "v17", "w4"})
    decoder.translate({.tokens = {"w3", "w2", last, "w1", "w3"}}, Keep::kForest);
}

// Reads all parts of a table. A part that fails does not stop the others.
void try_image(Random& random, std::vector<std::byte> image, const std::shared_ptr<const LanguageModel>& lm) {
  const std::shared_ptr<const RuleTable> table = RuleTable::from_image(std::move(image), "mutant");
  const auto attempt = [](const auto& read) {
    try {
      read();
    } catch (const Error&) {
    }
  };
  RuleRecord record;
  for (NodeId node = 0; node < std::min<std::uint32_t>(table->node_count(), 200); ++node) {
    attempt([&] { table->children(node); });
    attempt([&] { table->symbol(node); });
    attempt([&] { table->child(node, static_cast<Symbol>(random())); });
    attempt([&] {
      for (const RuleGroup& group : table->groups(node)) table->dense(group.first_rule, group.count);
    });
  }
  for (RuleId rule = 0; rule < std::min<std::uint64_t>(table->rule_count(), 100); ++rule) {
    attempt([&] { table->record(rule, record); });
  }
  for (WordId word = 0; word < std::min<std::uint32_t>(table->word_count(), 100); ++word) {
    attempt([&] { table->find_word(table->word(word)); });
  }
  attempt([&] { table->find_word("absent"); });
  attempt([&] { table->feature_names("owner"); });
  attempt([&] { try_decoding(table, lm, ""); });
  table->check();
}

// Decodes with a valid table and a mutated file of estimates, in three of four cases with matching checksums.
class EstimatesMutator {
 public:
  EstimatesMutator(std::shared_ptr<const RuleTable> table, std::shared_ptr<const LanguageModel> lm)
      : table_(std::move(table)), lm_(std::move(lm)) {
    const std::vector<std::shared_ptr<const LanguageModel>> lms{lm_};
    save_rule_estimates(compute_rule_estimates(*table_, lms), *table_, lms, file_.path());
    const MappedFile saved(file_.path());
    sample_.assign(saved.bytes().begin(), saved.bytes().end());
  }

  void attempt(Random& random) {
    std::vector<std::byte> bytes = mutated(random, sample_);
    if (below(random, 4) != 0) repair(bytes);
    std::ofstream(file_.path(), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    try_decoding(table_, lm_, file_.path());
  }

 private:
  // The file is a header, arrays of one block, and the checksum of this block. The header ends with the
  // checksum of that checksum and its own.
  static void repair(std::vector<std::byte>& bytes) {
    constexpr std::size_t kHeader = 64;
    constexpr std::size_t kSum = sizeof(std::uint64_t);
    if (bytes.size() < kHeader + kSum) return;
    const auto put = [&bytes](std::size_t at, std::size_t begin, std::size_t end) {
      const std::uint64_t sum = checksum(bytes.data() + begin, end - begin);
      std::memcpy(bytes.data() + at, &sum, sizeof sum);
    };
    const std::size_t end = bytes.size() - kSum;
    put(end, kHeader, end);
    put(kHeader - 2 * kSum, end, bytes.size());
    put(kHeader - kSum, 0, kHeader - kSum);
  }

  std::shared_ptr<const RuleTable> table_;
  std::shared_ptr<const LanguageModel> lm_;
  TemporaryFile file_;
  std::vector<std::byte> sample_;
};

int run(std::size_t cases, std::uint64_t seed) {
  const std::vector<std::byte> sample = sample_image();
  const auto lm = small_lm();
  EstimatesMutator estimates(RuleTable::from_image(sample, "sample"), lm);
  std::uint64_t rejected = 0;
  for (std::size_t i = 0; i < cases; ++i) {
    Random random(seed * 1000003 + i);
    try {
      if (i % 2 == 0) {
        try_line(mutated_line(random));
      } else if (i % 8 == 1) {
        estimates.attempt(random);
      } else {
        try_image(random, mutated_image(random, sample), lm);
      }
    } catch (const Error&) {
      ++rejected;
    } catch (const std::exception& error) {
      std::printf("case %llu: %s\n", static_cast<unsigned long long>(i), error.what());
      return 1;
    }
  }
  std::printf("mutation_test: %llu cases, %llu rejected\n", static_cast<unsigned long long>(cases),
              static_cast<unsigned long long>(rejected));
  return rejected > 0 && rejected < cases ? 0 : 1;
}

}  // namespace
}  // namespace hiero

int main(int argc, char** argv) { return hiero::run_cases(argc, argv, 20000, hiero::run); }
