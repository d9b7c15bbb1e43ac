// The packed rule table: an immutable trie of source sides. Each source side has a contiguous run of rules
// per left-hand label. The table is one memory-mapped file, or a buffer for rules that were made in memory.
//
// How to use:
//   1. auto table = RuleTable::open("grammar.hrt");         // checks header and names, parses nothing
//   2. NodeId n = table->child(RuleTable::kRoot, symbol);   // one step along the source side, or kNoNode
//   3. for (const RuleGroup& g : table->groups(n)) ...      // the rules of this source side, by label
//   4. table->dense(g.first_rule, g.count)                  // rule-major floats, dense_count() per rule
//   5. table->record(rule, record)                          // target side, links, sparse features, flags
// Every access checks bounds, and the checksums of blocks that it reads for the first time: a damaged file is
// a FormatError and never a fault. All methods may be called by several threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hiero/base/alignment_link.h"
#include "hiero/base/checked_blocks.h"
#include "hiero/base/mapped_file.h"
#include "hiero/base/symbol.h"
#include "hiero/grammar/packed_format.h"
#include "hiero/grammar/rule.h"

namespace hiero {

using NodeId = std::uint32_t;
using RuleId = std::uint32_t;

// Rules [first_rule, first_rule + count) share a source side and the left-hand label `lhs`.
struct RuleGroup {
  LabelId lhs;
  RuleId first_rule;
  std::uint32_t count;
};

struct SparseFeature {
  std::uint32_t feature;  // index into feature_names()
  float value;
};

// The parts of a rule besides its source side and dense features. record() decodes them into the same vectors
// again, so that a loop over rules does not allocate.
struct RuleRecord {
  std::vector<Symbol> target;
  std::vector<AlignmentLink> links;
  std::vector<SparseFeature> sparse;
  // Dense features that the rule does not have. Their value is 0, and they are not written as text.
  std::vector<std::uint32_t> absent;
  // Bit i: source nonterminal i crosses another nonterminal or a link (Chiang et al. 2008, section 4).
  std::uint8_t reordered = 0;
};

class RuleTable {
 public:
  static constexpr NodeId kRoot = 0;
  static constexpr NodeId kNoNode = ~NodeId{0};

  // A way in which rules of label `lhs` have a nonterminal of label `rhs` on their source side.
  struct LabelUse {
    LabelId lhs;
    LabelId rhs;
    bool leading;  // the nonterminal is the first symbol of the source side
    bool unary;    // the nonterminal is the whole source side
  };

  // Opens a packed file. Error messages begin with `name`, such as the name of the text that it was packed
  // from, or with `path` if `name` is empty. Throws FileError, or FormatError for a file that is no table, of
  // another version or byte order, or truncated.
  static std::shared_ptr<const RuleTable> open(const std::string& path, const std::string& name = "");
  // Makes a table of the bytes of a packed file. Throws FormatError as open() does.
  static std::shared_ptr<const RuleTable> from_image(std::vector<std::byte> image, const std::string& name);
  // Makes a table in memory. Throws FormatError as pack_rules() does.
  static std::shared_ptr<const RuleTable> build(const std::vector<Rule>& rules, const std::string& owner,
                                                std::uint32_t span_limit);

  const std::string& path() const { return path_; }         // empty for a table in memory
  const std::string& name() const { return name_; }         // the beginning of error messages
  const std::string& owner() const { return owner_; }       // may be empty
  std::uint32_t span_limit() const { return span_limit_; }  // maximum source words of a rule; 0: not set
  std::uint64_t rule_count() const { return header_.rules; }
  std::uint32_t node_count() const { return static_cast<std::uint32_t>(header_.nodes); }
  std::uint32_t dense_count() const { return header_.dense; }
  const std::vector<std::string>& labels() const { return labels_; }
  const std::vector<LabelId>& lhs_labels() const { return lhs_labels_; }
  const std::vector<LabelUse>& label_uses() const { return label_uses_; }
  // Returns the names of all features, those of dense features first. Values without a name are called
  // tm_<owner>_<position>; the owner is the table's, or "pt" where it has none, unless another one is given.
  std::vector<std::string> feature_names() const { return feature_names(owner_.empty() ? "pt" : owner_); }
  std::vector<std::string> feature_names(const std::string& owner) const;

