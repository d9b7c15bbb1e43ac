#include "hiero/align/chains_file.h"

#include <cstring>

#include "hiero/align/frozen_direction.h"
#include "hiero/base/error.h"

namespace hiero {
namespace {

struct ChainsHead {
  ChainsBasis basis;
  Shard shard;
};

// Returns a part as an array of T, which has no bytes left over and is where a T may be.
template <class T>
std::span<const T> items_of(const PartsFile& file, std::size_t number) {
  const Bytes bytes = file.part(number);
  if (bytes.size() % sizeof(T) != 0 || reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(T) != 0)
    file.throw_damaged();
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

// Returns the bytes of a FrozenDirection.
Bytes model_of(const PartsFile& file, std::size_t number) {
  const Bytes bytes = std::as_bytes(items_of<std::uint64_t>(file, number));
  try {
    if (FrozenDirection(bytes).bytes().size() == bytes.size()) return bytes;
  } catch (const Error&) {
  }
  file.throw_damaged();
}

}  // namespace

void ChainsFile::save(const std::string& path, const ChainsBasis& basis, const Shard& shard,
                      std::span<const ChainView> chains) {
  PartsWriter out(path, kChains);
  const auto add_part = [&](Bytes bytes) {
    out.append(bytes);
    out.end_part();
  };
  // Models come first: each has a multiple of 8 bytes, and so all begin at one.
  for (const ChainView& chain : chains) add_part(chain.model);
  for (const ChainView& chain : chains) add_part(std::as_bytes(chain.links));
  const ChainsHead head{basis, shard};
  out.commit(std::as_bytes(std::span(&head, 1)));
}

ChainsFile::ChainsFile(const std::string& path) : file_(path, kChains) {
  read_head();
  std::size_t count = 0;
  for (std::size_t chain = 0; chain < 2 * basis_.samplers; ++chain) count += shard_.has(chain);
  if (file_.size() != 2 * count) throw_damaged();
  for (std::size_t k = 0; k < count; ++k)
    chains_.push_back({model_of(file_, k), items_of<LinkPosition>(file_, count + k)});
}

void ChainsFile::read_head() {
  ChainsHead head;
  if (file_.head().size() != sizeof head) throw_damaged();
  std::memcpy(&head, file_.head().data(), sizeof head);
  basis_ = head.basis;
  shard_ = head.shard;
  if (!shard_.is_valid() || basis_.samplers == 0 || basis_.samplers > Shard::kMost) throw_damaged();
}

}  // namespace hiero
