#include "hiero/decode/translation_model.h"

#include <algorithm>
#include <set>

#include "hiero/base/error.h"

namespace hiero {
namespace {

constexpr const char* kSentenceFeatures[] = {"OOV", "Identity", "NumberRule", "NameRule"};

std::string default_owner(std::size_t unnamed) {
  return unnamed == 0 ? "pt" : "pt" + std::to_string(unnamed);
}

}  // namespace

TranslationModel::TranslationModel(ModelParts parts)
    : lms_(std::move(parts.lms)), local_features_(std::move(parts.local_features)) {
  // Search keeps a bit per LM in a 32-bit word.
  if (lms_.size() > 32) throw FormatError("more than 32 language models");
  for (std::size_t k = 0; k < lms_.size(); ++k) {
    lm_features_.push_back(features_.add("LM" + std::to_string(k)));
    oov_features_.push_back(features_.add("LM" + std::to_string(k) + "_OOV"));
  }
  word_penalty_ = features_.add("WordPenalty");
  rule_penalty_ = features_.add("RulePenalty");
  for (const char* name : kSentenceFeatures) features_.add(name);
  goal_ = add_label(parts.goal);

  std::set<std::string> owners;
  std::size_t unnamed = 0;
  for (const ModelParts::Table& part : parts.tables) {
    std::string owner = part.owner.empty() ? part.table->owner() : part.owner;
    if (owner.empty()) owner = default_owner(unnamed++);
    if (!owners.insert(owner).second) {
      throw FormatError(part.table->path() + ": a second rule table with the owner name \"" + owner + "\"");
    }
    add_table(part.table, std::move(owner), part.statics);
  }
  add_glue();
  for (const auto& local : local_features_) {
    local_offsets_.push_back(static_cast<std::uint32_t>(features_.size()));
    for (const std::string& name : local->names()) {
      if (features_.find(name) != FeatureSpace::kAbsent) {
        throw FormatError("local feature \"" + name + "\": the model has a feature of this name already");
      }
      features_.add(name);
    }
  }
  order_labels();
  for (BoundTable& bound : tables_) {
    bound.local_labels.assign(labels_.size(), kNoLabel);
    for (LabelId l = 0; l < bound.labels.size(); ++l) bound.local_labels[bound.labels[l]] = l;
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
                                 const std::string& statics) {
  BoundTable bound;
  bound.table = table;
  bound.owner = std::move(owner);
  bound.span_limit = table->span_limit();
  bind_names(bound);
  bind_words(bound);
  std::optional<RuleStatics> kept;
  if (!statics.empty()) kept = load_statics(statics, *table, lms_);
  bound.statics = kept ? std::move(*kept) : compute_statics(*table, lms_);
  tables_.push_back(std::move(bound));
}

// Glue rules for every left-hand label, unless a table derives the goal label itself.
void TranslationModel::add_glue() {
  std::vector<char> is_lhs(labels_.size(), 0);
  std::vector<char> is_rhs(labels_.size(), 0);
  for (BoundTable& bound : tables_) {
    for (const auto& use : bound.table->label_uses()) {
      const LabelId rhs = bound.labels[use.rhs];
      is_rhs[rhs] = 1;
      if (rhs == goal_ && (bound.labels[use.lhs] != goal_ || !use.leading)) goal_is_anchored_ = false;
    }
    for (LabelId label : bound.table->lhs_labels()) {
      is_lhs[bound.labels[label]] = 1;
      bound.has_goal_rules |= bound.labels[label] == goal_;
    }
  }
  const bool own_glue = is_lhs[goal_];
  const LabelId x = find_label("X");
  if (x != kNoLabel && (is_lhs[x] || is_rhs[x])) {
    pass_through_labels_.push_back(x);
  } else {
    for (LabelId label = 0; label < labels_.size(); ++label) {
      if (label != goal_ && is_lhs[label]) pass_through_labels_.push_back(label);
    }
  }
  if (pass_through_labels_.empty()) {
    pass_through_labels_.push_back(add_label("X"));
    is_lhs.resize(labels_.size(), 1);
  }
  features_.add("Glue");
  if (own_glue) return;

  goal_has_bos_ = goal_is_anchored_;
  for (LabelId label : pass_through_labels_) is_lhs[label] = 1;
  const std::string& goal = labels_[goal_];
  std::vector<Rule> rules;
  for (LabelId label = 0; label < labels_.size(); ++label) {
    if (label == goal_ || !is_lhs[label]) continue;
    const RuleToken piece{labels_[label], 1};
    rules.push_back({goal, {piece}, {piece}, {}, {}});
    const std::vector<RuleToken> pair{{goal, 1}, {labels_[label], 2}};
    rules.push_back({goal, pair, pair, {{"Glue", 1.0f}}, {}});
  }
  add_table(RuleTable::build(rules, "glue", 0), "glue", "");
  tables_.back().is_extracted = false;
  tables_.back().has_goal_rules = true;
}

void TranslationModel::bind_names(BoundTable& bound) {
  for (const std::string& name : bound.table->feature_names(bound.owner)) {
    const std::uint32_t feature = features_.add(name);
    if (feature <= word_penalty_) {
      throw FormatError(bound.table->path() + ": feature " + name +
                        " is one that the decoder computes itself");
    }
    bound.features.push_back(feature);
    bound.own_rule_penalty |= feature == rule_penalty_;
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
    const WordId id = bound.table->find_word(word);
    if (id == kNoWord) continue;
    const NodeId node = bound.table->child(RuleTable::kRoot, id);
    if (node != RuleTable::kNoNode && !bound.table->groups(node).empty()) return true;
  }
  return false;
}

// Topological order of labels by unary rules over all tables; a cycle has no finite derivation set.
void TranslationModel::order_labels() {
  struct Arc {
    LabelId child;
    LabelId parent;
    const BoundTable* table;
  };
  std::vector<Arc> arcs;
  std::vector<std::uint32_t> open_children(labels_.size(), 0);
  for (const BoundTable& bound : tables_) {
    for (const auto& use : bound.table->label_uses()) {
      if (!use.unary) continue;
      arcs.push_back({bound.labels[use.rhs], bound.labels[use.lhs], &bound});
      ++open_children[arcs.back().parent];
    }
  }
  ranks_.assign(labels_.size(), ~std::uint32_t{0});
  std::vector<LabelId> ready;
  for (LabelId label = 0; label < labels_.size(); ++label) {
    if (open_children[label] == 0) ready.push_back(label);
  }
  std::uint32_t next = 0;
  std::ranges::stable_sort(arcs, {}, &Arc::child);
  while (next < ready.size()) {
    const LabelId label = ready[next];
    ranks_[label] = next++;
    for (const Arc& arc : std::ranges::equal_range(arcs, label, {}, &Arc::child)) {
      if (--open_children[arc.parent] == 0) ready.push_back(arc.parent);
    }
  }
  if (next == labels_.size()) return;
  std::string message = "unary rules form a cycle:";
  for (const Arc& arc : arcs) {
    if (ranks_[arc.child] != ~std::uint32_t{0} || ranks_[arc.parent] != ~std::uint32_t{0}) continue;
    message +=
        " [" + labels_[arc.parent] + "] ||| [" + labels_[arc.child] + ",1] (table " + arc.table->owner + ")";
  }
  throw FormatError(message);
}

BoundTable TranslationModel::bind_sentence_rules(const std::vector<Rule>& rules) const {
  BoundTable bound;
  bound.table = RuleTable::build(rules, "sentence", 0);
  bound.owner = "sentence";
  bound.is_extracted = false;
  for (const std::string& name : bound.table->feature_names(bound.owner)) {
    bound.features.push_back(features_.find(name));
    if (bound.features.back() == FeatureSpace::kAbsent) {
      throw FormatError("sentence rules: the model has no feature \"" + name + "\"");
    }
  }
  for (const std::string& name : bound.table->labels()) {
    bound.labels.push_back(find_label(name));
    if (bound.labels.back() == kNoLabel) {
      throw FormatError("sentence rules: the model has no nonterminal [" + name + "]");
    }
  }
  bound.local_labels.assign(labels_.size(), kNoLabel);
  for (LabelId l = 0; l < bound.labels.size(); ++l) bound.local_labels[bound.labels[l]] = l;
  // Words the model does not know take the ids that follow its own, in the order of this table.
  WordId next = word_count();
  for (WordId w = 0; w < bound.table->word_count(); ++w) {
    const WordId id = find_word(bound.table->word(w));
    bound.words.push_back(id == kNoWord ? next++ : id);
  }
  bound.statics = compute_statics(*bound.table, lms_);
  return bound;
}

}  // namespace hiero
