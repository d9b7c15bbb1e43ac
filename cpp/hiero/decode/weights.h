// Weights in the order of a model's features, and unpacked per table for the scoring loops, where they are
// those of natural logarithms, whatever base the features have. Making one costs the number of features;
// tables hold no weights.
#pragma once

#include <memory>
#include <vector>

#include "hiero/decode/translation_model.h"

namespace hiero {

struct Weights {
  std::vector<double> values;                 // by model feature, and then those of one sentence's rules
  std::vector<std::vector<double>> by_table;  // by table, then table feature
  std::vector<double> lm;                     // by LM
  std::vector<double> oov;                    // by LM
  double word_penalty = 0;
  double rule_penalty = 0;

  // Throws std::invalid_argument unless there is one finite value per feature.
  Weights(const TranslationModel& model, std::vector<double> by_feature);

  // Of a feature's value where a logarithm is natural.
  double natural(const TranslationModel& model, std::uint32_t feature) const {
    return values[feature] * model.scale(feature);
  }
  // The weights of a table bound for one sentence.
  std::vector<double> of_table(const TranslationModel& model, const BoundTable& bound) const;
};

}  // namespace hiero