  std::uint32_t word_count() const { return static_cast<std::uint32_t>(header_.words); }
  std::string_view word(WordId id) const;
  WordId find_word(std::string_view text) const;    // kNoWord if absent
  LabelId find_label(std::string_view text) const;  // kNoLabel if absent

  NodeId child(NodeId node, Symbol symbol) const;
  // Returns the children of a node as ids [first, last), sorted by symbol(), words before nonterminals.
  std::pair<NodeId, NodeId> children(NodeId node) const;
  Symbol symbol(NodeId node) const { return *elements<Symbol>(packed::kSymbols, node, 1); }
  // Returns the symbols of nodes [first, last).
  std::span<const Symbol> symbols(NodeId first, NodeId last) const {
    return {elements<Symbol>(packed::kSymbols, first, last - first), last - first};
  }
  std::span<const RuleGroup> groups(NodeId node) const;

  // Returns the dense features of rules first .. first + count - 1, rule-major.
  std::span<const float> dense(RuleId first, std::uint32_t count) const;
  void record(RuleId rule, RuleRecord& out) const;

  // Calls visit(source side, groups) for every source side with rules, in the order of rule ids.
  void visit(const std::function<void(std::span<const Symbol>, std::span<const RuleGroup>)>& visit) const;
  // Returns a rule as strings. `names` are feature_names().
  Rule rule(std::span<const Symbol> source, LabelId lhs, RuleId id,
            const std::vector<std::string>& names) const;
  // Finds the source side of a rule by a walk down the trie, and returns the rule as strings. Throws
  // std::out_of_range.
  Rule rule(RuleId id, const std::vector<std::string>& names) const;

  // Returns the rules whose source side is exactly these tokens of rule text; [X] and [X,1] are nonterminals.
  std::vector<Rule> lookup(std::span<const std::string> tokens) const;
  // Writes all rules as text, one a line, in pieces of about a megabyte.
  void write_text(const std::function<void(std::string_view)>& write) const;

  // Writes the packed table to a file, in full or not at all. Throws FileError.
  void save(const std::string& path) const;
  // Verifies every checksum and reads every record. Throws FormatError.
  void check() const;
  std::span<const std::byte> image() const { return image_; }
  // Returns a hash of the contents.
  std::uint64_t fingerprint() const;
  // Frees the memory of pages of the file. Call it after a pass over the whole table.
  void release_pages() const {
    if (file_) file_->release_pages();
  }

 private:
  RuleTable(std::unique_ptr<MappedFile> file, std::vector<std::byte> buffer, std::string path,
            std::string name);

  // Returns the symbol of a token of rule text; none if the table does not have it.
  std::optional<Symbol> find_symbol(std::string_view token) const;
  // Returns the first rule at a node or below it.
  RuleId first_rule(NodeId node) const;
  void read_header();
  void check_version() const;
  void check_sections() const;
  void read_meta();
  [[noreturn]] void throw_damaged(const std::string& what) const;

  // Returns `count` elements of a section from `first` on, verified and within bounds.
  template <class T>
  const T* elements(packed::Section section, std::uint64_t first, std::uint64_t count) const {
    const packed::Extent extent = header_.sections[section];
    const std::uint64_t size = extent.size / sizeof(T);
    if (first > size || count > size - first) throw_damaged("index out of range");
    const std::uint64_t offset = extent.offset + first * sizeof(T);
    blocks_.touch(offset, count * sizeof(T));
    return reinterpret_cast<const T*>(image_.data() + offset);
  }

  std::unique_ptr<MappedFile> file_;
  std::vector<std::byte> buffer_;
  std::span<const std::byte> image_;
  std::string path_;
  std::string name_;
  packed::Header header_{};
  CheckedBlocks blocks_;  // all sections before the checksums

  std::string owner_;
  std::uint32_t span_limit_ = 0;
  std::vector<std::string> labels_;
  std::vector<LabelId> lhs_labels_;
  std::vector<LabelUse> label_uses_;
  std::vector<std::string> feature_names_;
  std::vector<std::int32_t> feature_positions_;  // of values without a name; -1: the feature has a name
};

}  // namespace hiero
