#include "hiero/forest/record.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "hiero/base/checksum.h"
#include "hiero/base/cursor.h"
#include "hiero/base/error.h"
#include "hiero/base/varint.h"
#include "hiero/forest/validate.h"

namespace hiero {
namespace {

static_assert(std::endian::native == std::endian::little, "records are little-endian");

constexpr std::string_view kRecordMagic = "HFR2";
constexpr std::size_t kHeader = kRecordMagic.size() + sizeof(std::uint64_t);
constexpr double kWhole = 1 << 20;  // whole values below this are written as integers

// Maps signed numbers to unsigned ones, small to small.
std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

// Rule table, rule id and target template of an edge.
using Kind = std::tuple<std::int32_t, std::int64_t, std::int32_t>;

class RecordWriter {
 public:
  explicit RecordWriter(const Forest& forest) : forest_(forest), graph_(*forest.graph) {}

  std::vector<std::byte> run() {
    const auto magic = std::as_bytes(std::span(kRecordMagic));
    out_.assign(magic.begin(), magic.end());
    out_.resize(kHeader);
    for (const auto* strings : {&graph_.source, &graph_.words, &graph_.labels, &graph_.tables})
      put_strings(*strings);
    put_lattice();
    put_templates();
    put_nodes();
    put_edges();
    put_annotations();
    const std::uint64_t sum = checksum(out_.data() + kHeader, out_.size() - kHeader);
    std::memcpy(out_.data() + kRecordMagic.size(), &sum, sizeof sum);
    return std::move(out_);
  }

 private:
  void put(std::uint64_t value) { put_varint(out_, value); }
  void put_signed(std::int64_t value) { put(zigzag(value)); }

  void put_strings(const std::vector<std::string>& strings) {
    put(strings.size());
    for (const std::string& string : strings) {
      put(string.size());
      const auto bytes = std::as_bytes(std::span(string));
      out_.insert(out_.end(), bytes.begin(), bytes.end());
    }
  }

  void put_lattice() {
    put(graph_.source_nodes.size() / 2);
    for (std::size_t at = 0; at < graph_.source_nodes.size(); at += 2) {
      put(static_cast<std::uint64_t>(graph_.source_nodes[at]));
      put(static_cast<std::uint64_t>(graph_.source_nodes[at + 1]));
    }
  }

  void put_templates() {
    const TargetTemplates& targets = *graph_.targets;
    put(static_cast<std::uint64_t>(targets.size()));
    for (std::int32_t t = 0; t < targets.size(); ++t) {
      put(static_cast<std::uint64_t>(targets.offsets[t + 1] - targets.offsets[t]));
      for (std::int32_t i = targets.offsets[t]; i < targets.offsets[t + 1]; ++i)
        put_signed(targets.symbols[i]);
      put(static_cast<std::uint64_t>(targets.link_offsets[t + 1] - targets.link_offsets[t]));
      for (std::int32_t i = 2 * targets.link_offsets[t]; i < 2 * targets.link_offsets[t + 1]; ++i)
        put(static_cast<std::uint64_t>(targets.links[i]));
      if (!graph_.is_lattice()) continue;
      put(targets.path_of(t).size());
      for (const std::int32_t word : targets.path_of(t)) put(static_cast<std::uint64_t>(word));
    }
  }

  void put_nodes() {
    put(graph_.node_labels.size());
    put(static_cast<std::uint64_t>(graph_.root + 1));
    for (NodeIndex v = 0; v < graph_.node_count(); ++v) {
      put(static_cast<std::uint64_t>(graph_.node_spans[2 * v]));
      put(static_cast<std::uint64_t>(graph_.node_spans[2 * v + 1] - graph_.node_spans[2 * v]));
      put(static_cast<std::uint64_t>(graph_.node_labels[v] + 1));
      put(static_cast<std::uint64_t>(graph_.edge_offsets[v + 1] - graph_.edge_offsets[v]));
    }
  }

