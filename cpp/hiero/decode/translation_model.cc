#include "hiero/decode/translation_model.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string_view>

#include "hiero/base/error.h"
#include "hiero/decode/sentence_marks.h"
#include "hiero/grammar/rule_token.h"

namespace hiero {
namespace {

constexpr const char* kSentenceFeatures[] = {"OOV", "Identity", "NumberRule", "NameRule"};
// Taken for logarithms if ModelParts names none.
constexpr const char* kLogProbabilities[] = {"PhraseFE", "PhraseEF", "LexFE", "LexEF", "Distortion"};

// Returns the owner of each table: the one that `tables` gives it, else the one it was packed with, else the
// first of pt, pt1, pt2, ... that no other table has.
std::vector<std::string> table_owners(const std::vector<ModelParts::Table>& tables) {
  std::vector<std::string> owners;
  std::set<std::string> taken;
  for (const ModelParts::Table& part : tables) {
    owners.push_back(part.owner.empty() ? part.table->owner() : part.owner);
    if (!owners.back().empty() && !taken.insert(owners.back()).second) {
      throw FormatError(part.table->name() + ": a second rule table with the owner name \"" + owners.back() +
                        "\": pack one of them with another --owner");
    }
  }
  std::size_t unnamed = 0;
  for (std::string& owner : owners) {
    while (owner.empty()) {
      std::string name = unnamed == 0 ? "pt" : "pt" + std::to_string(unnamed);
      ++unnamed;
      if (taken.insert(name).second) owner = std::move(name);
    }
  }
  return owners;
}

void add_unary_arcs(const BoundTable& bound, std::vector<UnaryArc>& arcs) {
  for (const auto& use : bound.table->label_uses()) {
    if (use.unary) arcs.push_back({bound.labels[use.rhs], bound.labels[use.lhs], &bound.name});
  }
}

}  // namespace

TranslationModel::TranslationModel(ModelParts parts) : lms_(std::move(parts.lms)) {
  // The search keeps a bit per LM in a 32-bit word.
  if (lms_.size() > 32) throw FormatError("more than 32 language models");
  for (std::size_t k = 0; k < lms_.size(); ++k) {
    lm_features_.push_back(features_->add("LM" + std::to_string(k)));
    oov_features_.push_back(features_->add("LM" + std::to_string(k) + "_OOV"));
  }
  word_penalty_ = features_->add("WordPenalty");
  rule_penalty_ = features_->add("RulePenalty");
  for (const char* name : kSentenceFeatures) features_->add(name);
  for (const std::string& name : parts.sentence_features) features_->add(name);

  std::vector<std::string> owners = table_owners(parts.tables);
  for (std::size_t t = 0; t < owners.size(); ++t)
    add_table(parts.tables[t].table, std::move(owners[t]), parts.tables[t].estimates);
  read_marks(parts.goal);
  add_glue(parts);
  for (const auto& local : parts.rule_features)
    rule_features_.push_back({local, add_local_names(local->names())});
  for (const auto& spans : parts.span_features)
    span_features_.push_back({spans, add_local_names(spans->names())});
  for (const auto& gaps : parts.gap_features) gap_features_.push_back({gaps, add_local_names(gaps->names)});
  choose_scales(parts);
  ranks_ = rank_labels(labels_, unary_arcs());
  for (BoundTable& bound : tables_) number_labels(bound);
}

// Fills local_labels, once the model has all its labels.
void TranslationModel::number_labels(BoundTable& bound) const {
  bound.local_labels.assign(labels_.size(), kNoLabel);
  for (LabelId l = 0; l < bound.labels.size(); ++l) bound.local_labels[bound.labels[l]] = l;
}

// Returns the index of the first name; the others follow it.
std::uint32_t TranslationModel::add_local_names(const std::vector<std::string>& names) {
  const auto first = static_cast<std::uint32_t>(features_->size());
  for (const std::string& name : names) {
    if (features_->find(name) != FeatureNames::kAbsent) {
      throw FormatError("local feature \"" + name + "\": the model has a feature of this name already");
    }
    features_->add(name);
  }
  return first;
}

void TranslationModel::choose_scales(const ModelParts& parts) {
  if (parts.log_base == 0) return;
  // Base 1 has no logarithms, and smaller bases change their sign.
  if (!(parts.log_base > 1 && std::isfinite(parts.log_base)))
    throw std::invalid_argument("the base of logarithms must be more than 1");
  const double scale = 1 / std::log(parts.log_base);
  scales_.assign(features_->size(), 1.0);
  for (std::uint32_t feature : lm_features_) scales_[feature] = scale;
  for (const std::string& name : parts.log_features) {
    const std::uint32_t feature = features_->find(name);
    if (feature == FeatureNames::kAbsent)
      throw FormatError("features that are logarithms: the model has no feature " + name);
    scales_[feature] = scale;
  }
  if (!parts.log_features.empty()) return;
  for (const char* name : kLogProbabilities) {
    if (const std::uint32_t feature = features_->find(name); feature != FeatureNames::kAbsent)
      scales_[feature] = scale;
  }
}

LabelId TranslationModel::add_label(const std::string& name) {
  const auto [it, added] = label_index_.try_emplace(name, static_cast<LabelId>(labels_.size()));
  if (added) labels_.push_back(name);
  return it->second;
}

LabelId TranslationModel::find_label(const std::string& name) const {
  const auto it = label_index_.find(name);
  return it == label_index_.end() ? kNoLabel : it->second;
}

void TranslationModel::add_table(const std::shared_ptr<const RuleTable>& table, std::string owner,
                                 const std::string& estimates) {
  BoundTable bound;
  bound.table = table;
  bound.owner = std::move(owner);
  bound.name = table->name().empty() ? "table " + bound.owner : table->name();
  bound.span_limit = table->span_limit();
  bind_names(bound);
  bind_words(bound);
  std::optional<RuleEstimates> loaded;
  if (!estimates.empty()) loaded = load_rule_estimates(estimates, *table, lms_);
  bound.estimates = loaded ? std::move(*loaded) : compute_rule_estimates(*table, lms_);
  tables_.push_back(std::move(bound));
}

// Finds the goal. If a table has sentence marks, a second table replaces its marked rules. No other table may
// derive the goal then, as its rules would not be opened.
void TranslationModel::read_marks(const std::string& goal) {
  goal_name_ = goal;
  std::optional<std::size_t> marked;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    const std::optional<std::string> opens = marked_goal(*tables_[t].table, tables_[t].name, goal);
    if (!opens) continue;
    if (marked) {
      throw FormatError(tables_[*marked].name + " and " + tables_[t].name +
                        ": rules of both open sentences with <s>; put them into one table" + kNotMarks);
    }
    goal_name_ = *opens;
    marked = t;
  }
  if (goal_name_.empty()) goal_name_ = "S";
  goal_ = add_label(goal_name_);
  if (!marked) return;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    const RuleTable& table = *tables_[t].table;
    if (t != *marked && std::ranges::count(table.lhs_labels(), table.find_label(goal_name_)) > 0) {
      throw FormatError(tables_[t].name + ": rules of the goal [" + goal_name_ + "], which " +
                        tables_[*marked].name + " opens with <s>; put them into one table" + kNotMarks);
    }
  }
  marked_goal_ = goal_;
  std::string top = goal_name_ + "</s>";
  while (find_label(top) != kNoLabel) top += "</s>";
  goal_ = add_label(top);
  BoundTable& bound = tables_[*marked];
  bound.has_marks = true;
  const std::string owner = bound.owner + "<s>";
  add_made_table(
      without_marks(*bound.table, bound.name, bound.owner, goal_name_, top, !bound.has_rule_penalty), owner);
}

