// The derivations of a forest that win somewhere along a line through weight space (Kumar et al. 2009).
// Derivation d scores intercept(d) + gamma slope(d), so that the best ones as gamma grows are an upper
// envelope of lines. Envelopes are a semiring: plus is the upper envelope of two envelopes, times the
// envelope of all sums of a line of each, whose pieces change where those of either do.
//
// How to use: envelope(forest, intercepts, slopes), both by edge, returns the winning derivations with their
// edges and where they begin to win.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hiero/forest/hypergraph.h"

namespace hiero {

struct EnvelopeSemiring {
  // The derivation of a line: an edge, or the derivations of two lines.
  struct Origin {
    EdgeIndex edge;
    std::int32_t left;  // indices of origins; -1: none
    std::int32_t right;
  };
  struct Line {
    double slope;
    double intercept;
    double begin;         // gamma from which it wins; -infinity for the first line
    std::int32_t origin;  // -1: no edges
  };
  // Lines by ascending slope; each is the highest somewhere.
  using Value = std::vector<Line>;

  std::vector<Origin>* origins;  // every product appends to it
  Value* scratch;                // buffer for results

  Value zero() const { return {}; }
  Value one() const { return {{0, 0, -std::numeric_limits<double>::infinity(), -1}}; }
  void set_zero(Value& a) const { a.clear(); }
  // Of equal lines, the one of `a` stays.
  void add(Value& a, const Value& b) const;
  void multiply(Value& a, const Value& b) const;
  Value plus(Value a, const Value& b) const;
  Value times(Value a, const Value& b) const;

  void set_line(Value& a, EdgeIndex edge, double intercept, double slope) const;
};

struct WinningDerivation {
  double begin;  // gamma from which it wins, up to the next one's; -infinity for the first
  double slope;
  double intercept;
  std::vector<EdgeIndex> edges;  // in preorder
};

// Returns the winning derivations by ascending slope; none for a forest without derivations. Of derivations
// that score the same everywhere, the one that viterbi returns wins. Throws std::invalid_argument for values
// that are not finite or that add up to more than 1e150.
std::vector<WinningDerivation> envelope(const Hypergraph& forest, std::span<const double> intercepts,
                                        std::span<const double> slopes);

// Winning derivations as arrays: where each begins to win, its intercept and slope, and its words, indices
// into the forest's `words`, from word_offsets[i] to word_offsets[i + 1].
struct EnvelopeArrays {
  std::vector<double> begins, intercepts, slopes;
  std::vector<std::int32_t> word_offsets{0}, words;
};

// Does the same as envelope. Throws ForestError as well, for over 2^31 - 1 words.
EnvelopeArrays envelope_arrays(const Hypergraph& forest, std::span<const double> intercepts,
                               std::span<const double> slopes);

}  // namespace hiero
