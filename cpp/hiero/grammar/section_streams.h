// Streams into the sections of a packed rule table (packed_format.h), for table_writer.h.
//
// How to use:
//   1. SectionStream words(sink, offset); words.put(value); words.flush();
//   2. NodeStreams nodes(sink, header, nodes_at, groups_at);
//   3. nodes.add_node(depth, symbol), nodes.add_group(depth, lhs, rule), nodes.add_rule()    // depth first
//   4. nodes.finish();
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hiero/grammar/image_sink.h"
#include "hiero/grammar/packed_format.h"
#include "hiero/grammar/rule_table.h"

namespace hiero {

// A part of a section, written from front to back through a small buffer.
class SectionStream {
 public:
  SectionStream(ImageSink& sink, std::uint64_t offset) : sink_(&sink), offset_(offset) {}

  void write(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const std::byte*>(data);
    buffer_.insert(buffer_.end(), bytes, bytes + size);
    if (buffer_.size() >= kBufferBytes) flush();
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
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 14;
  ImageSink* sink_;
  std::uint64_t offset_;
  std::vector<std::byte> buffer_;
};

// The streams into the sections of nodes and groups. Nodes are added depth first but numbered breadth first.
// Nodes of one depth come in the order of their numbers, so every depth has one stream per section.
class NodeStreams {
 public:
  // `nodes_at` and `groups_at` are the numbers of nodes and groups by depth.
  NodeStreams(ImageSink& sink, const packed::Header& header, const std::vector<std::uint64_t>& nodes_at,
              const std::vector<std::uint64_t>& groups_at);

  void add_node(std::size_t depth, Symbol symbol);
  // Begins a group of the node that was added last at this depth.
  void add_group(std::size_t depth, LabelId lhs, RuleId first_rule);
  // Adds a rule to the current group.
  void add_rule() { ++group_.count; }
  void finish();

 private:
  struct Level {
    SectionStream symbols;
    SectionStream first_child;
    SectionStream first_group;
    SectionStream groups;
    std::uint32_t next_node;
    std::uint32_t next_group;
  };

  std::uint64_t offset(packed::Section section, std::uint64_t element, std::size_t size) const {
    return header_.sections[section].offset + element * size;
  }
  void close_group();

  ImageSink& sink_;
  const packed::Header& header_;
  std::vector<Level> levels_;  // by depth
  RuleGroup group_{kNoLabel, 0, 0};
  std::size_t group_depth_ = 0;
};

}  // namespace hiero
