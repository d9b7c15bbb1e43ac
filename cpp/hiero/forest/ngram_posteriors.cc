#include "hiero/forest/ngram_posteriors.h"

#include <algorithm>

#include "hiero/base/interrupt.h"

namespace hiero {

std::vector<double> ngram_expectations(const Distribution& p, const EdgeNgrams& ngrams) {
  std::vector<double> out(ngrams.ngrams.size(), 0.0);
  for (std::size_t e = 0; e + 1 < ngrams.offsets.size(); ++e) {
    for (std::int32_t i = ngrams.offsets[e]; i < ngrams.offsets[e + 1]; ++i)
      out[static_cast<std::size_t>(ngrams.ids[i])] += p.edges()[e];
  }
  return out;
}

namespace {

// The edges at which each n-gram arises, ascending.
struct EdgesByNgram {
  std::vector<std::size_t> offsets;
  std::vector<EdgeIndex> edges;

  explicit EdgesByNgram(const EdgeNgrams& ngrams)
      : offsets(ngrams.ngrams.size() + 1, 0), edges(ngrams.ids.size()) {
    for (const std::int32_t id : ngrams.ids) ++offsets[static_cast<std::size_t>(id) + 1];
    for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
    std::vector<std::size_t> next(offsets.begin(), offsets.end() - 1);
    for (std::size_t e = 0; e + 1 < ngrams.offsets.size(); ++e) {
      for (std::int32_t i = ngrams.offsets[e]; i < ngrams.offsets[e + 1]; ++i)
        edges[next[static_cast<std::size_t>(ngrams.ids[i])]++] = static_cast<EdgeIndex>(e);
    }
  }
};

}  // namespace

std::vector<double> ngram_posteriors(const Distribution& p, const EdgeNgrams& ngrams) {
  const Hypergraph& forest = p.forest();
  const EdgesByNgram by_ngram(ngrams);
  std::vector<double> out;
  // without[v]: the probability, given that v is used, that its string does not have the n-gram.
  std::vector<double> without(forest.node_labels.size(), 1.0);
  for (std::size_t id = 0; id < ngrams.ngrams.size(); ++id) {
    if (id % 64 == 0) poll_interrupts();
    const EdgeIndex* edge = by_ngram.edges.data() + by_ngram.offsets[id];
    const EdgeIndex* const end = by_ngram.edges.data() + by_ngram.offsets[id + 1];
    const NodeIndex first = head_of(forest, *edge);
    for (NodeIndex v = first; v <= forest.root; ++v) {
      double sum = 0;
      for (EdgeIndex e = forest.edge_offsets[v]; e < forest.edge_offsets[v + 1]; ++e) {
        if (edge != end && *edge == e) {
          while (edge != end && *edge == e) ++edge;
          continue;
        }
        double product = p.shares()[e];
        for (const NodeIndex u : forest.edge_tails(e)) product *= without[u];
        sum += product;
      }
      without[v] = sum;
    }
    out.push_back(std::clamp(1 - without[forest.root], 0.0, 1.0));
    std::fill(without.begin() + first, without.end(), 1.0);
  }
  return out;
}

}  // namespace hiero