  void put_edges() {
    std::map<Kind, std::size_t> index;
    std::vector<Kind> kinds;
    std::vector<std::size_t> kind_of;
    for (EdgeIndex e = 0; e < graph_.edge_count(); ++e) {
      const Kind kind{graph_.edge_tables[e], graph_.edge_rules[e], graph_.edge_targets[e]};
      const auto [entry, is_new] = index.try_emplace(kind, kinds.size());
      if (is_new) kinds.push_back(kind);
      kind_of.push_back(entry->second);
    }
    put(kinds.size());
    for (const auto& [table, rule, target] : kinds) {
      put(static_cast<std::uint64_t>(table + 1));
      put_signed(rule);
      put(static_cast<std::uint64_t>(target));
    }
    put(graph_.edge_tables.size());
    put(forest_.edge_rows.empty() ? 0 : 1);
    std::vector<std::int32_t> last(kinds.size(), -1);  // last row of each kind
    std::unordered_map<std::int32_t, std::size_t> written;
    for (NodeIndex v = 0; v < graph_.node_count(); ++v) {
      for (EdgeIndex e = graph_.edge_offsets[v]; e < graph_.edge_offsets[v + 1]; ++e) {
        put(kind_of[e]);
        const auto tails = graph_.edge_tails(e);
        put(tails.size());
        for (const NodeIndex u : tails) put(static_cast<std::uint64_t>(v - u));
        const std::int32_t row = forest_.row_of(e);
        if (!forest_.edge_rows.empty()) {
          // 0: a new row; else how many rows back it was written.
          const auto [entry, is_new] = written.try_emplace(row, written.size());
          put(is_new ? 0 : written.size() - entry->second);
          if (!is_new) continue;
        }
        put_row(e, last[kind_of[e]]);
        last[kind_of[e]] = row;
      }
    }
  }

  // Writes a row, as differences from the row `base` if that has the same features.
  void put_row(EdgeIndex e, std::int32_t base) {
    const auto ids = forest_.feature_ids(e);
    const auto values = forest_.feature_values(e);
    const FeatureRows& rows = *forest_.rows;
    if (base >= 0 &&
        std::ranges::equal(ids, std::span(rows.ids).subspan(
                                    static_cast<std::size_t>(rows.offsets[base]),
                                    static_cast<std::size_t>(rows.offsets[base + 1] - rows.offsets[base])))) {
      const double* const base_values = rows.values.data() + rows.offsets[base];
      different_.clear();
      for (std::size_t i = 0; i < ids.size(); ++i) {
        if (std::bit_cast<std::uint64_t>(base_values[i]) != std::bit_cast<std::uint64_t>(values[i]))
          different_.push_back(i);
      }
      put(1 + different_.size());
      for (const std::size_t i : different_) {
        put(i);
        put_value(values[i]);
      }
      return;
    }
    put(0);
    put(ids.size());
    std::int32_t before = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      put_signed(std::int64_t{ids[i]} - before);
      before = ids[i];
      put_value(values[i]);
    }
  }

  void put_value(double value) {
    if (value == std::trunc(value) && std::abs(value) < kWhole && !(value == 0 && std::signbit(value))) {
      put(zigzag(static_cast<std::int64_t>(value)) << 1);
      return;
    }
    put(1);
    const auto bytes = std::as_bytes(std::span(&value, 1));
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }

  void put_annotations() {
    put(static_cast<std::uint64_t>(graph_.ngram_order));
    for (const std::int32_t word : graph_.node_boundaries) put(static_cast<std::uint64_t>(word + 1));
    put(graph_.edge_origins.size());
    EdgeIndex before = 0;
    for (const EdgeIndex origin : graph_.edge_origins) {
      put_signed(std::int64_t{origin} - before);
      before = origin;
    }
  }

  const Forest& forest_;
  const Hypergraph& graph_;
  std::vector<std::byte> out_;
  std::vector<std::size_t> different_;
};

class RecordReader {
 public:
  RecordReader(std::span<const std::byte> record, std::shared_ptr<const FeatureNames> names)
      : in_(record.data(), record.data() + record.size()), names_(std::move(names)) {}

