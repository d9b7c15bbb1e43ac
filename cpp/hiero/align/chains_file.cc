#include "hiero/align/chains_file.h"

#include <cstring>

#include "hiero/align/frozen_direction.h"
#include "hiero/base/checksum.h"
#include "hiero/base/error.h"
#include "hiero/base/output_file.h"

namespace hiero {
namespace {

constexpr std::array<char, 8> kChainsMagic = {'H', 'I', 'E', 'R', 'O', 'C', 'H', '\n'};
// Changes as well when the same seed trains other chains: chains of two programs must not be mixed.
constexpr std::uint32_t kChainsVersion = 1;
constexpr std::uint32_t kChainsByteOrder = 0x01020304;

struct ChainsHeader {
  std::array<char, 8> magic = kChainsMagic;
  std::uint32_t version = kChainsVersion;
  std::uint32_t byte_order = kChainsByteOrder;
  std::uint64_t length = 0;
  ChainsBasis basis;
  Shard shard;
  std::array<std::uint64_t, 2> words{};  // target words of each direction
  std::uint64_t chains_sum = 0;          // of the checksums of all models, then of all links
  std::uint64_t sum = 0;                 // checksum of the header fields before this one
};
static_assert(sizeof(ChainsHeader) % 8 == 0 && sizeof(ChainsHeader) == offsetof(ChainsHeader, sum) + 8);

std::uint64_t chains_header_sum(const ChainsHeader& header) {
  return checksum(reinterpret_cast<const std::byte*>(&header), offsetof(ChainsHeader, sum));
}

// Models come before links, so that each begins at a multiple of 8 bytes without padding.
std::vector<std::span<const std::byte>> contents_of(std::span<const ChainView> chains) {
  std::vector<std::span<const std::byte>> out;
  for (const ChainView& chain : chains) out.push_back(chain.model);
  for (const ChainView& chain : chains) out.push_back(std::as_bytes(chain.links));
  return out;
}

std::uint64_t sum_of_chains(std::span<const ChainView> chains) {
  std::uint64_t sum = 0;
  for (const auto bytes : contents_of(chains))
    sum = checksum_detail::mix(sum, checksum(bytes.data(), bytes.size()));
  return sum;
}

}  // namespace

void ChainsFile::save(const std::string& path, const ChainsBasis& basis, const Shard& shard,
                      const std::array<std::uint64_t, 2>& words, std::span<const ChainView> chains) {
  OutputFile file(path);
  ChainsHeader header;
  header.basis = basis;
  header.shard = shard;
  header.words = words;
  header.length = sizeof header;
  for (const auto bytes : contents_of(chains)) {
    file.write_at(header.length, bytes.data(), bytes.size());
    header.length += bytes.size();
  }
  header.chains_sum = sum_of_chains(chains);
  header.sum = chains_header_sum(header);
  file.write_at(0, &header, sizeof header);
  file.commit();
}

ChainsFile::ChainsFile(const std::string& path) : path_(path), file_(path) {
  const auto bytes = file_.bytes();
  ChainsHeader header;
  if (bytes.size() < sizeof header ||
      std::memcmp(bytes.data(), kChainsMagic.data(), kChainsMagic.size()) != 0)
    throw_damaged("not a file of chains of word alignment");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != kChainsVersion || header.byte_order != kChainsByteOrder) {
    throw_damaged("chains of format version " + std::to_string(header.version) + ", this program reads " +
                  std::to_string(kChainsVersion) + ": align again");
  }
  if (header.length != bytes.size()) throw_damaged("truncated");
  if (chains_header_sum(header) != header.sum) throw_damaged();
  basis_ = header.basis;
  shard_ = header.shard;
  if (!shard_.is_valid() || basis_.samplers == 0 || basis_.samplers > Shard::kMost) throw_damaged();
  auto rest = bytes.subspan(sizeof header);
  const auto take = [&](std::uint64_t size) {
    if (size > rest.size()) throw_damaged();
    const auto out = rest.first(size);
    rest = rest.subspan(size);
    return out;
  };
  std::vector<std::uint64_t> words;
  for (std::uint64_t chain = 0; chain < 2 * basis_.samplers; ++chain) {
    if (!shard_.has(chain)) continue;
    words.push_back(header.words[chain / basis_.samplers]);
    try {
      chains_.push_back({take(FrozenDirection(rest).bytes().size()), {}});
    } catch (const Error&) {
      throw_damaged();
    }
  }
  for (std::size_t k = 0; k < chains_.size(); ++k) {
    if (words[k] > rest.size() / sizeof(LinkPosition)) throw_damaged();
    const auto links = take(words[k] * sizeof(LinkPosition));
    chains_[k].links = {reinterpret_cast<const LinkPosition*>(links.data()), words[k]};
  }
  if (sum_of_chains(chains_) != header.chains_sum) throw_damaged();
}

void ChainsFile::throw_damaged(const std::string& how) const { throw FormatError(path_ + ": " + how); }

}  // namespace hiero
