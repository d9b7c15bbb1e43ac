#include "hiero/base/shard_files.h"

#include <algorithm>
#include <utility>

#include "hiero/base/error.h"
#include "hiero/base/varint.h"

namespace hiero {
namespace {

struct ShardHead {
  std::uint64_t index;
  std::uint64_t count;
  ShardKey key;
  Cursor rest;
};

ShardHead read_shard_head(const PartsFile& file) {
  Cursor in(file.head().data(), file.head().data() + file.head().size());
  const std::uint64_t index = in.varint();
  const std::uint64_t count = in.varint();
  const std::uint64_t input = in.varint();
  const std::string_view settings = in.string();
  if (!in.ok() || !Shard{index, count}.is_valid()) file.throw_damaged();
  return {index, count, {std::string(settings), input}, in};
}

}  // namespace

std::vector<std::byte> shard_head(const Shard& shard, const ShardKey& key) {
  std::vector<std::byte> out;
  for (const std::uint64_t number : {std::uint64_t{shard.index}, std::uint64_t{shard.count}, key.input})
    put_varint(out, number);
  put_string(out, key.settings);
  return out;
}

ShardFiles::ShardFiles(std::span<const std::string> paths, const PartsKind& kind) {
  if (paths.empty()) throw FormatError("no shards to merge");
  ShardKey key;
  for (const std::string& path : paths) {
    auto file = std::make_unique<PartsFile>(path, kind);
    ShardHead head = read_shard_head(*file);
    if (files_.empty()) {
      files_.resize(head.count);
      key = std::move(head.key);
    } else if (head.count != files_.size() || head.key != key) {
      throw FormatError(path + ": a shard of other input, with other settings, or of another number of " +
                        "shards than " + paths.front());
    }
    if (files_[head.index]) throw FormatError(path + ": the same shard as " + files_[head.index]->path());
    files_[head.index] = std::move(file);
  }
  const auto missing = std::ranges::find_if_not(files_, [](const auto& file) { return file != nullptr; });
  if (missing != files_.end()) {
    throw FormatError(paths.front() + ": shard " + std::to_string(missing - files_.begin() + 1) + " of " +
                      std::to_string(files_.size()) + " is missing");
  }
}

Cursor ShardFiles::rest_of_head(std::size_t shard) const { return read_shard_head(*files_[shard]).rest; }

}  // namespace hiero
