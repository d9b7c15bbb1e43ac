// Joins the links of both directions of word alignment (Koehn, Och and Marcu 2003, section 4; Koehn et al.
// 2005).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "hiero/align/direction_model.h"
#include "hiero/base/alignment_link.h"

namespace hiero {

enum class Heuristic {
  kIntersection,
  kUnion,
  // The intersection, and links of the union beside a link that is there, if one of their words has none.
  kGrowDiag,
  // As well links of either direction, if one of their words has none.
  kGrowDiagFinal,
  // As well links of either direction, if both of their words have none.
  kGrowDiagFinalAnd,
};

// Returns the heuristic of a name such as "grow-diag-final-and", if there is one.
std::optional<Heuristic> heuristic_of(std::string_view name);

class Symmetriser {
 public:
  explicit Symmetriser(Heuristic heuristic) : heuristic_(heuristic) {}

  // Returns the links of a pair, sorted, which are valid until the next call. `forward` has the source
  // position of every target word, `backward` the target position of every source word.
  std::span<const AlignmentLink> links(std::span<const LinkPosition> forward,
                                       std::span<const LinkPosition> backward);

 private:
  bool is_beside_a_link(const AlignmentLink& link) const;
  void add(const AlignmentLink& link);
  void grow();

  Heuristic heuristic_;
  std::size_t sources_ = 0, targets_ = 0;
  std::vector<AlignmentLink> forward_, backward_, union_;  // sorted
  std::vector<std::uint8_t> matrix_;                       // source by target words: whether they are linked
  std::vector<std::uint8_t> source_linked_, target_linked_;
  std::vector<AlignmentLink> links_;
};

}  // namespace hiero
