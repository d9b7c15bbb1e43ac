#include <algorithm>
#include <limits>
#include <utility>

#include "bind_forest.h"
#include "bind_local_features.h"
#include "bind_settings.h"
#include "hiero/decode/decoder.h"
#include "hiero/forest/edge_values.h"
#include "hiero/forest/kbest.h"
#include "hiero/grammar/rule_table.h"

namespace hiero {
namespace {

void make_model(TranslationModel* self, const std::vector<std::shared_ptr<RuleTable>>& tables,
                const std::vector<std::string>& owners, const std::vector<std::string>& statics,
                const std::vector<std::shared_ptr<LanguageModel>>& lms,
                const std::vector<nb::object>& local_features, const std::string& goal,
                const std::vector<std::string>& copy_labels, const std::vector<std::string>& glue_labels,
                double log_base, const std::vector<std::string>& log_features,
                const std::vector<std::string>& sentence_features) {
  if (tables.size() != owners.size() || tables.size() != statics.size()) {
    throw std::invalid_argument("expected an owner and a file of estimates (or \"\") per table");
  }
  const auto is_none = [](const auto& part) { return part == nullptr; };
  if (std::ranges::any_of(tables, is_none) || std::ranges::any_of(lms, is_none))
    throw nb::type_error("expected rule tables and language models, not None");
  ModelParts parts;
  for (std::size_t t = 0; t < tables.size(); ++t) parts.tables.push_back({tables[t], owners[t], statics[t]});
  parts.lms.assign(lms.begin(), lms.end());
  for (const nb::object& object : local_features) add_local_features(object, parts);
  parts.goal = goal;
  parts.copy_labels = copy_labels;
  parts.glue_labels = glue_labels;
  parts.log_base = log_base;
  parts.log_features = log_features;
  parts.sentence_features = sentence_features;
  const nb::gil_scoped_release release;
  new (self) TranslationModel(std::move(parts));
}

std::shared_ptr<const Weights> make_weights(const TranslationModel& model, const Array<double>& values) {
  if (values.ndim() != 1) throw std::invalid_argument("expected a vector of weights");
  return std::make_shared<const Weights>(model,
                                         std::vector<double>(values.values().begin(), values.values().end()));
}

// The one derivation a translation is read from; empty if there is no parse.
std::vector<EdgeIndex> best_edges(const Translation& translation) {
  const Hypergraph& best = *translation.best->graph;
  return viterbi(best, std::vector<double>(best.edge_count(), 0.0), best.root);
}

// Its score is summed as in k-best lists, which begin with it.
Derivation best_derivation(const Translation& translation) {
  const auto& best = translation.best;
  const NodeIndex root = best->graph->root;
  if (root < 0) return {best, 0.0, {}};
  auto first = KBest(*best, root, edge_scores(*best, *translation.weights), false).next();
  if (!first) return {best, -std::numeric_limits<double>::infinity(), best_edges(translation)};
  return {best, first->score, std::move(first->edges)};
}

std::vector<std::string> tokens_of(const Translation& translation) {
  std::vector<std::string> tokens;
  for (std::int32_t word : yield_words(*translation.best, best_edges(translation))) {
    tokens.push_back(translation.best->graph->words[word]);
  }
  return tokens;
}

// What a translation keeps where it is asked to.
template <class T>
std::shared_ptr<const T> kept(const std::shared_ptr<const T>& part, const char* name, const char* how) {
  if (!part)
    throw nb::attribute_error((std::string("no ") + name + " was kept: translate with " + how).c_str());
  return part;
}

std::vector<Derivation> kbest_of(const Translation& translation, Py_ssize_t given, Truth unique) {
  if (!translation.forest)
    throw std::invalid_argument("kbest needs a forest: translate with keep=\"forest\"");
  const std::size_t k = count_of(given, "k");
  const nb::gil_scoped_release release;
  std::vector<double> scores = edge_scores(*translation.forest, *translation.weights);
  return kbest(translation.forest, translation.forest->graph->root, std::move(scores), k, unique,
               allow_interrupt);
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
                        translation.unknown, translation.text, translation.stats);
}

Translation translation_from(const nb::tuple& state) {
  if (state.size() != 6)
    throw ForestError("translation: expected weights, forests and what is known of them");
  Translation out;
  const auto weights = nb::cast<Array<double>>(state[0]);
  out.weights = std::make_shared<std::vector<double>>(weights.values().begin(), weights.values().end());
  out.best = nb::cast<std::shared_ptr<Forest>>(state[1]);
  out.forest = nb::cast<std::shared_ptr<Forest>>(state[2]);
  out.unknown = nb::cast<std::vector<std::uint32_t>>(state[3]);
  out.text = nb::cast<std::optional<std::string>>(state[4]);
  out.stats = nb::cast<DecodeStats>(state[5]);
  const auto is_weighted = [&](const std::shared_ptr<const Forest>& forest) {
    return forest->feature_names->size() == out.weights->size();
  };
  if (!out.best || !is_weighted(out.best) || (out.forest && !is_weighted(out.forest)))
    throw ForestError("translation: expected a weight for each feature of its forests");
  return out;
}

void register_translation(nb::module_& m) {
  define<DecodeStats>(m, "DecodeStats", "What decoding one sentence cost.")
      .def_ro("applications", &DecodeStats::applications, "Rule applications matched.")
      .def_ro("cells", &DecodeStats::cells, "Chart cells searched.")
      .def_ro("hypotheses", &DecodeStats::hypotheses, "Complete hypotheses made.")
      .def_ro("completed", &DecodeStats::completed,
              "And those made besides, for split points without one (keep=\"splits\").")
      .def_ro("lm_queries", &DecodeStats::lm_queries, "N-gram look-ups in all language models.")
      .def(pickle<nb::tuple>(&stats_state, &stats_from))
      .def("__repr__", [](const DecodeStats& stats) {
        return described("DecodeStats", {{"applications", nb::int_(stats.applications)},
                                         {"cells", nb::int_(stats.cells)},
                                         {"hypotheses", nb::int_(stats.hypotheses)},
                                         {"completed", nb::int_(stats.completed)},
                                         {"lm_queries", nb::int_(stats.lm_queries)}});
      });

  define<Translation>(m, "Translation",
                      "A sentence's translation. Without a parse, tokens are empty and has_parse is False.")
      .def_prop_ro("has_parse", [](const Translation& t) { return t.best->graph->root >= 0; })
      .def_prop_ro("tokens", &tokens_of)
      .def_prop_rw(
          "text", [](const Translation& t) { return t.text ? *t.text : join(tokens_of(t)); },
          [](Translation& t, const std::string& text) { t.text = text; },
          "The tokens as text: detokenised if raw text was given, else with blanks between.")
      .def_prop_ro(
          "score", [](const Translation& t) { return best_derivation(t).score; },
          "Model score, weights . features (natural log).")
      .def_prop_ro(
          "features", [](const Translation& t) { return feature_dict(*t.best, best_edges(t)); },
          "Feature sums by name; absent features are 0.")
      .def_prop_ro(
          "weights",
          [](const Translation& t) {
            nb::dict weights;
            for (std::size_t i = 0; i < t.best->feature_names->size(); ++i)
              weights[nb::cast((*t.best->feature_names)[i])] = (*t.weights)[i];
            return weights;
          },
          "The weights that it was scored by, by feature.")
      .def_prop_ro("derivation", &best_derivation)
      .def_prop_ro(
          "alignment", [](const Translation& t) { return alignment(*t.best, best_edges(t)); },
          "Sorted (source position, target position) pairs.")
      .def_prop_ro("source", [](const Translation& t) { return t.best->graph->source; })
      .def_ro("unknown", &Translation::unknown,
              "Positions of the words that are the whole source side of no rule, those that copy words "
              "aside, and that\n"
              "no rule for the sentence covers where it matches.")
      .def_prop_ro(
          "forest", [](const Translation& t) { return kept(t.forest, "forest", "keep=\"forest\""); },
          "The searched space (with keep=\"forest\"). Raises AttributeError where it was not kept.")
      .def_prop_ro(
          "chart",
          [](const Translation& t) { return kept(t.chart, "chart", "keep=\"chart\" or keep=\"splits\""); },
          "What search left in every cell (with keep=\"chart\" or \"splits\"). Raises AttributeError where "
          "it "
          "was not kept.")
      .def_ro("stats", &Translation::stats)
      .def("kbest", &kbest_of, nb::arg("k"), nb::arg("unique") = false,
           "The k best derivations, best first (with keep=\"forest\"); `unique` keeps one per string.")
      .def(pickle<nb::tuple>(&translation_state, &translation_from))
      .def("__repr__",
           [](const nb::object& self) {
             return described("Translation", {{"text", self.attr("text")}, {"score", self.attr("score")}});
           })
      .def("_repr_html_", &picture);
}

}  // namespace

