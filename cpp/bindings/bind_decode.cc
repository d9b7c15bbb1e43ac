#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "bind_local_features.h"
#include "bind_settings.h"
#include "conversions.h"
#include "hiero/decode/decoder.h"
#include "hiero/grammar/rule_table.h"

namespace hiero {
namespace {

void make_model(TranslationModel* self, const std::vector<std::shared_ptr<RuleTable>>& tables,
                const std::vector<std::string>& owners, const std::vector<std::string>& estimates,
                const std::vector<std::shared_ptr<LanguageModel>>& lms,
                const std::vector<Any>& local_features, const std::string& goal,
                const std::vector<std::string>& copy_labels, const std::vector<std::string>& glue_labels,
                double log_base, const std::vector<std::string>& log_features,
                const std::vector<std::string>& sentence_features) {
  if (tables.size() != owners.size() || tables.size() != estimates.size()) {
    throw std::invalid_argument("expected an owner and a file of estimates (or \"\") per table");
  }
  const auto is_none = [](const auto& part) { return part == nullptr; };
  if (std::ranges::any_of(tables, is_none) || std::ranges::any_of(lms, is_none))
    throw nb::type_error("expected rule tables and language models, not None");
  ModelParts parts;
  for (std::size_t t = 0; t < tables.size(); ++t)
    parts.tables.push_back({tables[t], owners[t], estimates[t]});
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

Rule model_rule(const TranslationModel& model, Py_ssize_t table, Py_ssize_t rule) {
  const BoundTable& bound = model.tables()[index_of(table, model.tables().size(), "table")];
  const std::size_t id = index_of(rule, bound.table->rule_count(), "rule");
  return bound.table->rule(static_cast<RuleId>(id), bound.table->feature_names(bound.owner));
}

void save_estimates_of_table(const TranslationModel& model, std::size_t table, const std::string& path) {
  const BoundTable& bound = model.tables().at(table);
  save_rule_estimates(bound.estimates, *bound.table, model.lms(), path);
}

std::vector<double> feature_scales(const TranslationModel& model) {
  std::vector<double> out;
  for (std::uint32_t f = 0; f < model.features().size(); ++f) out.push_back(model.scale(f));
  return out;
}

std::vector<std::string> table_owners(const TranslationModel& model) {
  std::vector<std::string> out;
  for (const BoundTable& bound : model.tables()) out.push_back(bound.owner);
  return out;
}

std::shared_ptr<const Weights> make_weights(const TranslationModel& model, const Array<double>& values) {
  if (values.ndim() != 1) throw std::invalid_argument("expected a vector of weights");
  return std::make_shared<const Weights>(model,
                                         std::vector<double>(values.values().begin(), values.values().end()));
}

void make_decoder(Decoder* self, const std::shared_ptr<TranslationModel>& model, const Array<double>& weights,
                  const DecoderOptions& options) {
  new (self) Decoder(model, make_weights(*model, weights), options);
}

std::shared_ptr<Decoder> decoder_with_weights(const Decoder& decoder, const Array<double>& weights) {
  return std::make_shared<Decoder>(decoder.with_weights(make_weights(*decoder.model(), weights)));
}

Translation translate_tokens(const Decoder& decoder, std::vector<std::string> tokens,
                             const std::vector<Rule>& rules, const SentenceWeights& rule_weights,
                             const nb::object& sentence, const TargetConstraint& constraint,
                             const SourceMarkup& markup, const SourceLattice& lattice,
                             const std::vector<Rule>& hidden, std::uint32_t rule_span_limit,
                             const std::shared_ptr<Deadline>& deadline, const std::string& keep) {
  SentenceInput input{std::move(tokens), rules,    rule_weights, annotations_of(sentence), constraint, markup,
                      lattice,           deadline, hidden,       rule_span_limit};
  const nb::gil_scoped_release release;
  return decoder.translate(std::move(input), value_named<Keep>(keep, "keep"));
}

void register_model(nb::module_& m) {
  define<TranslationModel>(
      m, "TranslationModel",
      "Tables, language models and features that a Decoder searches with; immutable. See\n"
      "hiero.Model, which holds one.")
      .def("__init__", &make_model, nb::arg("tables"), nb::arg("owners"), nb::arg("estimates"),
           nb::arg("lms"), nb::arg("local_features"), nb::arg("goal"), nb::arg("copy_labels"),
           nb::arg("glue_labels"), nb::arg("log_base") = 0.0,
           nb::arg("log_features") = std::vector<std::string>(),
           nb::arg("sentence_features") = std::vector<std::string>(),
           R"(Joins the parts of a model.

Args:
    tables: Rule tables.
    owners: Owner name of each table.
    estimates: For each table a file of estimates of its rules, or "" to compute them.
    lms: Language models, whose features are LM0, LM1, ...
    local_features: Objects with names and one of by_rule, by_span and by_gap; see
        hiero.features.protocols.
    goal: Label of whole sentences; "": the label whose rules open sentences with <s>, or S.
    copy_labels: Labels of words that are copied to the output; empty: X, or all labels without an X.
    glue_labels: Labels that glue rules are made for; empty: all left-hand labels.
    log_base: Base of the logarithms that features are given in; 0: natural.
    log_features: Names of features that are logarithms, besides those of language models; empty: the
        usual names of log probabilities.
    sentence_features: Names of features that rules of a sentence can have besides the model's.

Raises:
    FormatError: The parts do not fit together.
    OSError: A file cannot be read.
    TypeError: An object is no local feature.)")
      .def_prop_ro(
          "feature_names", [](const TranslationModel& model) { return model.shared_features(); },
          "Names of all features, in the order of weights.")
      .def_prop_ro("scales", &feature_scales,
                   "Factor by which each feature's natural logarithm is multiplied; 1 for other features.")
      .def("save_estimates", &save_estimates_of_table, nb::arg("table"), nb::arg("path"),
           nb::call_guard<nb::gil_scoped_release>(),
           R"(Writes the estimates of a table's rules to a file.

Args:
    table: Index of the table.
    path: Output file, written in full or not at all.

Raises:
    IndexError: There is no such table.
    OSError: The file cannot be written.)")
      .def("rule", &model_rule, nb::arg("table"), nb::arg("rule"), R"(Returns a rule of a table.

Args:
    table: Index of the table.
    rule: Rule id in the table.

Raises:
    IndexError: There is no such table or rule.)")
      .def_prop_ro("goal", &TranslationModel::goal_name, "Label of whole sentences.")
      .def_prop_ro("labels", &TranslationModel::labels, "Nonterminal labels of all tables.")
      .def_prop_ro("owners", &table_owners, "Owner name of each table.");
}

void register_deadline(nb::module_& m) {
  define<Deadline>(m, "Deadline", R"(Moment after which a search ends with what it has.

Any thread may bring it forward to now.)")
      .def(
          "__init__",
          [](Deadline* self, double seconds) {
            if (!(seconds >= 0)) throw std::invalid_argument("seconds: expected 0 or more");
            new (self) Deadline(seconds);
          },
          nb::arg("seconds") = std::numeric_limits<double>::infinity(),
          R"(Makes a deadline.

Args:
    seconds: Seconds from now; infinity: until expire() is called.

Raises:
    ValueError: The number is negative or not a number.)")
      .def_prop_ro("passed", &Deadline::passed, "Whether the moment has come.")
      .def("expire", &Deadline::expire, "Brings the deadline forward to now.");
}

void register_decoder(nb::module_& m) {
  define<Decoder>(
      m, "Decoder",
      "Decoder of tokens, with a model, weights and options; immutable. See hiero.Decoder, which\n"
      "takes text.")
      .def("__init__", &make_decoder, nb::arg("model"), nb::arg("weights"), nb::arg("options"),
           R"(Makes a decoder.

Args:
    model: The model.
    weights: float64 (features), in the order of the model's feature names.
    options: Options of the search.

Raises:
    ValueError: There is not one weight per feature, or one is not finite.)")
      .def("with_weights", &decoder_with_weights, nb::arg("weights"),
           R"(Returns the same decoder with other weights, at the cost of the weights alone.

Args:
    weights: float64 (features), in the order of the model's feature names.

Raises:
    ValueError: There is not one weight per feature, or one is not finite.)")
      .def("translate", &translate_tokens, nb::arg("tokens"), nb::arg("rules"), nb::arg("rule_weights"),
           nb::arg("sentence").none(), nb::arg("constraint"), nb::arg("markup"), nb::arg("lattice"),
           nb::arg("hidden"), nb::arg("rule_span_limit"), nb::arg("deadline").none(), nb::arg("keep"),
           R"(Returns the translation of a sentence.

Args:
    tokens: Tokens of the source sentence.
    rules: Rules for this sentence only.
    rule_weights: Names and weights of features that only these rules have.
    sentence: The object that local features written in Python are called with.
    constraint: Constraint on the words of the translation.
    markup: Marks of words of the sentence.
    lattice: Nodes of the tokens, if they are the arcs of a lattice.
    hidden: Rules whose label and sides no rule of the model has that is used.
    rule_span_limit: Most source words of the rules with nonterminals; 0: any number.
    deadline: Moment at which the search ends with what it has; None: no such moment.
    keep: "none", "forest", "chart" or "splits": the part of the search space that the translation
        holds besides its best derivation.

Raises:
    FormatError: The rules do not fit the model.
    ValueError: `keep` is unknown, a name or weight in rule_weights is not allowed, the constraint has
        an empty phrase or too many phrases, marks are not within the sentence, or the lattice is
        none.)");
}

void make_lattice(SourceLattice* self, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& arcs,
                  const std::vector<std::vector<double>>& scores) {
  SourceLattice lattice;
  if (scores.size() != arcs.size()) throw std::invalid_argument("lattice: not as many scores for each arc");
  lattice.score_count = scores.empty() ? 0 : scores[0].size();
  for (std::size_t a = 0; a < arcs.size(); ++a) {
    if (scores[a].size() != lattice.score_count)
      throw std::invalid_argument("lattice: not as many scores for each arc");
    lattice.arcs.push_back({arcs[a].first, arcs[a].second});
    lattice.scores.insert(lattice.scores.end(), scores[a].begin(), scores[a].end());
  }
  new (self) SourceLattice(std::move(lattice));
}

void register_lattice(nb::module_& m) {
  define<SourceLattice>(m, "SourceLattice",
                        "Arcs of a source sentence that is a lattice. See hiero.Lattice, which has words.")
      .def("__init__", &make_lattice, nb::arg("arcs"), nb::arg("scores"),
           R"(Makes arcs.

Args:
    arcs: Nodes that each arc leads from and to, sorted by the first; none: a string.
    scores: Scores of each arc.

Raises:
    ValueError: Arcs have not all as many scores.)");
}

// Source positions begin and end.
using Positions = std::pair<std::uint32_t, std::uint32_t>;
// A phrase: its positions, mode, label, translations, and the natural logarithms of their probabilities.
using PhraseParts =
    std::tuple<Positions, std::string, std::string, std::vector<WordList>, std::vector<double>>;

void make_markup(SourceMarkup* self, const std::vector<PhraseParts>& phrases,
                 const std::vector<Positions>& zones,
                 const std::vector<std::pair<std::uint32_t, Positions>>& walls, WordList kept) {
  const auto as_span = [](const Positions& positions) {
    return SourceSpan{positions.first, positions.second};
  };
  SourceMarkup markup;
  for (const auto& [positions, mode, label, translations, logs] : phrases) {
    markup.phrases.push_back(
        {as_span(positions), translations, logs, label, value_named<PhraseMode>(mode, "mode")});
  }
  for (const Positions& zone : zones) markup.zones.push_back(as_span(zone));
  for (const auto& [position, scope] : walls) markup.walls.push_back({position, as_span(scope)});
  markup.kept = std::move(kept);
  new (self) SourceMarkup(std::move(markup));
}

void register_markup(nb::module_& m) {
  define<SourceMarkup>(m, "SourceMarkup",
                       "Marks of words of a source sentence. See hiero.Sentence, which has them.")
      .def("__init__", &make_markup, nb::arg("phrases"), nb::arg("zones"), nb::arg("walls"), nb::arg("kept"),
           R"(Makes marks. Positions count words from 0, and ends are exclusive.

Args:
    phrases: Begin and end, mode ("exclusive", "inclusive" or "constraint"), label of its rules or "",
        translations as lists of words, and natural logarithms of their probabilities, of each phrase.
    zones: Begin and end of each phrase that is translated as a block.
    walls: Position of the word behind each wall, and the begin and end of its scope.
    kept: Words, without marks of joined tokens, that the translation has as often as the sentence.

Raises:
    ValueError: A mode is unknown.)");
}

void register_constraint(nb::module_& m) {
  define<TargetConstraint>(m, "TargetConstraint",
                           "Constraint on the words of a translation. See hiero.Sentence, which takes text.")
      .def(
          "__init__",
          [](TargetConstraint* self, WordList prefix, WordList unfinished, std::vector<WordList> references,
             std::vector<WordList> required, std::vector<WordList> forbidden) {
            new (self) TargetConstraint{std::move(prefix), std::move(unfinished), std::move(references),
                                        std::move(required), std::move(forbidden)};
          },
          nb::arg("prefix") = WordList(), nb::arg("unfinished") = WordList(),
          nb::arg("references") = std::vector<WordList>(), nb::arg("required") = std::vector<WordList>(),
          nb::arg("forbidden") = std::vector<WordList>(),
          R"(Makes a constraint.

Args:
    prefix: First words.
    unfinished: Beginnings of the word after the prefix, one of which it has; empty: any.
    references: All words: those of one of these; empty: any.
    required: Phrases that must occur, as lists of words.
    forbidden: Phrases that must not occur.)")
      .def_ro("prefix", &TargetConstraint::prefix, "First words.")
      .def_ro("unfinished", &TargetConstraint::unfinished,
              "Beginnings of the word after the prefix, one of which it has; empty: any.")
      .def_ro("references", &TargetConstraint::references,
              "Lists of all words, one of which it has; empty: any.")
      .def_ro("required", &TargetConstraint::required, "Phrases that must occur.")
      .def_ro("forbidden", &TargetConstraint::forbidden, "Phrases that must not occur.");
}

}  // namespace

void register_decode(nb::module_& m) {
  register_options<DecoderOptions>(m, "DecoderOptions", "Options of a decoder.");
  register_constraint(m);
  register_markup(m);
  register_lattice(m);
  register_model(m);
  register_deadline(m);
  register_decoder(m);
}

}  // namespace hiero
