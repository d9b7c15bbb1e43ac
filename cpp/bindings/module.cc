#include "bindings.h"

PYBIND11_MODULE(_core, m) {
  m.doc() = "The C++ core of hiero.";
  hiero::register_errors(m);
  hiero::register_interrupts();
  hiero::register_files(m);
  hiero::register_settings(m);
  hiero::register_grammar(m);
  hiero::register_lm(m);
  hiero::register_feature_names(m);
  hiero::register_forest(m);
  hiero::register_semiring(m);
  hiero::register_references(m);
  hiero::register_oracle(m);
  hiero::register_local_features(m);
  hiero::register_chart(m);
  hiero::register_outside(m);
  hiero::register_decode(m);
  hiero::register_extract(m);
  hiero::register_tune(m);
  hiero::register_risk(m);
}
