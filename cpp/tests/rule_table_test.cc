// Looking up rules by their source side, and writing them as text.
#include <string>
#include <vector>

#include "expect.h"
#include "hiero/grammar/rule_table.h"
#include "hiero/grammar/rule_text.h"

namespace hiero {
namespace {

using Tokens = std::vector<std::string>;

std::shared_ptr<const RuleTable> small_table(const std::string& owner) {
  std::vector<Rule> rules;
  for (const char* text : {"[X] ||| ne [X,1] pas ||| do not [X,1] ||| A=1",
                           "[X] ||| \\[X] ||| bracket ||| A=2", "[S] ||| ne [X,1] pas ||| not [X,1] ||| A=3"})
    rules.push_back(parse_rule(text, "rule"));
  return RuleTable::build(rules, owner, 0);
}

void test_lookup() {
  const auto table = small_table("");
  const std::vector<Rule> rules = table->lookup(Tokens{"ne", "[X]", "pas"});
  expect(rules.size() == 2, "rules of both labels");
  expect(table->lookup(Tokens{"ne", "[X,1]", "pas"}) == rules, "an index makes no difference");
  expect(table->lookup(Tokens{"\\[X]"}).size() == 1, "an escaped word");
  expect(table->lookup(Tokens{"[X]"}).empty() && table->lookup(Tokens{"ne"}).empty(), "no such source side");
  expect(table->lookup(Tokens{"[Y]"}).empty() && table->lookup(Tokens{"oui"}).empty(), "unknown symbols");
  expect(token_text(rules[0].source[1]) == "[X,1]", "a nonterminal as text");
}

void test_text() {
  const auto table = small_table("pt");
  std::string text;
  table->write_text([&](std::string_view piece) { text += piece; });
  std::vector<Rule> rules;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    rules.push_back(parse_rule(text.substr(begin, end - begin), "rule"));
    begin = end + 1;
  }
  expect(rules.size() == 3, "a line for each rule");
  const auto again = RuleTable::build(rules, "pt", 0);
  expect(again->fingerprint() == table->fingerprint(), "the text makes the same table");
  const auto unnamed = RuleTable::build({parse_rule("[X] ||| a ||| b ||| 0.5", "rule")}, "", 0);
  expect(unnamed->feature_names().size() == 1 && RuleTable::build({}, "o", 0)->feature_names().empty(),
         "names of features");
}

}  // namespace
}  // namespace hiero

int main() {
  hiero::test_lookup();
  hiero::test_text();
  return hiero::failed();
}
