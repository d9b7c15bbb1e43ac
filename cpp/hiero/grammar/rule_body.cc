#include "hiero/grammar/rule_body.h"

#include <cstdint>

#include "hiero/base/varint.h"

namespace hiero {
namespace {

// Returns a bit per source nonterminal, set if the nonterminal is reordered: if its link crosses that of
// another nonterminal or of a word (Chiang et al. 2008, section 4).
std::uint8_t reordered_flags(std::span<const Symbol> source, std::span<const Symbol> target,
                             std::span<const AlignmentLink> links) {
  AlignmentLink nonterminals[kMaxArity];
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < source.size(); ++i) {
    if (is_nonterminal(source[i])) nonterminals[count++].source = i;
  }
  for (std::uint32_t i = 0; i < target.size(); ++i) {
    if (is_nonterminal(target[i])) nonterminals[payload(target[i])].target = i;
  }
  const auto crosses = [](const AlignmentLink& a, const AlignmentLink& b) {
    return a.source != b.source && a.target != b.target && (a.source < b.source) != (a.target < b.target);
  };
  std::uint8_t flags = 0;
  for (std::size_t n = 0; n < count; ++n) {
    bool crossed = false;
    for (std::size_t m = 0; m < count; ++m) crossed |= crosses(nonterminals[m], nonterminals[n]);
    for (const AlignmentLink& link : links) crossed |= crosses(link, nonterminals[n]);
    if (crossed) flags |= static_cast<std::uint8_t>(1u << n);
  }
  return flags;
}

}  // namespace

void encode_body(std::span<const Symbol> source, std::span<const Symbol> target,
                 std::span<const AlignmentLink> links, std::vector<std::byte>& out) {
  out.clear();
  out.push_back(static_cast<std::byte>(reordered_flags(source, target, links)));
  put_varint(out, target.size());
  for (const Symbol symbol : target) {
    put_varint(out, std::uint64_t{payload(symbol)} << 1 | (is_nonterminal(symbol) ? 1u : 0u));
  }
  put_varint(out, links.size());
  for (const AlignmentLink& link : links) {
    put_varint(out, link.source);
    put_varint(out, link.target);
  }
}

}  // namespace hiero
