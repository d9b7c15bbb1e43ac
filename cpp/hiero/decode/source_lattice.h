// A source sentence that is a lattice: arcs with a word each, between nodes that are numbered topologically.
// The words of a sentence are those of all arcs, and spans are pairs of nodes. A string is the lattice with
// one path.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hiero {

struct LatticeArc {
  std::uint32_t begin;  // nodes; paths lead from 0 to the last one
  std::uint32_t end;
};

// The features of scores, which count from 0: Lattice0, Lattice1, ...
std::string lattice_feature(std::size_t k);

struct SourceLattice {
  std::vector<LatticeArc> arcs;  // by word; none: a string
  std::size_t score_count = 0;   // of each arc
  std::vector<double> scores;    // arc-major

  bool any() const { return !arcs.empty(); }
  double score(std::size_t arc, std::size_t k) const { return scores[arc * score_count + k]; }
};

// Throws std::invalid_argument unless there is an arc for each of so many words, sorted by the node that it
// leads from, every node but the first and the last one has arcs on both sides, and scores are finite.
void check_lattice(const SourceLattice& lattice, std::size_t words);

}  // namespace hiero
