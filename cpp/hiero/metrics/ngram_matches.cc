#include "hiero/metrics/ngram_matches.h"

#include <unordered_map>
#include <unordered_set>

#include "hiero/forest/ngrams.h"
#include "hiero/forest/string_hash.h"

namespace hiero {
namespace {

using NgramSet = std::unordered_set<std::vector<std::int32_t>, WordsHash, WordsEqual>;

// The n-grams of references as indices of the forest's words; those with words it does not have match
// nothing.
NgramSet reference_ngrams(const Hypergraph& forest, std::span<const std::vector<std::string>> references) {
  std::unordered_map<std::string, std::int32_t> index;
  for (std::size_t i = 0; i < forest.words.size(); ++i)
    index.try_emplace(forest.words[i], static_cast<std::int32_t>(i));
  const auto order = static_cast<std::size_t>(forest.ngram_order);
  NgramSet ngrams;
  for (const std::vector<std::string>& reference : references) {
    std::vector<std::int32_t> words;
    for (const std::string& token : reference) {
      const auto found = index.find(token);
      words.push_back(found == index.end() ? -1 : found->second);
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
  const EdgeNgrams found = edge_ngrams(forest);
  const NgramSet known = reference_ngrams(forest, references);
  std::vector<std::uint8_t> occurs;
  for (const std::vector<std::int32_t>& ngram : found.ngrams) occurs.push_back(known.contains(ngram));
  const auto order = static_cast<std::size_t>(forest.ngram_order);
  NgramMatches out;
  out.totals.assign(forest.edge_tables.size() * order, 0);
  out.matches.assign(forest.edge_tables.size() * order, 0);
  for (std::size_t e = 0; e < forest.edge_tables.size(); ++e) {
    for (std::int32_t i = found.offsets[e]; i < found.offsets[e + 1]; ++i) {
      const std::int32_t id = found.ids[i];
      const std::size_t cell = e * order + found.ngrams[id].size() - 1;
      ++out.totals[cell];
      out.matches[cell] += occurs[id];
    }
  }
  return out;
}

}  // namespace hiero
