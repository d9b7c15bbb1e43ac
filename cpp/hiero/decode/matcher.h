// CYK+ without a dot chart (Sennrich 2014, "A CYK+ Variant for SCFG Decoding Without a Dot Chart").
// Start positions run right to left, end positions left to right; a partial match lives on the call
// stack only. When a match passes position k, all constituents that begin at k > i are known already;
// those that begin at i itself are fed in one by one as their cells are completed.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "hiero/decode/chart.h"
#include "hiero/decode/options.h"
#include "hiero/decode/sentence.h"

namespace hiero {

class Matcher {
 public:
  explicit Matcher(const TranslationModel& model) : model_(model) {}

  // Fills `chart` with every rule application that can be part of a derivation of the whole sentence,
  // once each; cells bottom-up, so that antecedents come first.
  void run(const Sentence& sentence, std::uint32_t span_limit, Chart& chart);

 private:
  struct Table {
    const BoundTable* bound;
    const WordId* words;
    std::uint32_t index;
    std::uint32_t span_limit;
    bool has_goal_rules;         // these may span any length
    std::uint32_t walk_end = 0;  // no match from the current start need go further
  };
  struct PendingCell {
    Cell cell;
    CellId next;  // another label over the same span
  };

  void start_at(std::uint32_t begin);
  void extend(const Table& table, NodeId node, std::uint32_t at, CellId tail0, CellId tail1);
  void emit(const Table& table, NodeId node, std::uint32_t end, CellId tail0, CellId tail1);
  CellId next_by_rank(std::uint32_t begin, std::uint32_t end, std::int64_t after) const;
  CellId cell_at(std::uint32_t begin, std::uint32_t end, LabelId label);
  std::uint32_t target_set(const Table& table, const RuleGroup& group);
  void finish();

  std::uint32_t walk_end(const Table& table, std::uint32_t begin) const;
  std::size_t span(std::uint32_t begin, std::uint32_t end) const { return row_[begin] + (end - begin); }

  const TranslationModel& model_;
  Chart* chart_ = nullptr;
  std::uint32_t n_ = 0;
  std::uint32_t begin_ = 0;
  std::vector<Table> tables_;
  std::vector<PendingCell> cells_;
  std::vector<std::size_t> row_;                 // by begin: where its spans start in first_of_span_
  std::vector<CellId> first_of_span_;            // by span(): head of a list through PendingCell::next
  std::vector<std::vector<CellId>> cells_from_;  // complete cells by start position, by end
  std::unordered_map<std::uint64_t, std::uint32_t> set_index_;
  // Scratch of finish().
  std::vector<CellId> order_;
  std::vector<char> useful_;
  std::vector<Application> sorted_;
  std::vector<std::uint32_t> renumber_;
  std::vector<std::uint32_t> firsts_;
  std::vector<std::uint32_t> nexts_;
};

}  // namespace hiero
