#include "hiero/align/frozen_direction.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "hiero/base/error.h"

namespace hiero {
namespace {

static_assert(std::is_trivially_copyable_v<FrozenHeader> && sizeof(FrozenHeader) % 8 == 0);

// Where each part begins, and the end of the last one.
struct FrozenLayout {
  explicit FrozenLayout(const FrozenHeader& header)
      : begins(sizeof header),
        slots(begins + (header.target_words + 2) * sizeof(std::uint64_t)),
        totals(slots + header.slots * sizeof(LinkSlot)),
        fertilities(totals + (header.source_words + 2) / 2 * 2 * sizeof(std::uint32_t)),
        end(fertilities + (header.source_words + 1) * sizeof(Fertilities)) {}

  std::size_t begins, slots, totals, fertilities, end;
};

// Returns the number of slots for a number of counts: at most three quarters of them are used.
std::size_t slots_for(std::size_t counts) { return std::bit_ceil(counts + counts / 3 + 1); }

}  // namespace

FrozenDirection::FrozenDirection(const DirectionModel& model, const std::string& folder) : own_(folder) {
  FrozenHeader header{model.totals.size(), model.links.size(), 0, model.jumps};
  std::vector<std::uint64_t> begins;
  begins.reserve(header.target_words + 2);
  for (WordId target = 0; target < header.target_words; ++target) {
    begins.push_back(header.slots);
    std::size_t counts = 0;
    model.links.row(target).visit([&](WordId, std::uint32_t) { ++counts; });
    header.slots += slots_for(counts);
  }
  begins.push_back(header.slots);
  header.slots += slots_for(0);
  begins.push_back(header.slots);

  const FrozenLayout layout(header);
  own_->resize(layout.end);
  std::byte* const out = own_->data();
  std::memcpy(out, &header, sizeof header);
  std::memcpy(out + layout.begins, begins.data(), begins.size() * sizeof begins[0]);
  const std::span slots(reinterpret_cast<LinkSlot*>(out + layout.slots), header.slots);
  std::ranges::fill(slots, LinkSlot{});
  for (WordId target = 0; target < header.target_words; ++target) {
    const auto row = slots.subspan(begins[target], begins[target + 1] - begins[target]);
    model.links.row(target).visit(
        [&](WordId source, std::uint32_t count) { row[LinkRow(row).find(source)] = {source, count}; });
  }
  std::memcpy(out + layout.totals, model.totals.data(), model.totals.size() * sizeof model.totals[0]);
  std::memcpy(out + layout.fertilities, model.fertilities.data(),
              model.fertilities.size() * sizeof model.fertilities[0]);
}

FrozenDirection::FrozenDirection(std::span<const std::byte> bytes) : mapped_(bytes.data()) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;  // so that no product is too large for 64 bits
  if (bytes.size() < sizeof(FrozenHeader) || header().source_words > kMost || header().target_words > kMost ||
      header().slots > kMost || FrozenLayout(header()).end > bytes.size())
    throw Error("too short");
}

std::span<const std::byte> FrozenDirection::bytes() const { return {data(), FrozenLayout(header()).end}; }

DirectionView FrozenDirection::view() const {
  const FrozenLayout layout(header());
  const auto part = [this]<class T>(std::size_t at, std::size_t size, T) {
    return std::span(reinterpret_cast<const T*>(data() + at), size);
  };
  return {part(layout.begins, target_words() + 2, std::uint64_t{}),
          part(layout.slots, header().slots, LinkSlot{}),
          part(layout.totals, source_words() + 1, std::uint32_t{}),
          part(layout.fertilities, source_words() + 1, Fertilities{}), header().jumps};
}

}  // namespace hiero