void register_decode(nb::module_& m) {
  register_options<DecoderOptions>(m, "DecoderOptions", "Every setting of a decoder.");
  register_translation(m);
  define<TranslationModel>(m, "TranslationModel")
      .def("__init__", &make_model, nb::arg("tables"), nb::arg("owners"), nb::arg("statics"), nb::arg("lms"),
           nb::arg("local_features"), nb::arg("goal"), nb::arg("copy_labels"), nb::arg("glue_labels"),
           nb::arg("log_base") = 0.0, nb::arg("log_features") = std::vector<std::string>(),
           nb::arg("sentence_features") = std::vector<std::string>())
      .def_prop_ro("feature_names", [](const TranslationModel& model) { return model.shared_features(); })
      .def_prop_ro("scales",
                   [](const TranslationModel& model) {
                     std::vector<double> scales;
                     for (std::uint32_t f = 0; f < model.features().size(); ++f)
                       scales.push_back(model.scale(f));
                     return scales;
                   })
      .def(
          "save_statics",
          [](const TranslationModel& model, std::size_t table, const std::string& path) {
            const BoundTable& bound = model.tables().at(table);
            save_rule_estimates(bound.estimates, *bound.table, model.lms(), path);
          },
          nb::arg("table"), nb::arg("path"), nb::call_guard<nb::gil_scoped_release>())
      .def(
          "rule",
          [](const TranslationModel& model, Py_ssize_t table, Py_ssize_t rule) {
            const BoundTable& bound = model.tables()[index_of(table, model.tables().size(), "table")];
            const std::size_t id = index_of(rule, bound.table->rule_count(), "rule");
            return bound.table->rule(static_cast<RuleId>(id), bound.table->feature_names(bound.owner));
          },
          nb::arg("table"), nb::arg("rule"))
      .def_prop_ro("goal", &TranslationModel::goal_name)
      .def_prop_ro("labels", &TranslationModel::labels)
      .def_prop_ro("owners", [](const TranslationModel& model) {
        std::vector<std::string> owners;
        for (const BoundTable& bound : model.tables()) owners.push_back(bound.owner);
        return owners;
      });
  define<Decoder>(m, "Decoder")
      .def(
          "__init__",
          [](Decoder* self, const std::shared_ptr<TranslationModel>& model, const Array<double>& weights,
             const DecoderOptions& options) {
            new (self) Decoder(model, make_weights(*model, weights), options);
          },
          nb::arg("model"), nb::arg("weights"), nb::arg("options"))
      .def("with_weights",
           [](const Decoder& decoder, const Array<double>& weights) {
             return std::make_shared<Decoder>(decoder.with_weights(make_weights(*decoder.model(), weights)));
           })
      .def(
          "translate",
          [](const Decoder& decoder, std::vector<std::string> tokens, const std::vector<Rule>& rules,
             const SentenceWeights& own, const nb::object& sentence, const std::string& keep) {
            SentenceInput input{std::move(tokens), rules, own, annotations_of(sentence)};
            const nb::gil_scoped_release release;
            return decoder.translate(std::move(input), value_named<Keep>(keep, "keep"));
          },
          nb::arg("tokens"), nb::arg("rules"), nb::arg("own_weights"), nb::arg("sentence").none(),
          nb::arg("keep"));
}

}  // namespace hiero
