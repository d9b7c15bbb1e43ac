#include "bindings.h"

NB_MODULE(_core, m) {
  m.doc() = "C++ core of hiero.";
  // Objects that live when Python ends are in reference cycles that Python's garbage collector cannot see,
  // such as a model with features of a script, which refer to the script's names. Users need no warning of
  // them.
  nanobind::set_leak_warnings(false);
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
  hiero::register_translation(m);
  hiero::register_decode(m);
  hiero::register_extract(m);
  hiero::register_extract_shards(m);
  hiero::register_corrections(m);
  hiero::register_align(m);
  hiero::register_problems(m);
  hiero::register_tune(m);
  hiero::register_risk(m);
}
