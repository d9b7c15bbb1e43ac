// The derivations that win along a line through weight space, of all that a forest holds (Kumar et al. 2009):
// derivation d scores intercept(d) + gamma slope(d), and the best as gamma grows are an upper envelope of
// lines. Envelopes are a semiring: plus is the upper envelope of both, times that of all sums of two lines,
// whose pieces change where either's do.
//
// How to use: envelope(forest, intercepts, slopes), with both by edge; each piece says from where on it wins
// and of which edges its derivation is.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hiero/forest/hypergraph.h"

namespace hiero {

struct EnvelopeSemiring {
  // How a line came about: an edge, or two lines one after the other.
  struct Origin {
    EdgeIndex edge;
    std::int32_t left;  // indices of origins; -1: nothing
    std::int32_t right;
  };
  struct Line {
    double slope;
    double intercept;
    double begin;         // where it begins to win; the first from -infinity
    std::int32_t origin;  // -1: no edges
  };
  // By rising slope, every one the highest somewhere.
  using Value = std::vector<Line>;

  std::vector<Origin>* origins;  // grows with every product
  Value* scratch;                // what results are built in

  Value zero() const { return {}; }
  Value one() const { return {{0, 0, -std::numeric_limits<double>::infinity(), -1}}; }
  void set_zero(Value& a) const { a.clear(); }
  // Of lines that are equal that of `a` stays.
  void add(Value& a, const Value& b) const;
  void multiply(Value& a, const Value& b) const;
  Value plus(Value a, const Value& b) const;
  Value times(Value a, const Value& b) const;

  void set_line(Value& a, EdgeIndex edge, double intercept, double slope) const;
};

struct WinningDerivation {
  double begin;  // wins from here to the next one's begin; the first from -infinity
  double slope;
  double intercept;
  std::vector<EdgeIndex> edges;  // in preorder
};

// By rising slope; empty for a forest without derivations. Of derivations that score the same everywhere the
// one that viterbi takes wins. Throws std::invalid_argument for values that are not finite or that add up to
// more than 1e150.
std::vector<WinningDerivation> envelope(const Hypergraph& forest, std::span<const double> intercepts,
                                        std::span<const double> slopes);

// The same as arrays: (n) where each begins to win, its intercept and slope, and its words, indices into the
// forest's `words`, from word_offsets[i] to word_offsets[i + 1].
struct EnvelopeArrays {
  std::vector<double> begins, intercepts, slopes;
  std::vector<std::int32_t> word_offsets{0}, words;
};

// Throws ForestError for over 2^31 - 1 words.
EnvelopeArrays envelope_arrays(const Hypergraph& forest, std::span<const double> intercepts,
                               std::span<const double> slopes);

}  // namespace hiero