  Forest run() {
    for (auto* strings : {&graph_.source, &graph_.words, &graph_.labels, &graph_.tables})
      *strings = read_strings();
    for (std::uint64_t n = 2 * in_.count(); n > 0; --n) graph_.source_nodes.push_back(number());
    read_templates();
    const std::vector<std::uint64_t> edges = read_nodes();
    std::vector<std::int32_t> edge_rows;
    read_edges(edges, edge_rows);
    read_annotations();
    if (!in_.ok() || !in_.at_end()) fail();
    Forest forest{std::make_shared<const Hypergraph>(std::move(graph_)),
                  std::make_shared<const FeatureRows>(std::move(rows_)), std::move(edge_rows), names_};
    validate(forest);
    validate_annotations(*forest.graph);
    return forest;
  }

  [[noreturn]] static void fail() { throw ForestError("forest: the record is damaged"); }

 private:
  // Reads a number that fits into a forest's arrays; others are damage.
  std::int32_t number() {
    const std::uint64_t value = in_.varint();
    if (value > 0x7FFFFFFF) fail();
    return static_cast<std::int32_t>(value);
  }
  std::int32_t signed_number() { return narrow(unzigzag(in_.varint())); }
  static std::int32_t narrow(std::int64_t value) {
    if (value < -0x7FFFFFFF - 1 || value > 0x7FFFFFFF) fail();
    return static_cast<std::int32_t>(value);
  }

  std::vector<std::string> read_strings() {
    std::vector<std::string> out;
    for (std::uint64_t n = in_.count(); n > 0; --n) out.emplace_back(in_.string());
    return out;
  }

  void read_templates() {
    auto targets = std::make_shared<TargetTemplates>();
    targets->offsets = {0};
    targets->link_offsets = {0};
    if (graph_.is_lattice()) targets->path_offsets = {0};
    for (std::uint64_t n = in_.count(); n > 0; --n) {
      for (std::uint64_t size = in_.count(); size > 0; --size) targets->symbols.push_back(signed_number());
      targets->offsets.push_back(array_offset(targets->symbols.size()));
      for (std::uint64_t size = 2 * in_.count(); size > 0; --size) targets->links.push_back(number());
      targets->link_offsets.push_back(array_offset(targets->links.size() / 2));
      if (!graph_.is_lattice()) continue;
      for (std::uint64_t size = in_.count(); size > 0; --size) targets->path.push_back(number());
      targets->path_offsets.push_back(array_offset(targets->path.size()));
    }
    graph_.targets = std::move(targets);
  }

  // Returns the number of edges of each node.
  std::vector<std::uint64_t> read_nodes() {
    const std::uint64_t nodes = in_.count();
    graph_.root = number() - 1;
    std::vector<std::uint64_t> edges;
    for (std::uint64_t v = 0; v < nodes; ++v) {
      const std::int32_t begin = number();
      graph_.node_spans.push_back(begin);
      graph_.node_spans.push_back(narrow(std::int64_t{begin} + number()));
      graph_.node_labels.push_back(number() - 1);
      edges.push_back(in_.count());
    }
    return edges;
  }

