#pragma once

#include "bindings.h"
#include "hiero/forest/derivation.h"
#include "hiero/forest/ngrams.h"

namespace hiero {

// Returns the n-grams as a list of tuples of words.
inline Annotated<"list[tuple[str, ...]]"> ngram_tuples(const EdgeNgrams& ngrams, const Hypergraph& forest) {
  nb::list out;
  for (const std::vector<std::int32_t>& ngram : ngrams.ngrams)
    out.append(nb::tuple(nb::cast(tokens(forest, ngram))));
  return nb::object(out);
}

}  // namespace hiero
