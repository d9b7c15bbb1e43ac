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

namespace hiero {
namespace {

using packed::Header;

// A stretch of a section, written from front to back through a small buffer.
class Stream {
 public:
  Stream(ImageSink& sink, std::uint64_t offset) : sink_(&sink), offset_(offset) {}

  void write(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const std::byte*>(data);
    buffer_.insert(buffer_.end(), bytes, bytes + size);
    if (buffer_.size() >= kBuffer) flush();
  }
  template <class T>
  void put(const T& value) {
    write(&value, sizeof value);
  }
  void flush() {
    if (!buffer_.empty()) sink_->write(offset_, buffer_.data(), buffer_.size());
    offset_ += buffer_.size();
    buffer_.clear();
  }

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 14;
  ImageSink* sink_;
  std::uint64_t offset_;
  std::vector<std::byte> buffer_;
};

class Writer {
 public:
  Writer(const TableNames& names, const RuleScan& rules, ImageSink& sink, const std::function<void()>& pause)
      : names_(names), rules_(rules), sink_(sink), pause_(pause) {
    order_features();
  }

  std::uint64_t plan();
  void write();
  void write_sums();

 private:
  // Walks the trie that the sorted rules spell out: visit_node(depth, symbol) once per node in depth-
  // first order, visit_group(depth, lhs) per source side and label, visit_rule(row).
  template <class Node, class Group, class RuleVisit>
  void walk(const Node& visit_node, const Group& visit_group, const RuleVisit& visit_rule);
  void order_features();
  void encode(const RuleRow& row);
  std::vector<std::byte> encode_meta() const;
  void write_words();
  void write_trie();
  void place(packed::Section section, std::uint64_t size);

