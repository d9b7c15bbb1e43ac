#include "hiero/forest/ngrams.h"

#include <stdexcept>
#include <unordered_map>

#include "hiero/forest/string_hash.h"

namespace hiero {
namespace {

// In place of the words between the two boundaries of a string.
constexpr std::int32_t kGap = -1;

}  // namespace

NgramReader::NgramReader(const Hypergraph& forest) : forest_(forest) {
  if (forest.ngram_order < 1) throw std::invalid_argument("the forest has no n-gram boundaries: annotate it");
}

void NgramReader::add(std::int32_t word, std::size_t run) {
  words_.push_back(word);
  owner_run_.push_back(run);
}

void NgramReader::lay_out(EdgeIndex e) {
  words_.clear();
  owner_run_.clear();
  const auto size = static_cast<std::size_t>(forest_.ngram_order - 1);
  const auto tails = forest_.edge_tails(e);
  for (const std::int32_t symbol : forest_.template_of(e)) {
    if (symbol >= 0) {
      add(symbol, 0);
      continue;
    }
    const auto boundaries = forest_.boundaries_of(tails[-(symbol + 1)]);
    std::size_t run = 0;
    for (std::size_t k = 0; k < size && boundaries[k] != kGap; ++k) add(boundaries[k], ++run);
    if (run < size) continue;  // the whole string
    add(kGap, 0);
    for (std::size_t k = 0; k < size; ++k) add(boundaries[size + k], k + 1);
  }
}

void NgramReader::pad(std::size_t before) {
  words_.insert(words_.begin(), before, kBegin);
  owner_run_.insert(owner_run_.begin(), before, 0);
  add(kEnd, 0);
}

EdgeNgrams edge_ngrams(const Hypergraph& forest) {
  NgramReader reader(forest);
  EdgeNgrams out;
  std::unordered_map<std::vector<std::int32_t>, std::int32_t, WordsHash, WordsEqual> index;
  for (EdgeIndex e = 0; e < forest.edge_count(); ++e) {
    reader.read(e, [&](std::span<const std::int32_t> ngram) {
      auto entry = index.find(ngram);
      if (entry == index.end()) {
        out.ngrams.emplace_back(ngram.begin(), ngram.end());
        entry = index.emplace(out.ngrams.back(), static_cast<std::int32_t>(out.ngrams.size() - 1)).first;
      }
      out.ids.push_back(entry->second);
    });
    out.offsets.push_back(array_offset(out.ids.size()));
  }
  return out;
}

}  // namespace hiero
