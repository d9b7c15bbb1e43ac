#include "hiero/decode/weights.h"

#include <cmath>
#include <stdexcept>

namespace hiero {

Weights::Weights(const TranslationModel& model, std::vector<double> by_feature)
    : values(std::move(by_feature)) {
  if (values.size() != model.features().size()) {
    throw std::invalid_argument("expected " + std::to_string(model.features().size()) + " weights, got " +
                                std::to_string(values.size()));
  }
  for (std::size_t f = 0; f < values.size(); ++f) {
    if (!std::isfinite(values[f])) {
      throw std::invalid_argument("weight of " + model.features()[f] + " is not finite");
    }
  }
  for (const BoundTable& bound : model.tables()) by_table.push_back(for_table(model, bound));
  for (std::size_t k = 0; k < model.lms().size(); ++k) {
    lm.push_back(natural(model, model.lm_feature(k)));
    oov.push_back(values[model.oov_feature(k)]);
  }
  word_penalty = values[model.word_penalty()];
  rule_penalty = values[model.rule_penalty()];
}

std::vector<double> Weights::for_table(const TranslationModel& model, const BoundTable& bound) const {
  std::vector<double> out;
  out.reserve(bound.features.size());
  for (std::uint32_t feature : bound.features) out.push_back(natural(model, feature));
  return out;
}

}  // namespace hiero
