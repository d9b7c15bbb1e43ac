#include "hiero/align/alignment_model.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "hiero/base/checksum.h"
#include "hiero/base/cursor.h"
#include "hiero/base/error.h"
#include "hiero/base/output_file.h"
#include "hiero/base/tokens.h"
#include "hiero/base/varint.h"

namespace hiero {
namespace {

constexpr std::array<char, 8> kModelMagic = {'H', 'I', 'E', 'R', 'O', 'A', 'L', '\n'};
constexpr std::uint32_t kModelVersion = 1;
constexpr std::uint32_t kModelByteOrder = 0x01020304;

struct AlignmentModelHeader {
  std::array<char, 8> magic = kModelMagic;
  std::uint32_t version = kModelVersion;
  std::uint32_t byte_order = kModelByteOrder;
  std::uint64_t length = 0;
  std::array<std::uint64_t, 2> words{};  // of each side, without the empty word
  std::uint64_t samplers = 0;            // of each direction
  std::uint64_t directions_at = 0;
  std::uint64_t sum = 0;  // checksum of all bytes after the header, then of the header fields before this one
};

std::uint64_t model_header_sum(std::uint64_t sum, const AlignmentModelHeader& header) {
  return checksum_detail::mix(
      sum, checksum(reinterpret_cast<const std::byte*>(&header), offsetof(AlignmentModelHeader, sum)));
}

std::uint64_t to_eight_bytes(std::uint64_t offset) { return (offset + 7) / 8 * 8; }

// Appends parts to a file, each at a multiple of 8 bytes.
class PartWriter {
 public:
  explicit PartWriter(OutputFile& file) : file_(file) {}

  void add(std::span<const std::byte> bytes) {
    file_.write_at(end_, bytes.data(), bytes.size());
    sum_ = checksum_detail::mix(sum_, checksum(bytes.data(), bytes.size()));
    end_ = to_eight_bytes(end_ + bytes.size());
  }
  std::uint64_t end() const { return end_; }
  std::uint64_t sum() const { return sum_; }

 private:
  OutputFile& file_;
  std::uint64_t end_ = sizeof(AlignmentModelHeader);
  std::uint64_t sum_ = 0;
};

}  // namespace

void AlignmentModel::save(const std::string& path, const Bitext& bitext, const Directions& directions) {
  OutputFile file(path);
  PartWriter parts(file);
  AlignmentModelHeader header;
  std::vector<std::byte> words;
  for (std::size_t side = 0; side < 2; ++side) {
    const Vocab& vocabulary = (side == 0 ? bitext.source() : bitext.target()).vocabulary();
    header.words[side] = vocabulary.size();
    for (std::uint32_t word = 0; word < vocabulary.size(); ++word) put_string(words, vocabulary[word]);
  }
  words.resize(to_eight_bytes(words.size()));
  parts.add(words);
  header.directions_at = parts.end();
  header.samplers = directions[0].size();
  for (const auto& samplers : directions) {
    for (const FrozenDirection& sampler : samplers) parts.add(sampler.bytes());
  }
  header.length = parts.end();
  header.sum = model_header_sum(parts.sum(), header);
  file.write_at(0, &header, sizeof header);
  file.commit();
}

AlignmentModel::AlignmentModel(const std::string& path) : path_(path), file_(path) {
  const auto bytes = file_.bytes();
  AlignmentModelHeader header;
  if (bytes.size() < sizeof header || std::memcmp(bytes.data(), kModelMagic.data(), kModelMagic.size()) != 0)
    throw_damaged("not an alignment model");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != kModelVersion || header.byte_order != kModelByteOrder) {
    throw_damaged("alignment model of format version " + std::to_string(header.version) +
                  ", this program reads " + std::to_string(kModelVersion) + ": align again");
  }
  if (header.length != bytes.size()) throw_damaged("truncated");
  if (header.directions_at < sizeof header || header.directions_at > bytes.size() ||
      header.directions_at % 8 != 0)
    throw_damaged();
  const auto words = bytes.subspan(sizeof header, header.directions_at - sizeof header);
  std::uint64_t sum = checksum_detail::mix(0, checksum(words.data(), words.size()));
  auto rest = bytes.subspan(header.directions_at);
  for (std::size_t d = 0; d < 2; ++d) {
    for (std::uint64_t k = 0; k < header.samplers; ++k) {
      try {
        const FrozenDirection& direction = directions_[d].emplace_back(rest);
        sum = checksum_detail::mix(sum, checksum(direction.bytes().data(), direction.bytes().size()));
        rest = rest.subspan(direction.bytes().size());
      } catch (const Error&) {
        throw_damaged();
      }
    }
  }
  if (!rest.empty() || header.samplers == 0 || model_header_sum(sum, header) != header.sum) throw_damaged();
  Cursor in(words.data(), words.data() + words.size());
  for (std::size_t side = 0; side < 2; ++side) {
    for (std::uint64_t word = 0; word < header.words[side] && in.ok(); ++word)
      words_[side].intern(in.string());
    if (!in.ok() || words_[side].size() != header.words[side]) throw_damaged();
  }
  for (std::size_t d = 0; d < 2; ++d) {
    for (const FrozenDirection& direction : directions_[d]) {
      if (direction.source_words() != header.words[d] + 1 ||
          direction.target_words() != header.words[1 - d] + 1)
        throw_damaged();
    }
  }
}

void AlignmentModel::throw_damaged(const std::string& how) const { throw FormatError(path_ + ": " + how); }

void AlignmentModel::align(PairAligner& aligner, std::string_view source, std::string_view target) const {
  const std::vector<WordId> source_ids = ids(source, 0);
  const std::vector<WordId> target_ids = ids(target, 1);
  const auto hash = [](std::span<const WordId> words) {
    return checksum(reinterpret_cast<const std::byte*>(words.data()), words.size_bytes());
  };
  aligner.align(source_ids, target_ids, {}, Random{hash(source_ids), hash(target_ids)}.next());
}

LinkLines AlignmentModel::lines(std::span<const std::string> source, std::span<const std::string> target,
                                Heuristic heuristic, std::size_t threads) const {
  return lines_of(
      0, source.size(), directions_, heuristic, threads,
      [&](std::size_t pair, PairAligner& aligner) { align(aligner, source[pair], target[pair]); });
}

std::vector<WordId> AlignmentModel::ids(std::string_view line, std::size_t side) const {
  std::vector<WordId> out;
  for (auto token = next_token(line); !token.empty(); token = next_token(line)) {
    const auto id = words_[side].find(token);
    out.push_back(id ? *id + 1 : words_[side].size() + 1);
  }
  if (out.size() > Bitext::kLongest)
    throw FormatError("a sentence of more than " + std::to_string(Bitext::kLongest) + " words");
  return out;
}

}  // namespace hiero
