// Log odds of sentence pairs, which are the same with sides exchanged, and digests against a map.
#include <cmath>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "expect.h"
#include "hiero/align/link_lexicon.h"
#include "hiero/base/digest_index.h"
#include "hiero/base/error.h"

namespace hiero {
namespace {

struct TextPair {
  std::string source;
  std::string target;
  std::string links;
  std::string exchanged_links;
};

// Half of the pairs are translations, word by word. The others have words and links at random.
TextPair random_pair(std::mt19937& rng) {
  TextPair pair;
  const bool is_translation = rng() % 2;
  const std::size_t length = rng() % 40;
  const std::size_t target_length = is_translation ? length : rng() % 40;
  // Low numbers are more frequent.
  const auto number = [&] { return std::to_string(rng() % (1 + rng() % 300)); };
  std::vector<std::string> words(length);
  for (std::string& word : words) pair.source += " f" + (word = number());
  for (std::size_t j = 0; j < target_length; ++j)
    pair.target += " e" + (is_translation ? words[j] : number());
  if (length == 0 || target_length == 0) return pair;
  for (std::size_t k = rng() % 40; k > 0; --k) {
    const std::size_t i = rng() % length;
    const std::size_t j = is_translation ? i : rng() % target_length;
    pair.links += std::to_string(i) + '-' + std::to_string(j) + ' ';
    pair.exchanged_links += std::to_string(j) + '-' + std::to_string(i) + ' ';
  }
  return pair;
}

void test_log_odds() {
  std::mt19937 rng(1);
  std::vector<TextPair> pairs;
  LinkLexicon lexicon;
  LinkLexicon exchanged;
  for (int k = 0; k < 2000; ++k) {
    const TextPair& pair = pairs.emplace_back(random_pair(rng));
    lexicon.add(pair.source, pair.target, pair.links);
    exchanged.add(pair.target, pair.source, pair.exchanged_links);
    expect_throws<FormatError>([&] { lexicon.add("only here", "and there " + std::to_string(k), "0-9"); },
                               "a link beyond the pair");
  }
  std::size_t positive = 0;
  for (const TextPair& pair : pairs) {
    const double odds = lexicon.log_odds(pair.source, pair.target, pair.links);
    expect(std::abs(odds - exchanged.log_odds(pair.target, pair.source, pair.exchanged_links)) < 1e-9,
           "log odds of exchanged sides");
    positive += odds > 0;
  }
  expect(positive > 200 && positive < 1800, "log odds of both signs");
  expect_throws<FormatError>([&] { lexicon.add("f1", "new", "1-0"); }, "a link beyond the pair");
  expect_throws<std::invalid_argument>([&] { (void)lexicon.log_odds("f1", "new", ""); },
                                       "a pair that was not counted");
}

void test_digests() {
  std::mt19937_64 rng(1);
  DigestIndex index;
  std::map<DigestIndex::Digest, std::size_t> first;
  std::vector<DigestIndex::Digest> digests;
  std::map<DigestIndex::Digest, int> counts;
  for (std::size_t item = 0; item < 20000; ++item) {
    const DigestIndex::Digest& digest = digests.emplace_back(DigestIndex::Digest{rng() % 100, rng() % 100});
    ++counts[digest];
    expect(index.add(digest) == first.emplace(digest, item).first->second, "the first item");
  }
  for (std::size_t item = 0; item < digests.size(); ++item) {
    const std::size_t expected = first.at(digests[item]);
    expect(index.first(item) == expected, "the first item, asked again");
    expect(index.is_repeated(item) == (item == expected && counts.at(digests[item]) > 1), "a repeated item");
  }
}

}  // namespace
}  // namespace hiero

int main() {
  hiero::test_log_odds();
  hiero::test_digests();
  return hiero::failed();
}