  static constexpr std::uint64_t kPauseStep = 1u << 14;  // rules
  const TableNames& names_;
  const RuleScan& rules_;
  ImageSink& sink_;
  const std::function<void()>& pause_;
  Header header_{};
  std::vector<std::uint32_t> index_;     // feature id -> index, dense ones first
  std::vector<std::uint32_t> by_index_;  // index -> feature id
  std::vector<std::uint64_t> nodes_at_;  // by depth
  std::vector<std::uint64_t> groups_at_;
  std::vector<std::byte> meta_;
  std::set<std::tuple<LabelId, LabelId, bool, bool>> label_uses_;
  std::set<LabelId> lhs_labels_;
  std::vector<float> dense_row_;
  std::vector<char> given_;  // of dense_row_
  std::vector<std::byte> record_;
  std::vector<SparseFeature> sparse_;  // of the current rule; marks have the value NaN
};

// Dense are the features that at least half of the rules give.
void Writer::order_features() {
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
void Writer::walk(const Node& visit_node, const Group& visit_group, const RuleVisit& visit_rule) {
  std::vector<Symbol> path;
  LabelId last_lhs = kNoLabel;
  std::uint64_t seen = 0;
  visit_node(std::size_t{0}, Symbol{0});
  rules_([&](const RuleRow& row) {
    if (seen++ % kPauseStep == 0) pause_();
    std::size_t shared = 0;
    while (shared < path.size() && shared < row.source.size() && path[shared] == row.source[shared]) ++shared;
    if (shared < path.size() || shared < row.source.size()) {
      path.resize(shared);
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
void Writer::encode(const RuleRow& row) {
  std::fill(dense_row_.begin(), dense_row_.end(), 0.0f);
  given_.assign(header_.dense, 0);
  sparse_.clear();
  for (const SparseFeature& feature : row.features) {
    const std::uint32_t index = index_[feature.feature];
    if (index < header_.dense) {
      dense_row_[index] = feature.value;
      given_[index] = 1;
    } else {
      sparse_.push_back({index, feature.value});
    }
  }
  record_.assign(row.body.begin(), row.body.end());
  const auto marks = static_cast<std::size_t>(std::count(given_.begin(), given_.end(), 0));
  put_varint(record_, sparse_.size() + marks);
  for (const SparseFeature& feature : sparse_) {
    put_varint(record_, std::uint64_t{feature.feature} << 1);
    const auto* bytes = reinterpret_cast<const std::byte*>(&feature.value);
    record_.insert(record_.end(), bytes, bytes + sizeof(float));
  }
  for (std::uint32_t i = 0; i < header_.dense; ++i) {
    if (!given_[i]) put_varint(record_, (std::uint64_t{i} << 1) | 1);
  }
}

void put_string(std::vector<std::byte>& out, std::string_view text) {
  put_varint(out, text.size());
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  out.insert(out.end(), bytes, bytes + text.size());
}

std::vector<std::byte> Writer::encode_meta() const {
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

void Writer::place(packed::Section section, std::uint64_t size) {
  header_.length = packed::aligned(header_.length);
  header_.sections[section] = {header_.length, size};
  header_.length += size;
}

// First pass: counts and the place of every section. Returns the length of the image.
std::uint64_t Writer::plan() {
  std::uint64_t record_bytes = 0;
  const auto count = [](std::vector<std::uint64_t>& at, std::size_t depth) {
    if (depth >= at.size()) at.resize(depth + 1, 0);
    ++at[depth];
  };
  walk([&](std::size_t depth, Symbol) { count(nodes_at_, depth); },
       [&](std::size_t depth, LabelId) { count(groups_at_, depth); },
       [&](const RuleRow& row) {
         encode(row);
         record_bytes += record_.size();
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
  header_.magic = packed::kMagic;
  header_.version = packed::kVersion;
  header_.byte_order = packed::kByteOrder;
  header_.words = names_.words.size();
  std::uint64_t word_bytes = 0;
  for (std::uint32_t w = 0; w < names_.words.size(); ++w) word_bytes += names_.words[w].size();
  meta_ = encode_meta();
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
  place(packed::kRecords, record_bytes);
  const std::uint64_t end = packed::aligned(header_.length);
  place(packed::kBlockSums, block_count(end) * sizeof(std::uint64_t));
  header_.sum = packed::header_sum(header_);
  return header_.length;
}

void Writer::write() {
  sink_.write(0, &header_, sizeof header_);
  sink_.write(header_.sections[packed::kMeta].offset, meta_.data(), meta_.size());
  write_words();
  write_trie();
}

void Writer::write_words() {
  Stream offsets(sink_, header_.sections[packed::kWordOffsets].offset);
  Stream bytes(sink_, header_.sections[packed::kWordBytes].offset);
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

// Second pass. Nodes of one depth come in the order of their breadth-first numbers, so every depth has
// its own stream into each of the node sections.
void Writer::write_trie() {
  struct Level {
    Stream symbols;
    Stream first_child;
    Stream first_group;
    Stream groups;
    std::uint32_t next_node;
    std::uint32_t next_group;
  };
  const auto at = [this](packed::Section section, std::uint64_t element, std::size_t size) {
    return header_.sections[section].offset + element * size;
  };
  std::vector<Level> levels;
  std::uint32_t node = 0;
  std::uint32_t group = 0;
  for (std::size_t depth = 0; depth < nodes_at_.size(); ++depth) {
    levels.push_back({Stream(sink_, at(packed::kSymbols, node, sizeof(Symbol))),
                      Stream(sink_, at(packed::kFirstChild, node, sizeof(NodeId))),
                      Stream(sink_, at(packed::kFirstGroup, node, sizeof(std::uint32_t))),
                      Stream(sink_, at(packed::kGroups, group, sizeof(RuleGroup))), node, group});
    node += static_cast<std::uint32_t>(nodes_at_[depth]);
    group += static_cast<std::uint32_t>(groups_at_[depth]);
  }
  Stream dense(sink_, header_.sections[packed::kDense].offset);
  Stream offsets(sink_, header_.sections[packed::kRecordOffsets].offset);
  Stream records(sink_, header_.sections[packed::kRecords].offset);
  RuleId rule = 0;
  std::uint64_t record_end = 0;
  offsets.put(record_end);
  RuleGroup open{kNoLabel, 0, 0};
  std::size_t open_depth = 0;
  const auto close_group = [&] {
    if (open.count > 0) levels[open_depth].groups.put(open);
    open.count = 0;
  };
  walk(
      [&](std::size_t depth, Symbol symbol) {
        close_group();
        Level& level = levels[depth];
        level.symbols.put(symbol);
        const bool deepest = depth + 1 == levels.size();
        level.first_child.put(deepest ? static_cast<NodeId>(header_.nodes) : levels[depth + 1].next_node);
        level.first_group.put(level.next_group);
        ++level.next_node;
      },
      [&](std::size_t depth, LabelId lhs) {
        close_group();
        open = {lhs, rule, 0};
        open_depth = depth;
        ++levels[depth].next_group;
      },
      [&](const RuleRow& row) {
        encode(row);
        dense.write(dense_row_.data(), dense_row_.size() * sizeof(float));
        records.write(record_.data(), record_.size());
        record_end += record_.size();
        offsets.put(record_end);
        ++open.count;
        ++rule;
      });
  close_group();
  for (Level& level : levels) {
    level.symbols.flush();
    level.first_child.flush();
    level.first_group.flush();
    level.groups.flush();
  }
  dense.flush();
  offsets.flush();
  records.flush();
  const auto nodes = static_cast<std::uint32_t>(header_.nodes);
  const auto groups = static_cast<std::uint32_t>(header_.groups);
  sink_.write(at(packed::kFirstChild, nodes, sizeof(NodeId)), &nodes, sizeof nodes);
  sink_.write(at(packed::kFirstGroup, nodes, sizeof groups), &groups, sizeof groups);
}

void Writer::write_sums() {
  const packed::Extent place = header_.sections[packed::kBlockSums];
  std::vector<std::byte> block(kBlockSize);
  std::vector<std::uint64_t> sums;
  for (std::uint64_t at = 0; at < place.offset; at += kBlockSize) {
    const std::size_t size = std::min<std::uint64_t>(kBlockSize, place.offset - at);
    sink_.read(at, block.data(), size);
    sums.push_back(checksum(block.data(), size));
  }
  sink_.write(place.offset, sums.data(), sums.size() * sizeof(std::uint64_t));
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
                 const std::function<void()>& pause) {
  Writer writer(names, rules, sink, pause);
  sink.allocate(writer.plan());
  writer.write();
  writer.write_sums();
}

void write_table(const TableNames& names, const RuleScan& rules, OutputFile& file,
                 const std::function<void()>& pause) {
  FileSink sink(file);
  write_table(names, rules, sink, pause);
}

}  // namespace hiero