void TranslationModel::add_made_table(const std::vector<Rule>& rules, const std::string& owner) {
  add_table(RuleTable::build(rules, owner, 0), owner, "");
  tables_.back().is_extracted = false;
}

// Makes glue rules, unless a table derives the goal label itself.
void TranslationModel::add_glue(const ModelParts& parts) {
  LabelUses uses = find_label_uses();
  if (marked_goal_ != kNoLabel && !goal_is_anchored_) {
    throw FormatError("the goal [" + goal_name_ +
                      "] opens sentences with <s>, but rules have it elsewhere than first");
  }
  const bool derives_goal = uses.is_lhs[goal_];
  if (derives_goal && !parts.glue_labels.empty()) {
    throw FormatError("glue labels are given, but a table has rules of the goal [" + goal_name_ +
                      "], so that no glue is made");
  }
  if (marked_goal_ != kNoLabel && !derives_goal) {
    throw FormatError("rules of the goal [" + goal_name_ +
                      "] open sentences with <s>, but none closes them with </s>");
  }
  choose_copy_labels(parts.copy_labels, uses);
  features_->add("Glue");
  if (derives_goal) return;

  goal_has_bos_ = goal_is_anchored_;
  uses.is_lhs.resize(labels_.size(), 0);
  for (LabelId label : copy_labels_) uses.is_lhs[label] = 1;
  add_made_table(glue_rules(parts.glue_labels, uses.is_lhs), "glue");
  tables_.back().has_goal_rules = true;
}

// Finds where rules have each label. Sets has_goal_rules of the tables and goal_is_anchored_ too.
TranslationModel::LabelUses TranslationModel::find_label_uses() {
  LabelUses uses{std::vector<char>(labels_.size(), 0), std::vector<char>(labels_.size(), 0)};
  for (BoundTable& bound : tables_) {
    for (const auto& use : bound.table->label_uses()) {
      const LabelId rhs = bound.labels[use.rhs];
      uses.is_rhs[rhs] = 1;
      if (is_goal(rhs) && (!is_goal(bound.labels[use.lhs]) || !use.leading)) goal_is_anchored_ = false;
    }
    for (LabelId label : bound.table->lhs_labels()) {
      uses.is_lhs[bound.labels[label]] = 1;
      bound.has_goal_rules |= is_goal(bound.labels[label]);
    }
  }
  return uses;
}

