#include "hiero/metrics/ngram_matches.h"

#include <unordered_map>
#include <unordered_set>

#include "hiero/forest/ngrams.h"
#include "hiero/forest/string_hash.h"

namespace hiero {
namespace {

using NgramSet = std::unordered_set<std::vector<std::int32_t>, WordsHash, WordsEqual>;

// Returns the n-grams of references as indices into the forest's words, without those that have other words.
NgramSet reference_ngrams(const Hypergraph& forest, std::span<const std::vector<std::string>> references) {
  std::unordered_map<std::string, std::int32_t> index;
  for (std::size_t i = 0; i < forest.words.size(); ++i)
    index.try_emplace(forest.words[i], static_cast<std::int32_t>(i));
  const auto order = static_cast<std::size_t>(forest.ngram_order);
  NgramSet ngrams;
  for (const std::vector<std::string>& reference : references) {
    std::vector<std::int32_t> words;
    for (const std::string& token : reference) {
      const auto word = index.find(token);
      words.push_back(word == index.end() ? -1 : word->second);
    }
    for (auto begin = words.begin(); begin != words.end(); ++begin) {
      for (auto end = begin; end != words.end() && *end >= 0;) {
        ngrams.emplace(begin, ++end);
        if (static_cast<std::size_t>(end - begin) == order) break;
      }
    }
  }
  return ngrams;
}

}  // namespace

NgramMatches ngram_matches(const Hypergraph& forest, std::span<const std::vector<std::string>> references) {
  NgramReader reader(forest);
  const NgramSet in_references = reference_ngrams(forest, references);
  const auto order = static_cast<std::size_t>(forest.ngram_order);
  NgramMatches out;
  out.totals.assign(forest.edge_tables.size() * order, 0);
  out.matches.assign(forest.edge_tables.size() * order, 0);
  for (EdgeIndex e = 0; e < forest.edge_count(); ++e) {
    const std::size_t row = static_cast<std::size_t>(e) * order;
    reader.read(e, [&](std::span<const std::int32_t> ngram) {
      ++out.totals[row + ngram.size() - 1];
      if (in_references.contains(ngram)) ++out.matches[row + ngram.size() - 1];
    });
  }
  return out;
}

}  // namespace hiero