  void read_edges(const std::vector<std::uint64_t>& edges, std::vector<std::int32_t>& edge_rows) {
    std::vector<Kind> kinds;
    for (std::uint64_t n = in_.count(); n > 0; --n) {
      const std::int32_t table = number() - 1;
      const std::int64_t rule = unzigzag(in_.varint());
      kinds.emplace_back(table, rule, number());
    }
    const std::uint64_t count = in_.count();
    const bool shared = in_.varint() != 0;
    std::vector<std::int32_t> last(kinds.size(), -1);
    graph_.edge_offsets = {0};
    graph_.tail_offsets = {0};
    rows_.offsets = {0};
    for (std::size_t v = 0; v < edges.size(); ++v) {
      for (std::uint64_t n = edges[v]; n > 0; --n) {
        const std::uint64_t kind = in_.varint();
        if (!in_.ok() || kind >= kinds.size() || graph_.edge_tables.size() == count) fail();
        const auto& [table, rule, target] = kinds[kind];
        graph_.edge_tables.push_back(table);
        graph_.edge_rules.push_back(rule);
        graph_.edge_targets.push_back(target);
        for (std::uint64_t arity = in_.count(); arity > 0; --arity)
          graph_.tails.push_back(narrow(static_cast<std::int64_t>(v) - number()));
        graph_.tail_offsets.push_back(array_offset(graph_.tails.size()));
        const std::uint64_t row_count = rows_.offsets.size() - 1;
        const std::uint64_t rows_back = shared ? in_.varint() : 0;
        if (rows_back > row_count) fail();
        if (shared) edge_rows.push_back(static_cast<std::int32_t>(row_count - rows_back));
        if (rows_back > 0) continue;
        read_row(last[kind]);
        last[kind] = static_cast<std::int32_t>(row_count);
      }
      graph_.edge_offsets.push_back(array_offset(graph_.edge_tables.size()));
    }
    if (graph_.edge_tables.size() != count) fail();
  }

  void read_row(std::int32_t base) {
    const std::uint64_t tag = in_.varint();
    if (tag == 0) {
      std::int64_t id = 0;
      for (std::uint64_t n = in_.count(); n > 0; --n) {
        id = narrow(id + signed_number());
        rows_.ids.push_back(static_cast<std::int32_t>(id));
        rows_.values.push_back(read_value());
      }
    } else {
      if (base < 0 || !in_.ok()) fail();
      const auto begin = static_cast<std::size_t>(rows_.offsets[base]);
      const auto end = static_cast<std::size_t>(rows_.offsets[base + 1]);
      const std::size_t first = rows_.ids.size();
      for (std::size_t i = begin; i < end; ++i) {
        rows_.ids.push_back(rows_.ids[i]);
        rows_.values.push_back(rows_.values[i]);
      }
      for (std::uint64_t n = tag - 1; n > 0; --n) {
        const std::uint64_t place = in_.varint();
        if (!in_.ok() || place >= end - begin) fail();
        rows_.values[first + place] = read_value();
      }
    }
    rows_.offsets.push_back(array_offset(rows_.ids.size()));
  }

  double read_value() {
    const std::uint64_t code = in_.varint();
    if ((code & 1) == 0) return static_cast<double>(unzigzag(code >> 1));
    const std::string_view bytes = in_.bytes(sizeof(double));
    if (!in_.ok()) fail();
    double value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

  void read_annotations() {
    graph_.ngram_order = number();
    if (graph_.ngram_order > 1) {
      const std::uint64_t size = 2 * (static_cast<std::uint64_t>(graph_.ngram_order) - 1);
      for (std::uint64_t n = size * graph_.node_labels.size(); n > 0 && in_.ok(); --n)
        graph_.node_boundaries.push_back(number() - 1);
    }
    std::int64_t origin = 0;
    for (std::uint64_t n = in_.count(); n > 0; --n) {
      origin = narrow(origin + signed_number());
      graph_.edge_origins.push_back(static_cast<EdgeIndex>(origin));
    }
  }

  Cursor in_;
  std::shared_ptr<const FeatureNames> names_;
  Hypergraph graph_;
  FeatureRows rows_;
};

}  // namespace

std::vector<std::byte> write_record(const Forest& forest) { return RecordWriter(forest).run(); }

Forest read_record(std::span<const std::byte> record, std::shared_ptr<const FeatureNames> names) {
  const auto magic = std::as_bytes(std::span(kRecordMagic));
  if (record.size() < kHeader || !std::ranges::equal(record.first(kRecordMagic.size()), magic))
    throw ForestError("forest: not a record");
  std::uint64_t sum;
  std::memcpy(&sum, record.data() + kRecordMagic.size(), sizeof sum);
  const auto body = record.subspan(kHeader);
  if (sum != checksum(body.data(), body.size())) RecordReader::fail();
  return RecordReader(body, std::move(names)).run();
}

}  // namespace hiero
