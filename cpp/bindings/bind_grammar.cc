#include <nanobind/operators.h>

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

void pack(const nb::object& file, const std::string& name, const std::string& output,
          const std::string& owner, std::uint32_t span_limit, std::uint64_t memory,
          const std::optional<std::pair<nb::object, std::string>>& input, const std::string& goal,
          const nb::object& progress) {
  PythonLines lines(file, name);
  const PackProgress report = [&progress](std::uint64_t rules) { call_progress(progress, rules); };
  std::optional<PythonLines> input_lines;
  if (input) input_lines.emplace(input->first, input->second);
  const nb::gil_scoped_release release;
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

void unpack(const RuleTable& table, const nb::object& write) {
  const std::vector<std::string> names = table.feature_names(table.owner().empty() ? "pt" : table.owner());
  std::string text;
  const auto flush = [&] {
    const nb::gil_scoped_acquire acquire;
    check_signals();
    write(nb::bytes(text.data(), text.size()));
    text.clear();
  };
  const nb::gil_scoped_release release;
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
nb::object reduced_table(const nb::object& self) {
  const auto& table = nb::cast<const RuleTable&>(self);
  if (std::filesystem::is_regular_file(table.path()))
    return reduced(self, "_restore", table.path(), table.fingerprint());
  const auto image = table.image();
  return reduced(self, "_restore", table.name(), nb::bytes(image.data(), image.size()));
}

std::shared_ptr<const RuleTable> restored_table(const std::string& path, const nb::object& content) {
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

}  // namespace

void register_grammar(nb::module_& m) {
  auto rule_type = define<Rule>(m, "Rule", "One synchronous rule.");
  rule_type
      .def(
          "__init__", [](Rule* self, const std::string& text) { new (self) Rule(parse_rule(text, "rule")); },
          nb::arg("text"),
          "Reads one line of rule text, such as `[X] ||| ne [X,1] pas ||| do not [X,1] ||| A=-0.3 ||| 0-1`.\n"
          "Raises FormatError.")
      .def_ro("lhs", &Rule::lhs, "Left-hand label.")
      .def_prop_ro(
          "source", [](const Rule& rule) { return side_strings(rule.source); },
          "Tokens as in rule text: [X,1] is a nonterminal, words that look like one are escaped.")
      .def_prop_ro("target", [](const Rule& rule) { return side_strings(rule.target); })
      .def_prop_ro("features",
                   [](const Rule& rule) {
                     nb::dict features;
                     for (const auto& [name, value] : rule.features) features[nb::cast(name)] = value;
                     return features;
                   })
      .def_ro("links", &Rule::links, "Word alignment: (source, target) token positions.")
      .def("__str__", &format_rule)
      .def("__repr__", [](const Rule& rule) { return "Rule(" + repr_of(nb::cast(format_rule(rule))) + ")"; })
      .def(nb::self == nb::self)
      .def(pickle<std::string>([](const Rule& rule) { return format_rule(rule); },
                               [](const std::string& text) { return parse_rule(text, "rule"); }));
  rule_type.attr("__hash__") = nb::none();  // as of all Python classes with an __eq__ alone

  define<RuleTable>(m, "RuleTable",
                    "A packed rule table: immutable, memory-mapped, safe to share between threads.")
      .def_static(
          "open",
          [](const std::string& path, const std::string& name) { return RuleTable::open(path, name); },
          nb::arg("path"), nb::arg("name") = "",
          "Maps a packed table; costs no parsing. Messages call it `name` (default: its path). Raises "
          "OSError,\n"
          "or FormatError for what is no whole table of this format version.")
      .def_static(
          "from_rules",
          [](const std::vector<Rule>& rules, const std::string& owner, std::uint32_t span_limit) {
            return RuleTable::build(rules, owner, span_limit);
          },
          nb::arg("rules"), nb::arg("owner") = "", nb::arg("span_limit") = 0, "A table in memory.")
      .def("save", &save, nb::arg("path"), nb::call_guard<nb::gil_scoped_release>(),
           "Writes the packed table.")
      .def_prop_ro("path", &RuleTable::path)
      .def_prop_ro("owner", &RuleTable::owner, "\"\" if none was given.")
      .def_prop_ro("span_limit", &RuleTable::span_limit, "0 if none was given.")
      .def_prop_ro("rule_count", &RuleTable::rule_count)
      .def_prop_ro("node_count", &RuleTable::node_count)
      .def_prop_ro("word_count", &RuleTable::word_count)
      .def_prop_ro("dense_count", &RuleTable::dense_count)
      .def_prop_ro("labels", &RuleTable::labels)
      .def_prop_ro("feature_names",
                   [](const RuleTable& table) {
                     return table.feature_names(table.owner().empty() ? "pt" : table.owner());
                   })
      .def("lookup", &lookup, nb::arg("tokens"),
           "The rules whose source side is exactly these tokens; [X] or [X,1] is a nonterminal.")
      .def(
          "rule",
          [](const RuleTable& table, Py_ssize_t rule) {
            const auto id = static_cast<RuleId>(index_of(rule, table.rule_count(), "rule"));
            return table.rule(id, table.feature_names(table.owner().empty() ? "pt" : table.owner()));
          },
          nb::arg("rule"), "The rule of an id. Raises IndexError.")
      .def("__reduce__", &reduced_table)
      .def_static("_restore", &restored_table)
      .def("__repr__",
           [](const nb::object& self) {
             return described("RuleTable", {{"path", self.attr("path")}, {"rules", self.attr("rule_count")}});
           })
      .def("check", &RuleTable::check, nb::call_guard<nb::gil_scoped_release>(),
           "Verifies every checksum and reads every rule. Raises FormatError.");

  m.def("pack", &pack, nb::arg("file"), nb::arg("name"), nb::arg("output"), nb::arg("owner"),
        nb::arg("span_limit"), nb::arg("memory"), nb::arg("input"), nb::arg("goal"),
        nb::arg("progress").none());
  m.def("unpack", &unpack, nb::arg("table"), nb::arg("write"));
  m.def("escape", &escape, nb::arg("token"), "A token as it stands in rule and n-best text.");
}

}  // namespace hiero
