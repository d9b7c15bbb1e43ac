// Shared by the forest and decoder bindings.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bindings.h"
#include "hiero/forest/hypergraph.h"

namespace hiero {

struct Derivation {
  std::shared_ptr<const Hypergraph> forest;
  double score;
  std::vector<EdgeIndex> edges;
};

std::string join(const std::vector<std::string>& tokens);
py::dict feature_dict(const Hypergraph& forest, std::span<const EdgeIndex> edges);
std::vector<Derivation> kbest(const std::shared_ptr<const Hypergraph>& forest, std::vector<double> scores,
                              std::size_t k, bool unique);

}  // namespace hiero
