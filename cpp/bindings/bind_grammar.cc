// Rules and rule tables.
#include <filesystem>
#include <optional>

#include "conversions.h"
#include "hiero/base/error.h"
#include "hiero/grammar/packer.h"
#include "hiero/grammar/rule_table.h"
#include "hiero/grammar/rule_text.h"
#include "python_lines.h"
#include "token_lists.h"

namespace hiero {
namespace {

using Content = Annotated<"bytes | int">;

void pack_file(const BinaryFile& file, const std::string& name, const std::string& output,
               const std::string& owner, std::uint32_t span_limit, std::uint64_t memory,
               const std::optional<NamedFile>& input, const std::string& goal, const Counter& progress) {
  PythonLines lines(file, name);
  const PackProgress report = [&progress](std::uint64_t rules) { call_progress(progress, rules); };
  std::optional<PythonLines> input_lines;
  if (input) input_lines.emplace(input->first, input->second);
  const nb::gil_scoped_release release;
  std::optional<InputFilter> filter;
  if (input_lines) filter.emplace(input_lines->reader(), span_limit, goal);
  pack_rules(lines.reader(), output, {owner, span_limit, memory}, filter ? &*filter : nullptr, report);
}

void unpack_table(const RuleTable& table,
                  const Annotated<"collections.abc.Callable[[bytes], object]">& write) {
  const nb::gil_scoped_release release;
  table.write_text([&write](std::string_view text) {
    const nb::gil_scoped_acquire acquire;
    check_signals();
    write(nb::bytes(text.data(), text.size()));
  });
}

std::vector<std::string> token_texts(const std::vector<RuleToken>& side) {
  std::vector<std::string> out;
  for (const RuleToken& token : side) out.push_back(token_text(token));
  return out;
}

FeatureValues rule_features(const Rule& rule) {
  nb::dict features;
  for (const auto& [name, value] : rule.features) features[nb::cast(name)] = value;
  return nb::object(features);
}

Rule rule_of_id(const RuleTable& table, Py_ssize_t rule) {
  return table.rule(static_cast<RuleId>(index_of(rule, table.rule_count(), "rule")), table.feature_names());
}

// A table in a file is pickled as its path and fingerprint, a table in memory as its bytes.
nb::object reduced_table(const nb::object& self) {
  const auto& table = nb::cast<const RuleTable&>(self);
  if (std::filesystem::is_regular_file(table.path()))
    return reduced(self, "_restore", table.path(), table.fingerprint());
  const auto image = table.image();
  return reduced(self, "_restore", table.name(), nb::bytes(image.data(), image.size()));
}

std::shared_ptr<const RuleTable> restored_table(const std::string& path, const Content& content) {
  if (nb::isinstance<nb::bytes>(content)) {
    const auto bytes = nb::borrow<nb::bytes>(content);
    const auto* const first = static_cast<const std::byte*>(bytes.data());
    return RuleTable::from_image({first, first + bytes.size()}, path);
  }
  auto table = RuleTable::open(path);
  if (table->fingerprint() != nb::cast<std::uint64_t>(content))
    throw FormatError(path + ": is another rule table than was pickled");
  return table;
}

void register_rule(nb::module_& m) {
  auto rule = define<Rule>(m, "Rule", "Synchronous rule.");
  rule.def(
          "__init__", [](Rule* self, const std::string& text) { new (self) Rule(parse_rule(text, "rule")); },
          nb::arg("text"), R"(Reads a rule from text.

Args:
    text: One line, such as `[X] ||| ne [X,1] pas ||| do not [X,1] ||| A=-0.3 ||| 0-1`: label, source
        side, target side, features, and links from source to target token positions.

Raises:
    FormatError: The text is no rule.)")
      .def_ro("lhs", &Rule::lhs, "Left-hand label.")
      .def_prop_ro(
          "source", [](const Rule& r) { return token_texts(r.source); },
          "Source side as in rule text: [X,1] is a nonterminal; words that look like one are escaped.")
      .def_prop_ro(
          "target", [](const Rule& r) { return token_texts(r.target); },
          "Target side as in rule text: [X,1] is a nonterminal; words that look like one are escaped.")
      .def_prop_ro("features", &rule_features, "Feature values by name.")
      .def_ro("links", &Rule::links,
              "Word alignment: (source, target) token positions, which count nonterminals.")
      .def("__str__", &format_rule)
      .def("__repr__", [](const Rule& r) { return "Rule(" + repr_of(nb::cast(format_rule(r))) + ")"; })
      .def(
          "__eq__", [](const Rule& a, const Rule& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def(pickle<std::string>([](const Rule& r) { return format_rule(r); },
                               [](const std::string& text) { return parse_rule(text, "rule"); }));
  rule.attr("__hash__") = nb::none();  // as for all Python classes with __eq__ only
}

void register_table(nb::module_& m) {
  define<RuleTable>(m, "RuleTable",
                    "Packed rule table: immutable, memory-mapped, and safe to share between threads.")
      .def_static("open", &RuleTable::open, nb::arg("path"), nb::arg("name") = "",
                  R"(Maps a packed table, which takes no parsing.

Args:
    path: The file.
    name: Name of the table in error messages (default: its path).

Raises:
    OSError: The file cannot be read.
    FormatError: The file is no table, is cut short, or has another format version.)")
      .def_static("from_rules", &RuleTable::build, nb::arg("rules"), nb::arg("owner") = "",
                  nb::arg("span_limit") = 0, R"(Makes a table in memory.

Args:
    rules: The rules.
    owner: Owner name; "": none.
    span_limit: Greatest number of source words that a rule may cover; 0: not set.

Raises:
    FormatError: The rules do not fit into one table.)")
      .def("save", &RuleTable::save, nb::arg("path"), nb::call_guard<nb::gil_scoped_release>(),
           R"(Writes the packed table to a file, in full or not at all.

Args:
    path: The file.

Raises:
    OSError: The file cannot be written.)")
      .def_prop_ro("path", &RuleTable::path, "Path of the file; \"\" for a table in memory.")
      .def_prop_ro("owner", &RuleTable::owner, "Owner name; \"\" if none was given.")
      .def_prop_ro("span_limit", &RuleTable::span_limit,
                   "Greatest number of source words that a rule may cover; 0 if it was not set.")
      .def_prop_ro("rule_count", &RuleTable::rule_count, "Number of rules.")
      .def_prop_ro("node_count", &RuleTable::node_count, "Number of nodes of the trie of source sides.")
      .def_prop_ro("word_count", &RuleTable::word_count, "Number of words.")
      .def_prop_ro("dense_count", &RuleTable::dense_count, "Number of dense features.")
      .def_prop_ro("labels", &RuleTable::labels, "Nonterminal labels.")
      .def_prop_ro(
          "feature_names", [](const RuleTable& table) { return table.feature_names(); },
          "Names of the features, dense ones first. Features that came without a name are called\n"
          "tm_pt_0, tm_pt_1, ..., with the owner instead of pt.")
      .def(
          "lookup", [](const RuleTable& table, const Tokens& tokens) { return table.lookup(tokens.values); },
          nb::arg("tokens"), R"(Returns the rules with exactly this source side.

Args:
    tokens: Source side as in rule text; [X] and [X,1] are nonterminals.)")
      .def("rule", &rule_of_id, nb::arg("rule"), R"(Returns the rule of an id.

Raises:
    IndexError: There is no such rule.)")
      .def("__reduce__", &reduced_table)
      .def_static("_restore", &restored_table)
      .def("__repr__",
           [](const nb::object& self) {
             return described("RuleTable", {{"path", self.attr("path")}, {"rules", self.attr("rule_count")}});
           })
      .def("check", &RuleTable::check, nb::call_guard<nb::gil_scoped_release>(),
           R"(Verifies every checksum and reads every rule.

Raises:
    FormatError: The table is damaged.)");
}

}  // namespace

void register_grammar(nb::module_& m) {
  register_rule(m);
  register_table(m);
  m.def("pack", &pack_file, nb::arg("file"), nb::arg("name"), nb::arg("output"), nb::arg("owner"),
        nb::arg("span_limit"), nb::arg("memory"), nb::arg("input"), nb::arg("goal"),
        nb::arg("progress").none(), R"(Packs rules from text into a table file.

Args:
    file: Binary file of rule text, open for reading.
    name: Name of the file in error messages.
    output: The table file, written in full or not at all.
    owner: Owner name of the table; "": none.
    span_limit: Greatest number of source words that a rule may cover; 0: not set.
    memory: Bytes for sorting.
    input: File of source sentences and its name in error messages: only rules that can apply to one
        of the sentences are packed. None: all rules.
    goal: Label of whole sentences; with `input`, rules of this label may cover any number of words.
    progress: Called with the number of rules read from time to time.

Raises:
    FormatError: A line is no rule, or the file is damaged.
    OSError: A file cannot be read or written.)");
  m.def("unpack", &unpack_table, nb::arg("table"), nb::arg("write"), R"(Writes all rules of a table as text.

Args:
    table: The table.
    write: Called with pieces of text, many lines each.

Raises:
    FormatError: The table is damaged.)");
  m.def("escape", &escape, nb::arg("token"),
        "Returns a token as it stands in rule, n-best and forest text: tokens that look like syntax begin\n"
        "with a backslash.");
}

}  // namespace hiero
