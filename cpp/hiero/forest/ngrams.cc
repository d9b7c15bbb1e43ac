#include "hiero/forest/ngrams.h"

#include <span>
#include <stdexcept>
#include <unordered_map>

#include "hiero/forest/string_hash.h"

namespace hiero {
namespace {

constexpr std::int32_t kNone = -1;

class NgramReader {
 public:
  explicit NgramReader(const Hypergraph& forest) : forest_(forest) {}

  // Visits the n-grams of up to `ngram_order` words that arise at an edge, as word indices.
  template <class Visit>
  void read(EdgeIndex e, const Visit& visit) {
    lay_out(e);
    const auto order = static_cast<std::size_t>(forest_.ngram_order);
    for (std::size_t end = 1; end <= words_.size(); ++end) {
      if (words_[end - 1] < 0) continue;
      for (std::size_t size = 1; size <= order && size <= end && words_[end - size] >= 0; ++size) {
        const std::size_t begin = end - size;
        if (owner_run_[end - 1] >= size) continue;  // within one tail
        visit(std::span<const std::int32_t>(words_.data() + begin, size));
      }
    }
  }

 private:
  void lay_out(EdgeIndex e);
  void add(std::int32_t word, std::size_t run);

  const Hypergraph& forest_;
  // The target side with the boundaries of tails in it; -1 where words of a tail are not known.
  std::vector<std::int32_t> words_;
  // How many of the words up to this one come from the same tail, without a gap between them.
  std::vector<std::size_t> owner_run_;
};

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
    for (std::size_t k = 0; k < size && boundaries[k] != kNone; ++k) add(boundaries[k], ++run);
    if (run < size) continue;  // the whole string
    add(kNone, 0);
    for (std::size_t k = 0; k < size; ++k) add(boundaries[size + k], k + 1);
  }
}

}  // namespace

EdgeNgrams edge_ngrams(const Hypergraph& forest) {
  if (forest.ngram_order < 1) throw std::invalid_argument("the forest has no n-gram boundaries: annotate it");
  NgramReader reader(forest);
  EdgeNgrams out;
  std::unordered_map<std::vector<std::int32_t>, std::int32_t, WordsHash, WordsEqual> index;
  for (EdgeIndex e = 0; e < forest.edge_count(); ++e) {
    reader.read(e, [&](std::span<const std::int32_t> ngram) {
      auto found = index.find(ngram);
      if (found == index.end()) {
        out.ngrams.emplace_back(ngram.begin(), ngram.end());
        found = index.emplace(out.ngrams.back(), static_cast<std::int32_t>(out.ngrams.size() - 1)).first;
      }
      out.ids.push_back(found->second);
    });
    out.offsets.push_back(array_offset(out.ids.size()));
  }
  return out;
}

}  // namespace hiero