// Returns S -> X and S -> S X for every derived label X but the goal, or for the labels in `names`.
std::vector<Rule> TranslationModel::glue_rules(const std::vector<std::string>& names,
                                               const std::vector<char>& is_derived) const {
  std::vector<char> is_glued = is_derived;
  if (!names.empty()) is_glued.assign(labels_.size(), 0);
  for (const std::string& name : names) {
    const LabelId label = find_label(name);
    if (label == kNoLabel || !is_derived[label]) throw FormatError("glue: no rule derives [" + name + "]");
    is_glued[label] = 1;
  }
  std::vector<Rule> rules;
  for (LabelId label = 0; label < labels_.size(); ++label) {
    if (label == goal_ || !is_glued[label]) continue;
    const RuleToken piece{labels_[label], 1};
    rules.push_back({goal_name_, {piece}, {piece}, {}, {}});
    const std::vector<RuleToken> pair{{goal_name_, 1}, {labels_[label], 2}};
    rules.push_back({goal_name_, pair, pair, {{"Glue", 1.0f}}, {}});
  }
  return rules;
}

// Takes the labels in `names`; without names X if there is such a label, else every left-hand label.
void TranslationModel::choose_copy_labels(const std::vector<std::string>& names, const LabelUses& uses) {
  const LabelId x = find_label("X");
  if (!names.empty()) {
    for (const std::string& name : names) {
      if (!is_label(name)) throw FormatError("copied words: \"" + name + "\" is not a label");
      const LabelId label = add_label(name);
      if (marked_goal_ != kNoLabel && is_goal(label)) {
        throw FormatError("copied words: the goal [" + name + "] opens sentences with <s>");
      }
      if (std::ranges::count(copy_labels_, label) == 0) copy_labels_.push_back(label);
    }
  } else if (x != kNoLabel && (uses.is_lhs[x] || uses.is_rhs[x])) {
    copy_labels_.push_back(x);
  } else {
    for (LabelId label = 0; label < labels_.size(); ++label) {
      if (!is_goal(label) && uses.is_lhs[label]) copy_labels_.push_back(label);
    }
  }
  if (copy_labels_.empty()) copy_labels_.push_back(add_label("X"));
}

void TranslationModel::bind_names(BoundTable& bound) {
  for (const std::string& name : bound.table->feature_names(bound.owner)) {
    const std::uint32_t feature = features_->add(name);
    if (feature <= word_penalty_) {
      throw FormatError(bound.table->name() + ": feature " + name +
                        " is one that the decoder computes itself");
    }
    bound.features.push_back(feature);
    bound.has_rule_penalty |= feature == rule_penalty_;
  }
  for (const std::string& name : bound.table->labels()) bound.labels.push_back(add_label(name));
}

void TranslationModel::bind_words(BoundTable& bound) {
  const RuleTable& table = *bound.table;
  if (tables_.empty()) {
    base_words_ = table.word_count();
  } else {
    bound.words.resize(table.word_count());
    for (WordId w = 0; w < table.word_count(); ++w) {
      const std::string_view text = table.word(w);
      WordId id = find_word(text);
      if (id == kNoWord) {
        id = word_count();
        extra_words_.emplace_back(text);
        extra_index_.emplace(extra_words_.back(), id);
      }
      bound.words[w] = id;
    }
  }
}

std::string_view TranslationModel::word(WordId id) const {
  return id < base_words_ ? tables_[0].table->word(id) : std::string_view(extra_words_[id - base_words_]);
}

WordId TranslationModel::find_word(std::string_view text) const {
  if (!tables_.empty()) {
    const WordId id = tables_[0].table->find_word(text);
    if (id != kNoWord) return id;
  }
  const auto it = extra_index_.find(std::string(text));
  return it == extra_index_.end() ? kNoWord : it->second;
}

bool TranslationModel::translates(std::string_view word) const {
  for (const BoundTable& bound : tables_) {
    if (!bound.is_extracted || (bound.has_marks && is_sentence_mark(word))) continue;
    const WordId id = bound.table->find_word(word);
    if (id == kNoWord) continue;
    const NodeId node = bound.table->child(RuleTable::kRoot, id);
    if (node != RuleTable::kNoNode && !bound.table->groups(node).empty()) return true;
  }
  return false;
}

std::vector<UnaryArc> TranslationModel::unary_arcs() const {
  std::vector<UnaryArc> arcs;
  for (const BoundTable& bound : tables_) add_unary_arcs(bound, arcs);
  return arcs;
}

std::vector<std::uint32_t> TranslationModel::ranks_with(const BoundTable& table) const {
  std::vector<UnaryArc> arcs = unary_arcs();
  add_unary_arcs(table, arcs);
  return rank_labels(labels_, std::move(arcs));
}

}  // namespace hiero
