#include "hiero/grammar/table_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <set>
#include <tuple>

#include "hiero/base/checked_blocks.h"
#include "hiero/base/error.h"
#include "hiero/base/varint.h"
#include "hiero/grammar/packed_format.h"
#include "hiero/grammar/section_streams.h"

namespace hiero {
namespace {

using packed::Header;

class TableWriter {
 public:
  TableWriter(const TableNames& names, const RuleScan& rules, ImageSink& sink,
              const std::function<void()>& poll)
      : names_(names), rules_(rules), sink_(sink), poll_(poll) {
    order_features();
  }

  // The first pass: counts, and finds the place of every section. Returns the length of the table.
  std::uint64_t plan();
  // The second pass: writes all sections but the checksums.
  void write();
  void write_sums();

 private:
  // Walks the trie of the sorted rules. Calls visit_node(depth, symbol) for every node, depth first,
  // visit_group(depth, lhs) for every source side and label, and visit_rule(row) for every rule.
  template <class Node, class Group, class RuleVisit>
  void walk(const Node& visit_node, const Group& visit_group, const RuleVisit& visit_rule);
  void count();
  void place_sections();
  void order_features();
  void encode(const RuleRow& row);
  std::vector<std::byte> encode_meta() const;
  void write_words();
  void write_rules();
  void place(packed::Section section, std::uint64_t size);

