#include <pybind11/operators.h>

#include <filesystem>
#include <optional>

#include "bind_forest.h"
#include "hiero/base/output_file.h"
#include "hiero/grammar/packer.h"
#include "hiero/grammar/rule_table.h"
#include "hiero/grammar/rule_text.h"
#include "python_lines.h"
#include "token_lists.h"

namespace hiero {
namespace {

void pack(const py::object& file, const std::string& name, const std::string& output,
          const std::string& owner, std::uint32_t span_limit, std::uint64_t memory,
          const std::optional<std::pair<py::object, std::string>>& input, const std::string& goal,
          const py::object& progress) {
  PythonLines lines(file, name);
  const PackProgress report = [&progress](std::uint64_t rules) { call_progress(progress, rules); };
  std::optional<PythonLines> input_lines;
  if (input) input_lines.emplace(input->first, input->second);
  const py::gil_scoped_release release;
  std::optional<InputFilter> filter;
  if (input_lines) filter.emplace(input_lines->reader(), span_limit, goal);
  pack_rules(lines.reader(), output, {owner, span_limit, memory}, filter ? &*filter : nullptr, report);
}

std::vector<std::string> side_strings(const std::vector<RuleToken>& side) {
  std::vector<std::string> out;
  for (const RuleToken& token : side) {
    out.push_back(token.is_nonterminal() ? "[" + token.text + "," + std::to_string(token.index) + "]"
                                         : escape(token.text));
  }
  return out;
}

// The symbol that a token of a query stands for: [X] and [X,1] are nonterminals.
bool query_symbol(const RuleTable& table, const std::string& token, Symbol& symbol) {
  const bool bracketed = token.size() > 2 && token.front() == '[' && token.back() == ']';
  if (bracketed) {
    const std::string inside = token.substr(1, token.size() - 2);
    const LabelId label = table.find_label(inside.substr(0, inside.rfind(',')));
    symbol = nonterminal(label);
    return label != kNoLabel;
  }
  const bool escaped = token.size() > 1 && token.front() == '\\' && escape(token.substr(1)) == token;
  symbol = table.find_word(escaped ? std::string_view(token).substr(1) : std::string_view(token));
  return symbol != kNoWord;
}

std::vector<Rule> lookup(const RuleTable& table, const Tokens& tokens) {
  std::vector<Symbol> source;
  NodeId node = RuleTable::kRoot;
  for (const std::string& token : tokens.values) {
    Symbol symbol;
    if (!query_symbol(table, token, symbol)) return {};
    node = table.child(node, symbol);
    if (node == RuleTable::kNoNode) return {};
    source.push_back(symbol);
  }
  std::vector<Rule> out;
  const std::vector<std::string> names = table.feature_names(table.owner().empty() ? "pt" : table.owner());
  for (const RuleGroup& group : table.groups(node)) {
    for (RuleId id = group.first_rule; id < group.first_rule + group.count; ++id) {
      out.push_back(table.rule(source, group.lhs, id, names));
    }
  }
  return out;
}

void unpack(const RuleTable& table, const py::object& write) {
  const std::vector<std::string> names = table.feature_names(table.owner().empty() ? "pt" : table.owner());
  std::string text;
  const auto flush = [&] {
    const py::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    write(py::bytes(text));
    text.clear();
  };
  const py::gil_scoped_release release;
  table.visit([&](std::span<const Symbol> source, std::span<const RuleGroup> groups) {
    for (const RuleGroup& group : groups) {
      for (RuleId id = group.first_rule; id < group.first_rule + group.count; ++id) {
        text += format_rule(table.rule(source, group.lhs, id, names)) + "\n";
        if (text.size() > (1u << 20)) flush();
      }
    }
  });
  flush();
}

void save(const RuleTable& table, const std::string& path) {
  OutputFile file(path);
  file.write_at(0, table.image().data(), table.image().size());
  file.commit();
}

// A file stays where it is, and is known by its contents; a table in memory is kept whole.
py::tuple table_state(const RuleTable& table) {
  if (std::filesystem::is_regular_file(table.path()))
    return py::make_tuple(table.path(), table.fingerprint());
  const auto image = table.image();
  return py::make_tuple(table.name(), py::bytes(reinterpret_cast<const char*>(image.data()), image.size()));
}

std::shared_ptr<RuleTable> table_from(const py::tuple& state) {
  if (state.size() != 2) throw FormatError("rule table: expected a path and a fingerprint or an image");
  const auto path = state[0].cast<std::string>();
  if (py::isinstance<py::bytes>(state[1])) {
    const auto bytes = state[1].cast<std::string_view>();
    const auto* const first = reinterpret_cast<const std::byte*>(bytes.data());
    return std::const_pointer_cast<RuleTable>(RuleTable::from_image({first, first + bytes.size()}, path));
  }
  const auto table = std::const_pointer_cast<RuleTable>(RuleTable::open(path));
  if (table->fingerprint() != state[1].cast<std::uint64_t>())
    throw FormatError(path + ": is another rule table than was pickled");
  return table;
}

}  // namespace

void register_grammar(py::module_& m) {
  py::class_<Rule>(m, "Rule", "One synchronous rule.")
      .def(
          py::init([](const std::string& text) { return parse_rule(text, "rule"); }), py::arg("text"),
          "Reads one line of rule text, such as `[X] ||| ne [X,1] pas ||| do not [X,1] ||| A=-0.3 ||| 0-1`.\n"
          "Raises FormatError.")
      .def_readonly("lhs", &Rule::lhs, "Left-hand label.")
      .def_property_readonly(
          "source", [](const Rule& rule) { return side_strings(rule.source); },
          "Tokens as in rule text: [X,1] is a nonterminal, words that look like one are escaped.")
      .def_property_readonly("target", [](const Rule& rule) { return side_strings(rule.target); })
      .def_property_readonly("features",
                             [](const Rule& rule) {
                               py::dict features;
                               for (const auto& [name, value] : rule.features)
                                 features[py::str(name)] = value;
                               return features;
                             })
      .def_readonly("links", &Rule::links, "Word alignment: (source, target) token positions.")
      .def("__str__", &format_rule)
      .def("__repr__",
           [](const Rule& rule) {
             return "Rule(" + py::repr(py::str(format_rule(rule))).cast<std::string>() + ")";
           })
      .def(py::self == py::self)
      .def(py::pickle([](const Rule& rule) { return format_rule(rule); },
                      [](const std::string& text) { return parse_rule(text, "rule"); }));

  py::class_<RuleTable, std::shared_ptr<RuleTable>>(
      m, "RuleTable", "A packed rule table: immutable, memory-mapped, safe to share between threads.")
      .def_static(
          "open",
          [](const std::string& path, const std::string& name) {
            return std::const_pointer_cast<RuleTable>(RuleTable::open(path, name));
          },
          py::arg("path"), py::arg("name") = "",
          "Maps a packed table; costs no parsing. Messages call it `name` (default: its path). Raises OSError,\n"
          "or FormatError for what is no whole table of this format version.")
      .def_static(
          "from_rules",
          [](const std::vector<Rule>& rules, const std::string& owner, std::uint32_t span_limit) {
            return std::const_pointer_cast<RuleTable>(RuleTable::build(rules, owner, span_limit));
          },
          py::arg("rules"), py::arg("owner") = "", py::arg("span_limit") = 0, "A table in memory.")
      .def("save", &save, py::arg("path"), py::call_guard<py::gil_scoped_release>(),
           "Writes the packed table.")
      .def_property_readonly("path", &RuleTable::path)
      .def_property_readonly("owner", &RuleTable::owner, "\"\" if none was given.")
      .def_property_readonly("span_limit", &RuleTable::span_limit, "0 if none was given.")
      .def_property_readonly("rule_count", &RuleTable::rule_count)
      .def_property_readonly("node_count", &RuleTable::node_count)
      .def_property_readonly("word_count", &RuleTable::word_count)
      .def_property_readonly("dense_count", &RuleTable::dense_count)
      .def_property_readonly("labels", &RuleTable::labels)
      .def_property_readonly("feature_names",
                             [](const RuleTable& table) {
                               return table.feature_names(table.owner().empty() ? "pt" : table.owner());
                             })
      .def("lookup", &lookup, py::arg("tokens"),
           "The rules whose source side is exactly these tokens; [X] or [X,1] is a nonterminal.")
      .def(
          "rule",
          [](const RuleTable& table, py::ssize_t rule) {
            const auto id = static_cast<RuleId>(index_of(rule, table.rule_count(), "rule"));
            return table.rule(id, table.feature_names(table.owner().empty() ? "pt" : table.owner()));
          },
          py::arg("rule"), "The rule of an id. Raises IndexError.")
      .def(py::pickle(&table_state, &table_from))
      .def("__repr__",
           [](const py::object& self) {
             return described("RuleTable", {{"path", self.attr("path")}, {"rules", self.attr("rule_count")}});
           })
      .def("check", &RuleTable::check, py::call_guard<py::gil_scoped_release>(),
           "Verifies every checksum and reads every rule. Raises FormatError.");

  m.def("pack", &pack, py::arg("file"), py::arg("name"), py::arg("output"), py::arg("owner"),
        py::arg("span_limit"), py::arg("memory"), py::arg("input"), py::arg("goal"), py::arg("progress"));
  m.def("unpack", &unpack, py::arg("table"), py::arg("write"));
  m.def("escape", &escape, py::arg("token"), "A token as it stands in rule and n-best text.");
}

}  // namespace hiero
