// Random language model states of few words, for tests of what compares states.
#pragma once

#include "hiero/lm/language_model.h"
#include "random_rules.h"

namespace hiero {

inline ChartState random_state(Random& random) {
  ChartState state{};
  state.left.length = static_cast<unsigned char>(below(random, 3));
  for (unsigned i = 0; i < state.left.length; ++i) state.left.pointers[i] = below(random, 2);
  state.right.length = static_cast<unsigned char>(below(random, 3));
  for (unsigned i = 0; i < state.right.length; ++i)
    state.right.words[i] = static_cast<LmWord>(below(random, 2));
  state.left.full = below(random, 2) == 0;
  return state;
}

// Whether items with these states, one per language model, recombine.
inline bool same_states(const ChartState* a, const ChartState* b, std::size_t lms) {
  for (std::size_t k = 0; k < lms; ++k) {
    if (!(a[k] == b[k]) || a[k].left.full != b[k].left.full) return false;
  }
  return true;
}

}  // namespace hiero
