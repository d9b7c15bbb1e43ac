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

using Vector = py::array_t<double, py::array::c_style | py::array::forcecast>;

std::shared_ptr<TranslationModel> make_model(
    const std::vector<std::shared_ptr<RuleTable>>& tables, const std::vector<std::string>& owners,
    const std::vector<std::string>& statics, const std::vector<std::shared_ptr<LanguageModel>>& lms,
    const std::vector<py::object>& local_features, const std::string& goal,
    const std::vector<std::string>& copy_labels, const std::vector<std::string>& glue_labels, double log_base,
    const std::vector<std::string>& log_features, const std::vector<std::string>& sentence_features) {
  if (tables.size() != owners.size() || tables.size() != statics.size()) {
    throw std::invalid_argument("expected an owner and a file of estimates (or \"\") per table");
  }
  const auto is_none = [](const auto& part) { return part == nullptr; };
  if (std::ranges::any_of(tables, is_none) || std::ranges::any_of(lms, is_none))
    throw py::type_error("expected rule tables and language models, not None");
  ModelParts parts;
  for (std::size_t t = 0; t < tables.size(); ++t) parts.tables.push_back({tables[t], owners[t], statics[t]});
  parts.lms.assign(lms.begin(), lms.end());
  for (const py::object& object : local_features) add_local_features(object, parts);
  parts.goal = goal;
  parts.copy_labels = copy_labels;
  parts.glue_labels = glue_labels;
  parts.log_base = log_base;
  parts.log_features = log_features;
  parts.sentence_features = sentence_features;
  const py::gil_scoped_release release;
  return std::make_shared<TranslationModel>(std::move(parts));
}

std::shared_ptr<const Weights> make_weights(const TranslationModel& model, const Vector& values) {
  if (values.ndim() != 1) throw std::invalid_argument("expected a vector of weights");
  return std::make_shared<const Weights>(model,
                                         std::vector<double>(values.data(), values.data() + values.size()));
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
std::shared_ptr<T> kept(const std::shared_ptr<const T>& part, const char* name, const char* how) {
  if (!part) throw py::attribute_error(std::string("no ") + name + " was kept: translate with " + how);
  return std::const_pointer_cast<T>(part);
}

std::vector<Derivation> kbest_of(const Translation& translation, py::ssize_t given, bool unique) {
  if (!translation.forest)
    throw std::invalid_argument("kbest needs a forest: translate with keep=\"forest\"");
  const std::size_t k = count_of(given, "k");
  const py::gil_scoped_release release;
  std::vector<double> scores = edge_scores(*translation.forest, *translation.weights);
  return kbest(translation.forest, translation.forest->graph->root, std::move(scores), k, unique,
               allow_interrupt);
}

py::tuple stats_state(const DecodeStats& stats) {
  return py::make_tuple(stats.applications, stats.cells, stats.hypotheses, stats.completed, stats.lm_queries);
}

DecodeStats stats_from(const py::tuple& state) {
  if (state.size() != 5) throw FormatError("DecodeStats: expected 5 numbers");
  const auto number = [&](std::size_t at) { return state[at].cast<std::uint64_t>(); };
  return {number(0), number(1), number(2), number(3), number(4)};
}

py::tuple translation_state(const Translation& translation) {
  if (translation.chart) {
    throw py::type_error("a chart needs its model and cannot be pickled, nor a translation that keeps one: "
                         "pickle its .chart.forest, or translate with keep=\"forest\"");
  }
  return py::make_tuple(as_array(*translation.weights), std::const_pointer_cast<Forest>(translation.best),
                        std::const_pointer_cast<Forest>(translation.forest), translation.unknown,
                        translation.text, translation.stats);
}

Translation translation_from(const py::tuple& state) {
  if (state.size() != 6) throw ForestError("translation: expected weights, forests and what is known of them");
  Translation out;
  const auto weights = state[0].cast<DoubleVector>();
  out.weights = std::make_shared<std::vector<double>>(weights.data(), weights.data() + weights.size());
  out.best = state[1].cast<std::shared_ptr<Forest>>();
  out.forest = state[2].cast<std::shared_ptr<Forest>>();
  out.unknown = state[3].cast<std::vector<std::uint32_t>>();
  out.text = state[4].cast<std::optional<std::string>>();
  out.stats = state[5].cast<DecodeStats>();
  const auto is_weighted = [&](const std::shared_ptr<const Forest>& forest) {
    return forest->feature_names->size() == out.weights->size();
  };
  if (!out.best || !is_weighted(out.best) || (out.forest && !is_weighted(out.forest)))
    throw ForestError("translation: expected a weight for each feature of its forests");
  return out;
}

void register_translation(py::module_& m) {
  py::class_<DecodeStats>(m, "DecodeStats", "What decoding one sentence cost.")
      .def_readonly("applications", &DecodeStats::applications, "Rule applications matched.")
      .def_readonly("cells", &DecodeStats::cells, "Chart cells searched.")
      .def_readonly("hypotheses", &DecodeStats::hypotheses, "Complete hypotheses made.")
      .def_readonly("completed", &DecodeStats::completed,
                    "And those made besides, for split points without one (keep=\"splits\").")
      .def_readonly("lm_queries", &DecodeStats::lm_queries, "N-gram look-ups in all language models.")
      .def(py::pickle(&stats_state, &stats_from))
      .def("__repr__", [](const DecodeStats& stats) {
        return described("DecodeStats", {{"applications", py::int_(stats.applications)},
                                         {"cells", py::int_(stats.cells)},
                                         {"hypotheses", py::int_(stats.hypotheses)},
                                         {"completed", py::int_(stats.completed)},
                                         {"lm_queries", py::int_(stats.lm_queries)}});
      });

  py::class_<Translation>(
      m, "Translation", "A sentence's translation. Without a parse, tokens are empty and has_parse is False.")
      .def_property_readonly("has_parse", [](const Translation& t) { return t.best->graph->root >= 0; })
      .def_property_readonly("tokens", &tokens_of)
      .def_property(
          "text", [](const Translation& t) { return t.text ? *t.text : join(tokens_of(t)); },
          [](Translation& t, const std::string& text) { t.text = text; },
          "The tokens as text: detokenised if raw text was given, else with blanks between.")
      .def_property_readonly(
          "score", [](const Translation& t) { return best_derivation(t).score; },
          "Model score, weights . features (natural log).")
      .def_property_readonly(
          "features", [](const Translation& t) { return feature_dict(*t.best, best_edges(t)); },
          "Feature sums by name; absent features are 0.")
      .def_property_readonly(
          "weights",
          [](const Translation& t) {
            py::dict weights;
            for (std::size_t i = 0; i < t.best->feature_names->size(); ++i)
              weights[py::str((*t.best->feature_names)[i])] = (*t.weights)[i];
            return weights;
          },
          "The weights that it was scored by, by feature.")
      .def_property_readonly("derivation", &best_derivation)
      .def_property_readonly(
          "alignment", [](const Translation& t) { return alignment(*t.best, best_edges(t)); },
          "Sorted (source position, target position) pairs.")
      .def_property_readonly("source", [](const Translation& t) { return t.best->graph->source; })
      .def_readonly("unknown", &Translation::unknown,
                    "Positions of the words that are the whole source side of no rule, those that copy words "
                    "aside, and that\n"
                    "no rule for the sentence covers where it matches.")
      .def_property_readonly(
          "forest", [](const Translation& t) { return kept(t.forest, "forest", "keep=\"forest\""); },
          "The searched space (with keep=\"forest\"). Raises AttributeError where it was not kept.")
      .def_property_readonly(
          "chart",
          [](const Translation& t) { return kept(t.chart, "chart", "keep=\"chart\" or keep=\"splits\""); },
          "What search left in every cell (with keep=\"chart\" or \"splits\"). Raises AttributeError where it "
          "was not kept.")
      .def_readonly("stats", &Translation::stats)
      .def("kbest", &kbest_of, py::arg("k"), py::arg("unique") = false,
           "The k best derivations, best first (with keep=\"forest\"); `unique` keeps one per string.")
      .def(py::pickle(&translation_state, &translation_from))
      .def("__repr__",
           [](const py::object& self) {
             return described("Translation", {{"text", self.attr("text")}, {"score", self.attr("score")}});
           })
      .def("_repr_html_", &picture);
}

}  // namespace

