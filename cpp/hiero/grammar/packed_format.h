// The layout of a packed rule table. Numbers are little-endian, and sections start at multiples of 64 bytes.
// Written by table_writer.h, read by rule_table.h.
//
//   header          Header with the section table, and a checksum of both
//   kMeta           owner, span limit, labels, features, label uses (varints and strings)
//   kWordOffsets    u64 [words + 1] into kWordBytes
//   kWordBytes      the words' UTF-8
//   kWordSlots      u32 [power of two]: open addressing by hash_word(), id + 1 or 0
//   kSymbols        u32 [nodes]: the symbol that leads to a trie node; nodes are numbered breadth first,
//                   children in symbol order, so that children are contiguous
//   kFirstChild     u32 [nodes + 1]
//   kFirstGroup     u32 [nodes + 1]
//   kGroups         RuleGroup [groups], by node
//   kDense          f32 [rules * dense features]; rules are numbered depth first
//   kRecordOffsets  u64 [rules + 1] into kRecords
//   kRecords        per rule: reordering flags (1 byte), then varints: number of target symbols, symbols
//                   (id << 1 | is nonterminal), number of links, links, number of feature entries, entries.
//                   An entry is index << 1 and a float for a sparse feature, or index << 1 | 1 for a dense
//                   feature that the rule does not have.
//   kBlockSums      u64 per kBlockSize bytes before this section: checksum()
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "hiero/base/checksum.h"

namespace hiero::packed {

static_assert(std::endian::native == std::endian::little, "packed tables are read in place");

inline constexpr std::array<char, 8> kMagic = {'H', 'I', 'E', 'R', 'O', 'R', 'T', '\n'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kByteOrder = 0x01020304;
inline constexpr std::size_t kAlign = 64;

enum Section : std::uint32_t {
  kMeta,
  kWordOffsets,
  kWordBytes,
  kWordSlots,
  kSymbols,
  kFirstChild,
  kFirstGroup,
  kGroups,
  kDense,
  kRecordOffsets,
  kRecords,
  kBlockSums,
  kSectionCount
};

struct Extent {
  std::uint64_t offset;
  std::uint64_t size;  // bytes
};

struct Header {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t byte_order;
  std::uint64_t length;  // bytes of the file
  std::uint64_t words;
  std::uint64_t nodes;
  std::uint64_t groups;
  std::uint64_t rules;
  std::uint32_t dense;  // dense features per rule
  std::uint32_t unused;
  std::array<Extent, kSectionCount> sections;
  std::uint64_t sum;  // checksum of all fields before it
};

inline std::uint64_t header_sum(const Header& header) {
  return checksum(reinterpret_cast<const std::byte*>(&header), offsetof(Header, sum));
}

inline constexpr std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kAlign - 1) / kAlign * kAlign;
}

}  // namespace hiero::packed
