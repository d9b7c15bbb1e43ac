#include "conversions.h"
#include "hiero/base/error.h"
#include "hiero/base/join_strings.h"
#include "hiero/decode/translation.h"

namespace hiero {
namespace {

// Returns a part of a translation, or raises AttributeError saying how to keep it.
template <class T>
std::shared_ptr<const T> kept_part(const std::shared_ptr<const T>& part, const char* name, const char* how) {
  if (!part)
    throw nb::attribute_error((std::string("no ") + name + " was kept: translate with " + how).c_str());
  return part;
}

FeatureValues weights_by_name(const Translation& translation) {
  const FeatureNames& names = *translation.best->feature_names;
  nb::dict weights;
  for (std::uint32_t i = 0; i < names.size(); ++i) weights[nb::cast(names[i])] = (*translation.weights)[i];
  return nb::object(weights);
}

std::vector<Derivation> translation_kbest(const Translation& translation, Py_ssize_t k, Truth unique) {
  const std::size_t count = count_of(k, "k");
  const nb::gil_scoped_release release;
  return translation.kbest(count, unique);
}

std::vector<double> translation_confidence(const Translation& translation,
                                           const std::optional<Derivation>& derivation) {
  const nb::gil_scoped_release release;
  return translation.confidence(derivation ? *derivation : translation.derivation());
}

nb::tuple stats_state(const DecodeStats& stats) {
  return nb::make_tuple(stats.applications, stats.cells, stats.hypotheses, stats.completed, stats.lm_queries);
}

DecodeStats stats_from(const nb::tuple& state) {
  if (state.size() != 5) throw FormatError("DecodeStats: expected 5 numbers");
  const auto number = [&](std::size_t at) { return nb::cast<std::uint64_t>(state[at]); };
  return {number(0), number(1), number(2), number(3), number(4)};
}

nb::tuple translation_state(const Translation& translation) {
  if (translation.chart) {
    throw nb::type_error(
        "a chart needs its model and cannot be pickled, nor a translation that keeps one: "
        "pickle its .chart.forest, or translate with keep=\"forest\"");
  }
  return nb::make_tuple(as_array(*translation.weights), translation.best, translation.forest,
                        translation.unknown, translation.text, translation.temperature, translation.stats,
                        translation.gap, translation.uncovered.source, translation.uncovered.target);
}

Translation translation_from(const nb::tuple& state) {
  if (state.size() != 10)
    throw ForestError("translation: expected weights, forests and what is known of them");
  Translation out;
  const auto weights = nb::cast<Array<double>>(state[0]);
  out.weights = std::make_shared<std::vector<double>>(weights.values().begin(), weights.values().end());
  out.best = nb::cast<std::shared_ptr<Forest>>(state[1]);
  out.forest = nb::cast<std::shared_ptr<Forest>>(state[2]);
  out.unknown = nb::cast<std::vector<std::uint32_t>>(state[3]);
  out.text = nb::cast<std::optional<std::string>>(state[4]);
  out.temperature = nb::cast<double>(state[5]);
  out.stats = nb::cast<DecodeStats>(state[6]);
  out.gap = nb::cast<double>(state[7]);
  out.uncovered.source = nb::cast<std::vector<std::uint32_t>>(state[8]);
  out.uncovered.target = nb::cast<std::vector<std::uint32_t>>(state[9]);
  const auto has_weights = [&](const std::shared_ptr<const Forest>& forest) {
    return forest->feature_names->size() == out.weights->size();
  };
  if (!out.best || !has_weights(out.best) || (out.forest && !has_weights(out.forest)))
    throw ForestError("translation: expected a weight for each feature of its forests");
  return out;
}

void register_stats(nb::module_& m) {
  define<DecodeStats>(m, "DecodeStats", "Cost of decoding a sentence.")
      .def_ro("applications", &DecodeStats::applications, "Number of rule applications matched.")
      .def_ro("cells", &DecodeStats::cells, "Number of chart cells searched.")
      .def_ro("hypotheses", &DecodeStats::hypotheses, "Number of complete hypotheses.")
      .def_ro("completed", &DecodeStats::completed,
              "Number of further hypotheses, for split points without one (keep=\"splits\").")
      .def_ro("lm_queries", &DecodeStats::lm_queries, "Number of n-gram look-ups in all language models.")
      .def(pickle<nb::tuple>(&stats_state, &stats_from))
      .def("__repr__", [](const DecodeStats& stats) {
        return described("DecodeStats", {{"applications", nb::int_(stats.applications)},
                                         {"cells", nb::int_(stats.cells)},
                                         {"hypotheses", nb::int_(stats.hypotheses)},
                                         {"completed", nb::int_(stats.completed)},
                                         {"lm_queries", nb::int_(stats.lm_queries)}});
      });
}

void register_best(nb::class_<Translation>& translation) {
  translation
      .def_prop_ro("has_parse", &Translation::has_parse,
                   "Whether rules derive the sentence; if not, there are no tokens.")
      .def_prop_ro("tokens", &Translation::tokens, "Target words.")
      .def_prop_rw(
          "text", [](const Translation& t) { return t.text ? *t.text : join_strings(t.tokens()); },
          [](Translation& t, const std::string& text) { t.text = text; },
          "Translation as text: detokenised if raw text was translated, else tokens with blanks between\n"
          "them.")
      .def_prop_ro(
          "score", [](const Translation& t) { return t.derivation().score; },
          "Model score, weights . features (natural log).")
      .def_prop_ro(
          "features", [](const Translation& t) { return feature_dict(*t.best, t.features()); },
          "Feature sums by name; features that it does not have are 0.")
      .def_prop_ro("weights", &weights_by_name, "Weights that it was scored with, by feature name.")
      .def_prop_ro("derivation", &Translation::derivation, "Best derivation.")
      .def_prop_ro("alignment", &Translation::alignment,
                   "Word alignment: sorted (source position, target position) pairs.")
      .def_prop_ro(
          "source", [](const Translation& t) { return t.best->graph->source; },
          "Tokens of the source sentence.");
}

}  // namespace

void register_translation(nb::module_& m) {
  register_stats(m);
  auto translation = define<Translation>(m, "Translation", "Translation of a sentence.");
  register_best(translation);
  translation
      .def_prop_ro(
          "uncovered_source", [](const Translation& t) { return t.uncovered.source; },
          "Positions of source words that no rule translates in agreement with the sentence's constraint,\n"
          "where no derivation obeys it.")
      .def_prop_ro(
          "uncovered_target", [](const Translation& t) { return t.uncovered.target; },
          "Positions of words of the only reference, or of the prefix without one, that no rule brings in\n"
          "agreement with the sentence's constraint, where no derivation obeys it.")
      .def_ro("unknown", &Translation::unknown,
              "Positions of unknown source words: those that are the whole source side of no rule, but for\n"
              "rules that copy words, and that no rule of the sentence itself covers.")
      .def_prop_ro(
          "forest", [](const Translation& t) { return kept_part(t.forest, "forest", "keep=\"forest\""); },
          R"(Forest of all derivations that search considered (with keep="forest").

Raises:
    AttributeError: The forest was not kept.)")
      .def_prop_ro(
          "chart",
          [](const Translation& t) {
            return kept_part(t.chart, "chart", "keep=\"chart\" or keep=\"splits\"");
          },
          R"(Chart of all items that search left (with keep="chart" or keep="splits").

Raises:
    AttributeError: The chart was not kept.)")
      .def_prop_ro(
          "optimal", &Translation::optimal,
          "Whether no derivation within the decoder's span_limit and ttable_limit has a higher score,\n"
          "but for the rounding of sums.")
      .def_ro("gap", &Translation::gap,
              "Bound on how much higher the score of the best derivation can be (natural log): 0 if the\n"
              "translation is optimal, infinity if nothing is known.")
      .def_ro("was_late", &Translation::was_late,
              "Whether the deadline ended the search, which then is not what it is without one.")
      .def_ro("stats", &Translation::stats, "Cost of decoding.")
      .def("kbest", &translation_kbest, nb::arg("k"), nb::arg("unique") = false,
           R"(Returns the k best derivations, best first (with keep="forest").

Args:
    k: Number of derivations; fewer are returned where there are no more.
    unique: Return only the best derivation of every target string.

Raises:
    ValueError: The forest was not kept, or k is negative.)")
      .def("confidence", &translation_confidence, nb::arg("derivation") = nb::none(),
           R"(Returns how sure each target word is, from 0 to 1 (with keep="forest").

It is the expected number of times that a translation has the word, by the forest, over the
number of times that this one has it: for a word that stands once, the probability that a
translation has it. A derivation has the probability exp(score / temperature) / Z, with the
decoder's confidence_temperature. Words that were unknown and copied have 0.

Args:
    derivation: A derivation of the sentence; the best one by default.

Raises:
    ValueError: The forest was not kept.)")
      .def(pickle<nb::tuple>(&translation_state, &translation_from))
      .def("__repr__",
           [](const nb::object& self) {
             return described("Translation", {{"text", self.attr("text")}, {"score", self.attr("score")}});
           })
      .def("_repr_html_", &picture);
}

}  // namespace hiero
