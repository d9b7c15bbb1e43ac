#include "hiero/grammar/rule_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "hiero/base/cursor.h"
#include "hiero/base/error.h"
#include "hiero/base/line_reader.h"
#include "hiero/base/output_file.h"
#include "hiero/base/vocab.h"

namespace hiero {

std::shared_ptr<const RuleTable> RuleTable::open(const std::string& path, const std::string& name) {
  return std::shared_ptr<const RuleTable>(
      new RuleTable(std::make_unique<MappedFile>(path), {}, path, name.empty() ? path : name));
}

std::shared_ptr<const RuleTable> RuleTable::from_image(std::vector<std::byte> image,
                                                       const std::string& name) {
  return std::shared_ptr<const RuleTable>(new RuleTable(nullptr, std::move(image), "", name));
}

RuleTable::RuleTable(std::unique_ptr<MappedFile> file, std::vector<std::byte> buffer, std::string path,
                     std::string name)
    : file_(std::move(file)),
      buffer_(std::move(buffer)),
      image_(file_ ? file_->bytes() : buffer_),
      path_(std::move(path)),
      name_(std::move(name)) {
  read_header();
  const std::uint64_t sums = header_.sections[packed::kBlockSums].offset;
  blocks_ = CheckedBlocks(image_.first(sums), image_.data() + sums, name_ + ": damaged rule table");
  read_meta();
}

void RuleTable::throw_damaged(const std::string& what) const {
  throw FormatError(name_ + ": damaged rule table: " + what);
}

void RuleTable::read_header() {
  if (image_.size() < packed::kMagic.size() ||
      std::memcmp(image_.data(), packed::kMagic.data(), packed::kMagic.size()) != 0) {
    throw FormatError(name_ + ": not a packed rule table (hiero pack makes one from text)");
  }
  std::memcpy(&header_, image_.data(), std::min(image_.size(), sizeof header_));
  if (image_.size() >= offsetof(packed::Header, length)) check_version();
  if (image_.size() < sizeof header_) throw_damaged("truncated");
  if (header_.sum != packed::header_sum(header_)) throw_damaged("wrong checksum of the header");
  if (header_.length != image_.size()) {
    throw_damaged(std::to_string(image_.size()) + " bytes long, expected " + std::to_string(header_.length));
  }
  check_sections();
}

void RuleTable::check_version() const {
  if (header_.byte_order != packed::kByteOrder) {
    throw FormatError(name_ + ": rule table of another byte order: pack the text grammar on this machine");
  }
  if (header_.version != packed::kVersion) {
    throw FormatError(name_ + ": rule table of format version " + std::to_string(header_.version) +
                      ", this program reads version " + std::to_string(packed::kVersion) +
                      ": pack the text grammar again");
  }
}

void RuleTable::check_sections() const {
  const std::uint64_t sums = block_count(header_.sections[packed::kBlockSums].offset);
  const std::uint64_t slots = header_.sections[packed::kWordSlots].size / sizeof(std::uint32_t);
  const std::uint64_t limit = image_.size();
  const bool plausible = header_.nodes > 0 && header_.nodes < limit && header_.rules < limit &&
                         header_.words < limit && header_.groups < limit && header_.dense < limit &&
                         std::has_single_bit(slots) && slots > header_.words;
  if (!plausible) throw_damaged("impossible counts");
  const std::uint64_t sizes[] = {0,
                                 (header_.words + 1) * sizeof(std::uint64_t),
                                 0,
                                 slots * sizeof(std::uint32_t),
                                 header_.nodes * sizeof(Symbol),
                                 (header_.nodes + 1) * sizeof(NodeId),
                                 (header_.nodes + 1) * sizeof(std::uint32_t),
                                 header_.groups * sizeof(RuleGroup),
                                 header_.rules * header_.dense * sizeof(float),
                                 (header_.rules + 1) * sizeof(std::uint64_t),
                                 0,
                                 sums * sizeof(std::uint64_t)};
  for (std::uint32_t s = 0; s < packed::kSectionCount; ++s) {
    const packed::Extent extent = header_.sections[s];
    const bool inside = extent.offset % packed::kAlign == 0 && extent.offset >= sizeof header_ &&
                        extent.offset <= limit && extent.size <= limit - extent.offset;
    const bool any_size = s == packed::kMeta || s == packed::kWordBytes || s == packed::kRecords;
    const bool before_sums =
        s == packed::kBlockSums || extent.offset + extent.size <= header_.sections[packed::kBlockSums].offset;
    if (!inside || !before_sums || (!any_size && extent.size != sizes[s]))
      throw_damaged("impossible section table");
  }
}

std::uint64_t RuleTable::fingerprint() const {
  const packed::Extent sums = header_.sections[packed::kBlockSums];
  return checksum(image_.data() + sums.offset, sums.size);
}

void RuleTable::read_meta() {
  const std::uint64_t size = header_.sections[packed::kMeta].size;
  const std::byte* meta = elements<std::byte>(packed::kMeta, 0, size);
  Cursor in(meta, meta + size);
  const auto text = [&](const char* what) {
    std::string name(in.string());
    if (!is_utf8(name)) throw_damaged(std::string(what) + " that is not UTF-8");
    return name;
  };
  owner_ = text("an owner");
  span_limit_ = static_cast<std::uint32_t>(in.varint());
  for (std::uint64_t n = in.count(); n > 0; --n) labels_.push_back(text("a label"));
  for (std::uint64_t n = in.count(); n > 0; --n) {
    feature_names_.push_back(text("a feature name"));
    feature_positions_.push_back(static_cast<std::int32_t>(in.varint()) - 1);
  }
  for (std::uint64_t n = in.count(); n > 0; --n) lhs_labels_.push_back(static_cast<LabelId>(in.varint()));
  for (std::uint64_t n = in.count(); n > 0; --n) {
    const auto lhs = static_cast<LabelId>(in.varint());
    const auto rhs = static_cast<LabelId>(in.varint());
    const std::uint64_t flags = in.varint();
    label_uses_.push_back({lhs, rhs, (flags & 1) != 0, (flags & 2) != 0});
  }
  bool valid = in.ok() && in.at_end() && feature_names_.size() >= header_.dense;
  for (LabelId label : lhs_labels_) valid &= label < labels_.size();
  for (const LabelUse& use : label_uses_) valid &= use.lhs < labels_.size() && use.rhs < labels_.size();
  if (!valid) throw_damaged("unreadable names");
}

std::vector<std::string> RuleTable::feature_names(const std::string& owner) const {
  std::vector<std::string> names = feature_names_;
  for (std::size_t f = 0; f < names.size(); ++f) {
    if (feature_positions_[f] >= 0) names[f] = "tm_" + owner + "_" + std::to_string(feature_positions_[f]);
  }
  return names;
}

std::string_view RuleTable::word(WordId id) const {
  const std::uint64_t* offsets = elements<std::uint64_t>(packed::kWordOffsets, id, 2);
  if (offsets[1] < offsets[0]) throw_damaged("word offsets");
  const std::uint64_t size = offsets[1] - offsets[0];
  const std::string_view text(elements<char>(packed::kWordBytes, offsets[0], size), size);
  if (!is_utf8(text)) throw_damaged("a word that is not UTF-8");
  return text;
}

WordId RuleTable::find_word(std::string_view text) const {
  const std::uint64_t mask = header_.sections[packed::kWordSlots].size / sizeof(std::uint32_t) - 1;
  std::uint64_t at = hash_word(text) & mask;
  // A damaged table may have no empty slot, so the number of probes is bounded.
  for (std::uint64_t probes = 0; probes <= mask; ++probes, at = (at + 1) & mask) {
    const std::uint32_t slot = *elements<std::uint32_t>(packed::kWordSlots, at, 1);
    if (slot == 0) return kNoWord;
    if (word(slot - 1) == text) return slot - 1;
  }
  return kNoWord;
}

LabelId RuleTable::find_label(std::string_view text) const {
  const auto it = std::find(labels_.begin(), labels_.end(), text);
  return it == labels_.end() ? kNoLabel : static_cast<LabelId>(it - labels_.begin());
}

std::pair<NodeId, NodeId> RuleTable::children(NodeId node) const {
  const NodeId* first = elements<NodeId>(packed::kFirstChild, node, 2);
  // Children have larger ids than their parent, so that a walk always ends.
  if (first[0] <= node || first[1] < first[0] || first[1] > header_.nodes) throw_damaged("trie");
  return {first[0], first[1]};
}

NodeId RuleTable::child(NodeId node, Symbol symbol) const {
  const auto [first, last] = children(node);
  const Symbol* symbols = elements<Symbol>(packed::kSymbols, first, last - first);
  // A binary search without branches: no load waits for a mispredicted branch.
  std::size_t size = last - first;
  if (size == 0) return kNoNode;
  const Symbol* base = symbols;
  while (size > 1) {
    const std::size_t half = size / 2;
    base = base[half] <= symbol ? base + half : base;
    size -= half;
  }
  return *base == symbol ? first + static_cast<NodeId>(base - symbols) : kNoNode;
}

std::span<const RuleGroup> RuleTable::groups(NodeId node) const {
  const std::uint32_t* first = elements<std::uint32_t>(packed::kFirstGroup, node, 2);
  if (first[1] < first[0]) throw_damaged("rule groups");
  const std::uint32_t count = first[1] - first[0];
  const std::span<const RuleGroup> node_groups(elements<RuleGroup>(packed::kGroups, first[0], count), count);
  for (const RuleGroup& group : node_groups) {
    if (group.lhs >= labels_.size() || group.count == 0 || group.first_rule > header_.rules ||
        group.count > header_.rules - group.first_rule) {
      throw_damaged("rule groups");
    }
  }
  return node_groups;
}

std::span<const float> RuleTable::dense(RuleId first, std::uint32_t count) const {
  const std::uint64_t width = header_.dense;
  return {elements<float>(packed::kDense, first * width, count * width), count * width};
}

namespace {

// The readers of the parts of a record return whether all ids are in range. Whether bytes are missing, the
// cursor tells.
bool read_target(Cursor& in, std::uint64_t word_count, std::vector<Symbol>& target) {
  bool valid = true;
  unsigned seen = 0;  // a bit per source nonterminal
  for (std::uint64_t n = in.count(); n > 0; --n) {
    const std::uint64_t code = in.varint();
    const auto id = static_cast<std::uint32_t>(code >> 1);
    if (code & 1) {
      valid &= id < kMaxArity && !(seen >> id & 1);
      seen |= 1u << (id % kMaxArity);
      target.push_back(nonterminal(id % kMaxArity));
    } else {
      valid &= id < word_count;
      target.push_back(id);
    }
  }
  return valid && (seen & (seen + 1)) == 0;  // nonterminals are numbered without a gap
}

bool read_links(Cursor& in, std::size_t target_size, std::vector<AlignmentLink>& links) {
  bool valid = true;
  for (std::uint64_t n = in.count(); n > 0; --n) {
    const auto source = static_cast<std::uint32_t>(in.varint());
    const auto target = static_cast<std::uint32_t>(in.varint());
    valid &= target < target_size;
    links.push_back({source, target});
  }
  return valid;
}

bool read_features(Cursor& in, std::size_t feature_count, RuleRecord& record) {
  bool valid = true;
  for (std::uint64_t n = in.count(); n > 0; --n) {
    const std::uint64_t code = in.varint();
    const auto feature = static_cast<std::uint32_t>(code >> 1);
    valid &= feature < feature_count;
    if (code & 1) {
      record.absent.push_back(feature);
      continue;
    }
    float value = 0;
    const std::string_view bytes = in.bytes(sizeof value);
    if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
    valid &= std::isfinite(value);
    record.sparse.push_back({feature, value});
  }
  return valid;
}

}  // namespace

void RuleTable::record(RuleId rule, RuleRecord& out) const {
  const std::uint64_t* offsets = elements<std::uint64_t>(packed::kRecordOffsets, rule, 2);
  if (offsets[1] < offsets[0]) throw_damaged("record offsets");
  const std::uint64_t size = offsets[1] - offsets[0];
  const std::byte* data = elements<std::byte>(packed::kRecords, offsets[0], size);
  Cursor in(data, data + size);
  out.target.clear();
  out.links.clear();
  out.sparse.clear();
  out.absent.clear();
  out.reordered = 0;
  const std::string_view flags = in.bytes(1);
  if (!flags.empty()) out.reordered = static_cast<std::uint8_t>(flags[0]);
  bool valid = read_target(in, header_.words, out.target);
  valid &= read_links(in, out.target.size(), out.links);
  valid &= read_features(in, feature_names_.size(), out);
  if (!valid || !in.ok() || !in.at_end()) throw_damaged("record of rule " + std::to_string(rule));
}

void RuleTable::visit(
    const std::function<void(std::span<const Symbol>, std::span<const RuleGroup>)>& visit) const {
  struct Level {
    NodeId next;
    NodeId last;
  };
  std::vector<Symbol> source;
  std::vector<Level> stack;
  const auto enter = [&](NodeId node) {
    const std::span<const RuleGroup> node_groups = groups(node);
    if (!node_groups.empty()) visit(source, node_groups);
    const auto [first, last] = children(node);
    stack.push_back({first, last});
  };
  enter(kRoot);
  while (!stack.empty()) {
    Level& level = stack.back();
    if (level.next == level.last) {
      stack.pop_back();
      if (!source.empty()) source.pop_back();
      continue;
    }
    const NodeId node = level.next++;
    source.push_back(symbol(node));
    enter(node);
  }
}

void RuleTable::save(const std::string& path) const {
  OutputFile file(path);
  file.write_at(0, image_.data(), image_.size());
  file.commit();
}

void RuleTable::check() const {
  blocks_.touch(0, header_.sections[packed::kBlockSums].offset);
  const std::vector<std::string> names = feature_names(owner_);
  for (WordId w = 0; w < word_count(); ++w) static_cast<void>(word(w));
  std::uint64_t rules = 0;
  visit([&](std::span<const Symbol> source, std::span<const RuleGroup> node_groups) {
    for (const RuleGroup& group : node_groups) {
      for (float value : dense(group.first_rule, group.count)) {
        if (!std::isfinite(value)) throw_damaged("a feature that is not finite");
      }
      for (RuleId id = group.first_rule; id < group.first_rule + group.count; ++id)
        static_cast<void>(rule(source, group.lhs, id, names));
      rules += group.count;
    }
  });
  if (rules != header_.rules) throw_damaged("number of rules");
}

}  // namespace hiero
