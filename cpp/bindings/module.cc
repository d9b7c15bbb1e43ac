#include "bindings.h"

NB_MODULE(_core, m) {
  m.doc() = "The C++ core of hiero.";
  // What lives when Python ends is in cycles that Python cannot see, such as of a script's features, which a
  // model holds and which see the script's names: no fault to tell users of.
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
  hiero::register_decode(m);
  hiero::register_extract(m);
  hiero::register_tune(m);
  hiero::register_risk(m);
}
