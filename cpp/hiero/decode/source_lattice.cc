#include "hiero/decode/source_lattice.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace hiero {

std::string lattice_feature(std::size_t k) { return "Lattice" + std::to_string(k); }

void check_lattice(const SourceLattice& lattice, std::size_t words) {
  if (!lattice.any()) return;
  const auto fail = [](const std::string& what) { throw std::invalid_argument("lattice: " + what); };
  if (lattice.arcs.size() != words)
    fail(std::to_string(lattice.arcs.size()) + " arcs for " + std::to_string(words) + " words");
  if (lattice.scores.size() != words * lattice.score_count) fail("not as many scores for each arc");
  std::uint32_t last = 0;
  for (const LatticeArc& arc : lattice.arcs) last = std::max(last, arc.end);
  // With an arc into it and one out of it, every node is on a path.
  if (last > lattice.arcs.size()) fail("nodes without arcs");
  std::vector<std::uint8_t> left(last + 1, 0);
  std::vector<std::uint8_t> entered(last + 1, 0);
  for (std::size_t a = 0; a < lattice.arcs.size(); ++a) {
    const LatticeArc& arc = lattice.arcs[a];
    if (arc.begin >= arc.end) fail("arc " + std::to_string(a) + " does not lead to a later node");
    if (a > 0 && arc.begin < lattice.arcs[a - 1].begin) fail("arcs are not sorted by their first node");
    left[arc.begin] = 1;
    entered[arc.end] = 1;
  }
  for (std::uint32_t node = 0; node <= last; ++node) {
    if ((node < last && !left[node]) || (node > 0 && !entered[node]))
      fail("node " + std::to_string(node) + " is on no path");
  }
  if (!std::ranges::all_of(lattice.scores, [](double score) { return std::isfinite(score); }))
    fail("a score is not finite");
}

}  // namespace hiero