  static constexpr std::uint64_t kPollInterval = 1u << 14;  // rules
  const TableNames& names_;
  const RuleScan& rules_;
  ImageSink& sink_;
  const std::function<void()>& poll_;
  Header header_{};
  std::vector<std::uint32_t> index_;      // feature id -> index in the table, dense features first
  std::vector<std::uint32_t> by_index_;   // index -> feature id
  std::vector<std::uint64_t> nodes_at_;   // by depth: number of nodes
  std::vector<std::uint64_t> groups_at_;  // by depth: number of groups
  std::uint64_t record_bytes_ = 0;        // of all rules
  std::vector<std::byte> meta_;
  std::set<std::tuple<LabelId, LabelId, bool, bool>> label_uses_;
  std::set<LabelId> lhs_labels_;
  std::vector<float> dense_row_;
  std::vector<char> has_dense_;  // whether the rule has the feature, parallel to dense_row_
  std::vector<std::byte> record_;
  std::vector<SparseFeature> sparse_;  // of the current rule
};

// Puts the dense features first: those that at least half of the rules have.
void TableWriter::order_features() {
  const auto count = static_cast<std::uint32_t>(names_.features.size());
  by_index_.resize(count);
  std::iota(by_index_.begin(), by_index_.end(), 0u);
  const auto is_dense = [this](std::uint32_t f) { return 2 * names_.features[f].rules >= names_.rules; };
  const auto middle = std::stable_partition(by_index_.begin(), by_index_.end(), is_dense);
  header_.dense = static_cast<std::uint32_t>(middle - by_index_.begin());
  index_.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) index_[by_index_[i]] = i;
  dense_row_.resize(header_.dense);
}

template <class Node, class Group, class RuleVisit>
void TableWriter::walk(const Node& visit_node, const Group& visit_group, const RuleVisit& visit_rule) {
  std::vector<Symbol> path;
  LabelId last_lhs = kNoLabel;
  std::uint64_t visited = 0;
  visit_node(std::size_t{0}, Symbol{0});
  rules_([&](const RuleRow& row) {
    if (visited++ % kPollInterval == 0) poll_();
    std::size_t common = 0;
    while (common < path.size() && common < row.source.size() && path[common] == row.source[common]) ++common;
    if (common < path.size() || common < row.source.size()) {
      path.resize(common);
      last_lhs = kNoLabel;
      while (path.size() < row.source.size()) {
        path.push_back(row.source[path.size()]);
        visit_node(path.size(), path.back());
      }
    }
    if (row.lhs != last_lhs) visit_group(path.size(), row.lhs);
    last_lhs = row.lhs;
    visit_rule(row);
  });
}

// Fills dense_row_ and record_ for a rule.
void TableWriter::encode(const RuleRow& row) {
  std::fill(dense_row_.begin(), dense_row_.end(), 0.0f);
  has_dense_.assign(header_.dense, 0);
  sparse_.clear();
  for (const SparseFeature& feature : row.features) {
    const std::uint32_t index = index_[feature.feature];
    if (index < header_.dense) {
      dense_row_[index] = feature.value;
      has_dense_[index] = 1;
    } else {
      sparse_.push_back({index, feature.value});
    }
  }
  record_.assign(row.body.begin(), row.body.end());
  const auto absent = static_cast<std::size_t>(std::ranges::count(has_dense_, 0));
  put_varint(record_, sparse_.size() + absent);
  for (const SparseFeature& feature : sparse_) {
    put_varint(record_, std::uint64_t{feature.feature} << 1);
    const auto* bytes = reinterpret_cast<const std::byte*>(&feature.value);
    record_.insert(record_.end(), bytes, bytes + sizeof(float));
  }
  for (std::uint32_t i = 0; i < header_.dense; ++i) {
    if (!has_dense_[i]) put_varint(record_, (std::uint64_t{i} << 1) | 1);
  }
}

std::vector<std::byte> TableWriter::encode_meta() const {
  std::vector<std::byte> out;
  put_string(out, names_.owner);
  put_varint(out, names_.span_limit);
  put_varint(out, names_.labels.size());
  for (std::uint32_t l = 0; l < names_.labels.size(); ++l) put_string(out, names_.labels[l]);
  put_varint(out, by_index_.size());
  for (std::uint32_t f : by_index_) {
    put_string(out, names_.features[f].name);
    put_varint(out, static_cast<std::uint64_t>(names_.features[f].position + 1));
  }
  put_varint(out, lhs_labels_.size());
  for (LabelId label : lhs_labels_) put_varint(out, label);
  put_varint(out, label_uses_.size());
  for (const auto& [lhs, rhs, leading, unary] : label_uses_) {
    put_varint(out, lhs);
    put_varint(out, rhs);
    put_varint(out, (leading ? 1u : 0u) | (unary ? 2u : 0u));
  }
  return out;
}

void TableWriter::place(packed::Section section, std::uint64_t size) {
  header_.length = packed::aligned(header_.length);
  header_.sections[section] = {header_.length, size};
  header_.length += size;
}

void TableWriter::count() {
  const auto increment = [](std::vector<std::uint64_t>& counts, std::size_t depth) {
    if (depth >= counts.size()) counts.resize(depth + 1, 0);
    ++counts[depth];
  };
  walk([&](std::size_t depth, Symbol) { increment(nodes_at_, depth); },
       [&](std::size_t depth, LabelId) { increment(groups_at_, depth); },
       [&](const RuleRow& row) {
         encode(row);
         record_bytes_ += record_.size();
         ++header_.rules;
         lhs_labels_.insert(row.lhs);
         for (std::size_t i = 0; i < row.source.size(); ++i) {
           if (is_nonterminal(row.source[i])) {
             label_uses_.insert({row.lhs, payload(row.source[i]), i == 0, row.source.size() == 1});
           }
         }
       });
  groups_at_.resize(nodes_at_.size(), 0);
  header_.nodes = std::accumulate(nodes_at_.begin(), nodes_at_.end(), std::uint64_t{0});
  header_.groups = std::accumulate(groups_at_.begin(), groups_at_.end(), std::uint64_t{0});
  if (header_.rules > 0xFFFFFFFEu || header_.nodes > 0xFFFFFFFEu) {
    throw FormatError(
        "more than 4294967294 rules or trie nodes in one table: split the grammar into several");
  }
}

std::uint64_t TableWriter::plan() {
  count();
  header_.magic = packed::kMagic;
  header_.version = packed::kVersion;
  header_.byte_order = packed::kByteOrder;
  header_.words = names_.words.size();
  meta_ = encode_meta();
  place_sections();
  header_.sum = packed::header_sum(header_);
  return header_.length;
}

void TableWriter::place_sections() {
  std::uint64_t word_bytes = 0;
  for (std::uint32_t w = 0; w < names_.words.size(); ++w) word_bytes += names_.words[w].size();
  header_.length = sizeof(Header);
  place(packed::kMeta, meta_.size());
  place(packed::kWordOffsets, (header_.words + 1) * sizeof(std::uint64_t));
  place(packed::kWordBytes, word_bytes);
  place(packed::kWordSlots, std::bit_ceil(2 * header_.words + 1) * sizeof(std::uint32_t));
  place(packed::kSymbols, header_.nodes * sizeof(Symbol));
  place(packed::kFirstChild, (header_.nodes + 1) * sizeof(NodeId));
  place(packed::kFirstGroup, (header_.nodes + 1) * sizeof(std::uint32_t));
  place(packed::kGroups, header_.groups * sizeof(RuleGroup));
  place(packed::kDense, header_.rules * header_.dense * sizeof(float));
  place(packed::kRecordOffsets, (header_.rules + 1) * sizeof(std::uint64_t));
  place(packed::kRecords, record_bytes_);
  const std::uint64_t end = packed::aligned(header_.length);
  place(packed::kBlockSums, block_count(end) * sizeof(std::uint64_t));
}

void TableWriter::write() {
  sink_.write(0, &header_, sizeof header_);
  sink_.write(header_.sections[packed::kMeta].offset, meta_.data(), meta_.size());
  write_words();
  write_rules();
}

void TableWriter::write_words() {
  SectionStream offsets(sink_, header_.sections[packed::kWordOffsets].offset);
  SectionStream bytes(sink_, header_.sections[packed::kWordBytes].offset);
  std::vector<std::uint32_t> slots(header_.sections[packed::kWordSlots].size / sizeof(std::uint32_t), 0);
  std::uint64_t offset = 0;
  offsets.put(offset);
  for (std::uint32_t w = 0; w < names_.words.size(); ++w) {
    const std::string_view word = names_.words[w];
    offset += word.size();
    offsets.put(offset);
    bytes.write(word.data(), word.size());
    std::size_t at = hash_word(word) & (slots.size() - 1);
    while (slots[at] != 0) at = (at + 1) & (slots.size() - 1);
    slots[at] = w + 1;
  }
  offsets.flush();
  bytes.flush();
  sink_.write(header_.sections[packed::kWordSlots].offset, slots.data(),
              slots.size() * sizeof(std::uint32_t));
}

void TableWriter::write_rules() {
  NodeStreams nodes(sink_, header_, nodes_at_, groups_at_);
  SectionStream dense(sink_, header_.sections[packed::kDense].offset);
  SectionStream offsets(sink_, header_.sections[packed::kRecordOffsets].offset);
  SectionStream records(sink_, header_.sections[packed::kRecords].offset);
  RuleId rule = 0;
  std::uint64_t record_end = 0;
  offsets.put(record_end);
  walk([&](std::size_t depth, Symbol symbol) { nodes.add_node(depth, symbol); },
       [&](std::size_t depth, LabelId lhs) { nodes.add_group(depth, lhs, rule); },
       [&](const RuleRow& row) {
         encode(row);
         dense.write(dense_row_.data(), dense_row_.size() * sizeof(float));
         records.write(record_.data(), record_.size());
         record_end += record_.size();
         offsets.put(record_end);
         nodes.add_rule();
         ++rule;
       });
  nodes.finish();
  dense.flush();
  offsets.flush();
  records.flush();
}

void TableWriter::write_sums() {
  const packed::Extent extent = header_.sections[packed::kBlockSums];
  std::vector<std::byte> block(kBlockSize);
  std::vector<std::uint64_t> sums;
  for (std::uint64_t begin = 0; begin < extent.offset; begin += kBlockSize) {
    const std::size_t size = std::min<std::uint64_t>(kBlockSize, extent.offset - begin);
    sink_.read(begin, block.data(), size);
    sums.push_back(checksum(block.data(), size));
  }
  sink_.write(extent.offset, sums.data(), sums.size() * sizeof(std::uint64_t));
}

class FileSink : public ImageSink {
 public:
  explicit FileSink(OutputFile& file) : file_(file) {}

  // Gaps between sections read as zeros.
  void allocate(std::uint64_t length) override { file_.write_at(length - 1, "", 1); }
  void write(std::uint64_t offset, const void* data, std::size_t size) override {
    file_.write_at(offset, data, size);
  }
  void read(std::uint64_t offset, void* data, std::size_t size) const override {
    file_.read_at(offset, data, size);
  }

 private:
  OutputFile& file_;
};

}  // namespace

void write_table(const TableNames& names, const RuleScan& rules, ImageSink& sink,
                 const std::function<void()>& poll) {
  TableWriter writer(names, rules, sink, poll);
  sink.allocate(writer.plan());
  writer.write();
  writer.write_sums();
}

void write_table(const TableNames& names, const RuleScan& rules, OutputFile& file,
                 const std::function<void()>& poll) {
  FileSink sink(file);
  write_table(names, rules, sink, poll);
}

}  // namespace hiero