void register_decode(py::module_& m) {
  register_options<DecoderOptions>(m, "DecoderOptions", "Every setting of a decoder.");
  register_translation(m);
  py::class_<TranslationModel, std::shared_ptr<TranslationModel>>(m, "TranslationModel")
      .def(py::init(&make_model), py::arg("tables"), py::arg("owners"), py::arg("statics"), py::arg("lms"),
           py::arg("local_features"), py::arg("goal"), py::arg("copy_labels"), py::arg("glue_labels"),
           py::arg("log_base") = 0.0, py::arg("log_features") = std::vector<std::string>(),
           py::arg("sentence_features") = std::vector<std::string>())
      .def_property_readonly("feature_names",
                             [](const TranslationModel& model) {
                               return std::const_pointer_cast<FeatureNames>(model.shared_features());
                             })
      .def_property_readonly("scales",
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
            save_statics(bound.statics, *bound.table, model.lms(), path);
          },
          py::arg("table"), py::arg("path"), py::call_guard<py::gil_scoped_release>())
      .def(
          "rule",
          [](const TranslationModel& model, py::ssize_t table, py::ssize_t rule) {
            const BoundTable& bound = model.tables()[index_of(table, model.tables().size(), "table")];
            const std::size_t id = index_of(rule, bound.table->rule_count(), "rule");
            return bound.table->rule(static_cast<RuleId>(id), bound.table->feature_names(bound.owner));
          },
          py::arg("table"), py::arg("rule"))
      .def_property_readonly("goal", &TranslationModel::goal_name)
      .def_property_readonly("labels", &TranslationModel::labels)
      .def_property_readonly("owners", [](const TranslationModel& model) {
        std::vector<std::string> owners;
        for (const BoundTable& bound : model.tables()) owners.push_back(bound.owner);
        return owners;
      });
  py::class_<Decoder, std::shared_ptr<Decoder>>(m, "Decoder")
      .def(py::init([](const std::shared_ptr<TranslationModel>& model, const Vector& weights,
                       const DecoderOptions& options) {
             return std::make_shared<Decoder>(model, make_weights(*model, weights), options);
           }),
           py::arg("model").none(false), py::arg("weights"), py::arg("options"))
      .def("with_weights",
           [](const Decoder& decoder, const Vector& weights) {
             return std::make_shared<Decoder>(decoder.with_weights(make_weights(*decoder.model(), weights)));
           })
      .def(
          "translate",
          [](const Decoder& decoder, std::vector<std::string> tokens, const std::vector<Rule>& rules,
             const OwnWeights& own, const py::object& sentence, const std::string& keep) {
            SentenceInput input{std::move(tokens), rules, own, annotations_of(sentence)};
            const py::gil_scoped_release release;
            return decoder.translate(std::move(input), value_named<Keep>(keep, "keep"));
          },
          py::arg("tokens"), py::arg("rules"), py::arg("own_weights"), py::arg("sentence"), py::arg("keep"));
}

}  // namespace hiero
