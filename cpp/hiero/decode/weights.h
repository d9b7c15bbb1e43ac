// Weights in the order of a model's features, and unpacked per table for the scoring loops. The unpacked
// weights multiply natural logarithms, whatever base the model's features have. Making one takes time linear
// in the number of features, as tables hold no weights.
#pragma once

#include <memory>
#include <vector>

#include "hiero/decode/translation_model.h"

namespace hiero {

struct Weights {
  std::vector<double> values;                 // by model feature, then by feature of the sentence's rules
  std::vector<std::vector<double>> by_table;  // by table, then table feature
  std::vector<double> lm;                     // by LM
  std::vector<double> oov;                    // by LM
  double word_penalty = 0;
  double rule_penalty = 0;

  // Throws std::invalid_argument unless there is one finite value per feature.
  Weights(const TranslationModel& model, std::vector<double> by_feature);

  // The weight of a feature whose value is a natural logarithm, if it is a logarithm at all.
  double natural(const TranslationModel& model, std::uint32_t feature) const {
    return values[feature] * model.scale(feature);
  }
  // The weights of a table's features, also of one bound for a single sentence.
  std::vector<double> for_table(const TranslationModel& model, const BoundTable& bound) const;
};

}  // namespace hiero
