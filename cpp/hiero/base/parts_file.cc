#include "hiero/base/parts_file.h"

#include <algorithm>
#include <cstring>

#include "hiero/base/checksum.h"
#include "hiero/base/error.h"

namespace hiero {
namespace {

constexpr std::uint32_t kPartsByteOrder = 0x01020304;
constexpr std::size_t kPartsBlock = std::size_t{1} << 20;

// Returns the checksum of a sequence of blocks from that of the blocks before and one more.
std::uint64_t add_block(std::uint64_t sum, Bytes block) {
  return checksum_detail::mix(sum, checksum(block.data(), block.size()));
}

std::uint64_t sum_of(const PartsHeader& header, Bytes index, Bytes head) {
  const auto fields = std::as_bytes(std::span(&header, 1)).first(offsetof(PartsHeader, sum));
  return add_block(add_block(add_block(0, index), head), fields);
}

}  // namespace

void PartsWriter::write_block(Bytes block) {
  sum_ = add_block(sum_, block);
  file_.write_at(position_, block.data(), block.size());
  position_ += block.size();
}

void PartsWriter::append(Bytes bytes) {
  while (buffer_.size() + bytes.size() >= kPartsBlock) {
    const Bytes rest = bytes.first(kPartsBlock - buffer_.size());
    bytes = bytes.subspan(rest.size());
    if (buffer_.empty()) {
      write_block(rest);
      continue;
    }
    buffer_.insert(buffer_.end(), rest.begin(), rest.end());
    write_block(buffer_);
    buffer_.clear();
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void PartsWriter::end_part() {
  if (!buffer_.empty()) write_block(buffer_);
  buffer_.clear();
  places_.push_back({begin_, position_, sum_});
  begin_ = position_;
  sum_ = 0;
}

void PartsWriter::commit(Bytes head) {
  const Bytes index = std::as_bytes(std::span(places_));
  PartsHeader header{kind_.magic, kind_.version, kPartsByteOrder, 0, places_.size(), begin_, 0, 0};
  header.head_at = header.index_at + index.size();
  header.length = header.head_at + head.size();
  header.sum = sum_of(header, index, head);
  file_.write_at(header.index_at, index.data(), index.size());
  file_.write_at(header.head_at, head.data(), head.size());
  file_.write_at(0, &header, sizeof header);
  file_.commit();
}

PartsFile::PartsFile(const std::string& path, const PartsKind& kind) : path_(path), kind_(kind), file_(path) {
  const Bytes bytes = file_.bytes();
  if (bytes.size() < sizeof header_ || std::memcmp(bytes.data(), kind.magic.data(), kind.magic.size()) != 0)
    throw FormatError(path + ": not a file of " + kind.name);
  std::memcpy(&header_, bytes.data(), sizeof header_);
  if (header_.version != kind.version || header_.byte_order != kPartsByteOrder) {
    throw FormatError(path + ": " + kind.name + " of format version " + std::to_string(header_.version) +
                      ", this program reads " + std::to_string(kind.version) + ": " + kind.remedy);
  }
  if (header_.length != bytes.size()) throw FormatError(path + ": truncated");
  if (header_.index_at < sizeof header_ || header_.index_at > header_.head_at ||
      header_.head_at > header_.length || (header_.head_at - header_.index_at) % sizeof(PartPlace) != 0 ||
      (header_.head_at - header_.index_at) / sizeof(PartPlace) != header_.parts)
    throw_damaged();
  const Bytes index = bytes.subspan(header_.index_at, header_.head_at - header_.index_at);
  if (sum_of(header_, index, head()) != header_.sum) throw_damaged();
  for (std::size_t number = 0; number < size(); ++number) {
    const PartPlace at = place(number);
    if (at.begin < sizeof header_ || at.begin > at.end || at.end > header_.index_at) throw_damaged();
  }
}

PartPlace PartsFile::place(std::size_t number) const {
  PartPlace out;
  std::memcpy(&out, file_.bytes().data() + header_.index_at + number * sizeof out, sizeof out);
  return out;
}

Bytes PartsFile::part(std::size_t number) const {
  if (number >= size()) throw_damaged();
  const PartPlace at = place(number);
  const Bytes bytes = file_.bytes().subspan(at.begin, at.end - at.begin);
  std::uint64_t sum = 0;
  for (Bytes rest = bytes; !rest.empty();) {
    const Bytes block = rest.first(std::min(rest.size(), kPartsBlock));
    sum = add_block(sum, block);
    rest = rest.subspan(block.size());
  }
  if (sum != at.sum) throw_damaged();
  return bytes;
}

void PartsFile::throw_damaged() const { throw FormatError(path_ + ": damaged: " + kind_.remedy); }

}  // namespace hiero
