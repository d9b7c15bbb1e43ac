#include "hiero/align/symmetrise.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace hiero {
namespace {

bool before(const AlignmentLink& a, const AlignmentLink& b) {
  return a.source != b.source ? a.source < b.source : a.target < b.target;
}

}  // namespace

std::optional<Heuristic> heuristic_of(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Heuristic>, 5> kNames{{
      {"intersection", Heuristic::kIntersection},
      {"union", Heuristic::kUnion},
      {"grow-diag", Heuristic::kGrowDiag},
      {"grow-diag-final", Heuristic::kGrowDiagFinal},
      {"grow-diag-final-and", Heuristic::kGrowDiagFinalAnd},
  }};
  for (const auto& [known, heuristic] : kNames) {
    if (known == name) return heuristic;
  }
  return std::nullopt;
}

std::span<const AlignmentLink> Symmetriser::links(std::span<const LinkPosition> forward,
                                                  std::span<const LinkPosition> backward) {
  sources_ = backward.size();
  targets_ = forward.size();
  forward_.clear();
  backward_.clear();
  for (std::uint32_t t = 0; t < targets_; ++t) {
    if (forward[t] != kNoLink) forward_.push_back({forward[t], t});
  }
  for (std::uint32_t s = 0; s < sources_; ++s) {
    if (backward[s] != kNoLink) backward_.push_back({s, backward[s]});
  }
  std::ranges::sort(forward_, before);
  links_.clear();
  if (heuristic_ == Heuristic::kUnion) {
    std::ranges::set_union(forward_, backward_, std::back_inserter(links_), before);
    return links_;
  }
  std::ranges::set_intersection(forward_, backward_, std::back_inserter(links_), before);
  if (heuristic_ == Heuristic::kIntersection) return links_;
  grow();
  if (heuristic_ != Heuristic::kGrowDiag) {
    const bool both = heuristic_ == Heuristic::kGrowDiagFinalAnd;
    for (const auto* direction : {&forward_, &backward_}) {
      for (const AlignmentLink& link : *direction) {
        const bool source = source_linked_[link.source];
        const bool target = target_linked_[link.target];
        if (both ? !source && !target : !source || !target) add(link);
      }
    }
  }
  std::ranges::sort(links_, before);
  return links_;
}

// Adds links of the union beside links until there are no more.
void Symmetriser::grow() {
  matrix_.assign(sources_ * targets_, 0);
  source_linked_.assign(sources_, 0);
  target_linked_.assign(targets_, 0);
  for (const AlignmentLink& link : std::exchange(links_, {})) add(link);
  union_.clear();
  std::ranges::set_union(forward_, backward_, std::back_inserter(union_), before);
  for (bool grown = true; grown;) {
    grown = false;
    for (const AlignmentLink& link : union_) {
      if (source_linked_[link.source] && target_linked_[link.target]) continue;
      if (!is_beside_a_link(link)) continue;
      add(link);
      grown = true;
    }
  }
}

void Symmetriser::add(const AlignmentLink& link) {
  links_.push_back(link);
  matrix_[link.source * targets_ + link.target] = 1;
  source_linked_[link.source] = target_linked_[link.target] = 1;
}

bool Symmetriser::is_beside_a_link(const AlignmentLink& link) const {
  const std::size_t first_source = link.source - std::min<std::size_t>(link.source, 1);
  const std::size_t first_target = link.target - std::min<std::size_t>(link.target, 1);
  for (std::size_t s = first_source; s <= std::min<std::size_t>(link.source + 1, sources_ - 1); ++s) {
    for (std::size_t t = first_target; t <= std::min<std::size_t>(link.target + 1, targets_ - 1); ++t) {
      if (matrix_[s * targets_ + t]) return true;
    }
  }
  return false;
}

}  // namespace hiero
