#include "hiero/forest/losses.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "hiero/forest/ngrams.h"

namespace hiero {
namespace {

struct NgramHash {
  using is_transparent = void;
  std::size_t operator()(std::span<const std::int32_t> words) const {
    std::uint64_t hash = words.size();
    for (const std::int32_t word : words) {
      hash = (hash ^ static_cast<std::uint32_t>(word)) * 0x9E3779B97F4A7C15ull;
      hash ^= hash >> 29;
    }
    return hash;
  }
  std::size_t operator()(const std::vector<std::int32_t>& words) const {
    return (*this)(std::span<const std::int32_t>(words));
  }
};

struct NgramEqual {
  using is_transparent = void;
  bool operator()(std::span<const std::int32_t> a, std::span<const std::int32_t> b) const {
    return std::ranges::equal(a, b);
  }
};

// The n-grams of references as indices of the forest's words; those with words it does not have match
// nothing.
std::unordered_set<std::vector<std::int32_t>, NgramHash, NgramEqual> reference_ngrams(
    const Hypergraph& forest, std::span<const std::vector<std::string>> references) {
  std::unordered_map<std::string, std::int32_t> index;
  for (std::size_t i = 0; i < forest.words.size(); ++i)
    index.try_emplace(forest.words[i], static_cast<std::int32_t>(i));
  std::unordered_set<std::vector<std::int32_t>, NgramHash, NgramEqual> ngrams;
  for (const std::vector<std::string>& reference : references) {
    std::vector<std::int32_t> words;
    for (const std::string& token : reference) {
      const auto found = index.find(token);
      words.push_back(found == index.end() ? -1 : found->second);
    }
    for (std::size_t begin = 0; begin < words.size(); ++begin) {
      const auto order = static_cast<std::size_t>(forest.ngram_order);
      for (std::size_t end = begin + 1; end <= words.size() && end - begin <= order; ++end) {
        if (words[end - 1] < 0) break;
        ngrams.emplace(words.begin() + static_cast<std::ptrdiff_t>(begin),
                       words.begin() + static_cast<std::ptrdiff_t>(end));
      }
    }
  }
  return ngrams;
}

}  // namespace

NgramMatches ngram_matches(const Hypergraph& forest, std::span<const std::vector<std::string>> references) {
  NgramReader reader(forest);
  const auto known = reference_ngrams(forest, references);
  const auto order = static_cast<std::size_t>(forest.ngram_order);
  NgramMatches out;
  out.totals.assign(forest.edge_tables.size() * order, 0);
  out.matches.assign(forest.edge_tables.size() * order, 0);
  for (EdgeIndex e = 0; e < forest.edge_count(); ++e) {
    const std::size_t row = static_cast<std::size_t>(e) * order;
    reader.read(e, [&](std::span<const std::int32_t> ngram) {
      ++out.totals[row + ngram.size() - 1];
      if (known.find(ngram) != known.end()) ++out.matches[row + ngram.size() - 1];
    });
  }
  return out;
}

EdgeNgrams edge_ngrams(const Hypergraph& forest) {
  NgramReader reader(forest);
  EdgeNgrams out;
  std::unordered_map<std::vector<std::int32_t>, std::int32_t, NgramHash, NgramEqual> index;
  for (EdgeIndex e = 0; e < forest.edge_count(); ++e) {
    reader.read(e, [&](std::span<const std::int32_t> ngram) {
      auto found = index.find(ngram);
      if (found == index.end()) {
        out.ngrams.emplace_back(ngram.begin(), ngram.end());
        found = index.emplace(out.ngrams.back(), static_cast<std::int32_t>(out.ngrams.size() - 1)).first;
      }
      out.ids.push_back(found->second);
    });
    out.offsets.push_back(array_offset(out.ids.size()));
  }
  return out;
}

std::vector<double> covered_shares(const Hypergraph& forest) {
  std::vector<double> shares(forest.edge_tables.size(), 0.0);
  if (forest.root < 0) return shares;
  const auto width = [&](NodeIndex v) {
    return static_cast<double>(forest.node_spans[2 * v + 1]) - forest.node_spans[2 * v];
  };
  const double whole = width(forest.root);
  for (NodeIndex v = 0; v < forest.node_count(); ++v) {
    for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
      double own = width(v);
      for (const NodeIndex u : forest.edge_tails(e)) own -= width(u);
      if (whole > 0) shares[e] = own / whole;
    }
  }
  return shares;
}

}  // namespace hiero
