#include "hiero/decode/forced_prefix.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace hiero {
namespace {

constexpr std::size_t kRun = 3;  // most words of a run, if the sentence has words enough for the prefix
constexpr std::size_t kTranslations = 3;  // of a word, before which a run may stand

// A rule that translates a word alone.
struct WordRule {
  float score;
  std::uint32_t table;
  RuleId rule;
};

// A word and a label that translates it.
using LabelledWord = std::pair<std::string, LabelId>;

std::map<LabelledWord, std::vector<WordRule>> best_translations(const SentenceContext& context,
                                                                SentenceTargets& targets) {
  std::map<LabelledWord, std::vector<WordRule>> out;
  const Matches& matches = context.matches;
  for (const std::string& word : context.sentence.tokens())
    for (const LabelId label : context.model.copy_labels()) out[{word, label}];
  for (std::uint32_t a = 0; a < matches.applications.size(); ++a) {
    const Application& application = matches.applications[a];
    const Cell& cell = matches.cells[application.cell];
    if (application.arity > 0 || cell.end - cell.begin > 1 || context.model.is_goal(cell.label)) continue;
    std::vector<WordRule>& choices = out[{context.sentence.tokens()[cell.begin], cell.label}];
    const TargetSet& set = matches.target_sets[application.targets];
    for (std::uint32_t i = 0; i < std::min<std::size_t>(kTranslations, targets.count(a)); ++i) {
      const Target& target = targets.target(a, i);
      choices.push_back({target.score, set.table, set.group.first_rule + target.slot});
    }
  }
  for (auto& [word, choices] : out) {
    std::ranges::sort(choices, [](const WordRule& a, const WordRule& b) {
      return std::tuple(-a.score, a.table, a.rule) < std::tuple(-b.score, b.table, b.rule);
    });
    const auto same = [](const WordRule& a, const WordRule& b) {
      return a.table == b.table && a.rule == b.rule;
    };
    choices.erase(std::unique(choices.begin(), choices.end(), same), choices.end());
    if (choices.size() > kTranslations) choices.resize(kTranslations);
  }
  return out;
}

// Returns the rule with a run of words before its target side.
Rule with_run(Rule rule, std::span<const std::string> run) {
  const auto words = static_cast<int>(run.size());
  for (auto& [source, target] : rule.links) target += words;
  for (int i = 0; i < words; ++i) {
    rule.target.insert(rule.target.begin() + i, {run[static_cast<std::size_t>(i)], 0});
    rule.links.emplace_back(0, i);
  }
  std::ranges::sort(rule.links);
  rule.features.emplace_back(kForcedWords, static_cast<float>(words));
  return rule;
}

}  // namespace

std::vector<Rule> forced_rules(const SentenceContext& context, SentenceTargets& targets,
                               const TargetConstraint& constraint) {
  WordList prefix = constraint.prefix;
  if (!constraint.unfinished.empty()) prefix.push_back(constraint.unfinished[0]);
  const std::size_t words = context.sentence.size();
  const std::size_t longest = std::max(kRun, (prefix.size() + words - 1) / words);
  std::vector<Rule> out;
  for (const auto& [word, choices] : best_translations(context, targets)) {
    std::vector<Rule> bases{{context.model.labels()[word.second], {{word.first, 0}}, {}, {}, {}}};
    for (const WordRule& choice : choices) {
      const BoundTable& table = context.sentence.table(choice.table);
      bases.push_back(table.table->rule(choice.rule, table.table->feature_names(table.owner)));
    }
    for (std::size_t first = 0; first < prefix.size(); ++first) {
      for (std::size_t last = first + 1; last <= std::min(prefix.size(), first + longest); ++last) {
        for (const Rule& base : bases)
          out.push_back(with_run(base, std::span(prefix).subspan(first, last - first)));
      }
    }
  }
  return out;
}

}  // namespace hiero
