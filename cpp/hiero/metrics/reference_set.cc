#include "hiero/metrics/reference_set.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace hiero {
namespace {

std::uint64_t key_of(std::int32_t parent, std::int32_t word) {
  return static_cast<std::uint64_t>(parent) << 32 | static_cast<std::uint32_t>(word);
}

std::size_t slot_of(std::uint64_t key, std::size_t slots) {
  return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ull) >> 32) & (slots - 1);
}

// Counts the n-grams of each order in a text of so many words.
template <std::size_t order>
std::array<double, order> ngram_totals(std::size_t length) {
  std::array<double, order> totals{};
  for (std::size_t n = 0; n < std::min(order, length); ++n) totals[n] = static_cast<double>(length - n);
  return totals;
}

}  // namespace

ReferenceSet::Trie::Trie() : keys(16), nodes(16, -1) {}

ReferenceSet::Node ReferenceSet::Trie::child(Node parent, std::int32_t word) const {
  const std::uint64_t key = key_of(parent, word);
  for (std::size_t slot = slot_of(key, keys.size());; slot = (slot + 1) & (keys.size() - 1)) {
    if (nodes[slot] < 0 || keys[slot] == key) return nodes[slot];
  }
}

ReferenceSet::Node ReferenceSet::Trie::add(Node parent, std::int32_t word) {
  if (static_cast<std::size_t>(size) * 2 >= keys.size()) grow();
  const std::uint64_t key = key_of(parent, word);
  std::size_t slot = slot_of(key, keys.size());
  while (nodes[slot] >= 0 && keys[slot] != key) slot = (slot + 1) & (keys.size() - 1);
  if (nodes[slot] < 0) {
    keys[slot] = key;
    nodes[slot] = size++;
  }
  return nodes[slot];
}

void ReferenceSet::Trie::grow() {
  const std::vector<std::uint64_t> old_keys = std::move(keys);
  const std::vector<Node> old_nodes = std::move(nodes);
  keys.assign(old_keys.size() * 2, 0);
  nodes.assign(keys.size(), -1);
  for (std::size_t i = 0; i < old_keys.size(); ++i) {
    if (old_nodes[i] < 0) continue;
    std::size_t slot = slot_of(old_keys[i], keys.size());
    while (nodes[slot] >= 0) slot = (slot + 1) & (keys.size() - 1);
    keys[slot] = old_keys[i];
    nodes[slot] = old_nodes[i];
  }
}

ReferenceSet::ReferenceSet(std::span<const References> segments) {
  // The n-grams of all segments and how often each occurs, for their information.
  Trie corpus;
  std::vector<double> occurrences{0};
  std::vector<std::vector<std::pair<Node, Node>>> in_corpus(segments.size());  // parent and node, by node
  for (std::size_t i = 0; i < segments.size(); ++i) {
    Segment& segment = segments_.emplace_back();
    try {
      segment.lengths = reference_lengths(segments[i]);
    } catch (const std::invalid_argument&) {
      throw std::invalid_argument("segment " + std::to_string(i) + ": no reference with a token");
    }
    segment.clip = {0};
    in_corpus[i] = {{0, 0}};
    std::vector<std::int32_t> counts;  // by node: occurrences in this reference
    std::vector<std::int32_t> words;
    for (const auto& reference : segments[i]) {
      words.clear();
      for (const std::string& word : reference) {
        words.push_back(ids_.try_emplace(word, static_cast<std::int32_t>(ids_.size())).first->second);
      }
      occurrences[0] += static_cast<double>(words.size());
      counts.assign(counts.size(), 0);
      for (std::size_t begin = 0; begin < words.size(); ++begin) {
        Node node = 0;
        Node corpus_node = 0;
        for (std::size_t end = begin; end < std::min(words.size(), begin + kNistOrder); ++end) {
          node = segment.trie.add(node, words[end]);
          const Node parent = corpus_node;
          corpus_node = corpus.add(parent, words[end]);
          segment.clip.resize(segment.trie.size);
          counts.resize(segment.trie.size);
          in_corpus[i].resize(segment.trie.size);
          occurrences.resize(corpus.size);
          segment.clip[node] = std::max(segment.clip[node], ++counts[node]);
          in_corpus[i][node] = {parent, corpus_node};
          ++occurrences[corpus_node];
        }
      }
    }
  }
  for (std::size_t i = 0; i < segments.size(); ++i) {
    for (const auto& [parent, node] : in_corpus[i]) {
      segments_[i].info.push_back(node == 0 ? 0 : std::log2(occurrences[parent] / occurrences[node]));
    }
  }
}

std::vector<std::int32_t> ReferenceSet::words(std::span<const std::string> vocabulary) const {
  std::vector<std::int32_t> out;
  out.reserve(vocabulary.size());
  for (const std::string& word : vocabulary) {
    const auto id = ids_.find(word);
    out.push_back(id == ids_.end() ? -1 : id->second);
  }
  return out;
}

template <class Match>
void ReferenceSet::for_matches(const Segment& segment, std::span<const std::int32_t> words, std::size_t order,
                               const Match& match) {
  std::vector<std::int32_t> seen(segment.trie.size, 0);
  for (std::size_t begin = 0; begin < words.size(); ++begin) {
    Node node = 0;
    for (std::size_t n = 0; n < std::min(order, words.size() - begin) && words[begin + n] >= 0; ++n) {
      node = segment.trie.child(node, words[begin + n]);
      if (node < 0) break;
      if (++seen[node] <= segment.clip[node]) match(node, n);
    }
  }
}

BleuCounts ReferenceSet::bleu(std::size_t segment, std::span<const std::int32_t> words,
                              ReferenceLength kind) const {
  const Segment& s = segments_[segment];
  BleuCounts out;
  out.length = static_cast<double>(words.size());
  out.reference_length = effective_length(s.lengths, kind, out.length);
  out.totals = ngram_totals<kBleuOrder>(words.size());
  for_matches(s, words, kBleuOrder, [&](Node, std::size_t n) { ++out.matches[n]; });
  return out;
}

NistCounts ReferenceSet::nist(std::size_t segment, std::span<const std::int32_t> words) const {
  const Segment& s = segments_[segment];
  NistCounts out;
  out.length = static_cast<double>(words.size());
  out.reference_length = effective_length(s.lengths, ReferenceLength::kAverage, out.length);
  out.totals = ngram_totals<kNistOrder>(words.size());
  for_matches(s, words, kNistOrder, [&](Node node, std::size_t n) { out.info[n] += s.info[node]; });
  return out;
}

std::array<double, kBleuOrder> ReferenceSet::unclipped(std::size_t segment,
                                                       std::span<const std::int32_t> words) const {
  const Trie& trie = segments_[segment].trie;
  std::array<double, kBleuOrder> out{};
  for (std::size_t begin = 0; begin < words.size(); ++begin) {
    Node node = 0;
    for (std::size_t n = 0; n < std::min(kBleuOrder, words.size() - begin) && words[begin + n] >= 0; ++n) {
      node = trie.child(node, words[begin + n]);
      if (node < 0) break;
      ++out[n];
    }
  }
  return out;
}

template <class Count>
void ReferenceSet::Frame::walk(std::span<const std::int32_t> text, std::size_t begin, std::size_t end,
                               std::size_t after, const Count& count) const {
  for (std::size_t at = begin; at < end; ++at) {
    Node node = 0;
    for (std::size_t n = 0; n < std::min(kBleuOrder, text.size() - at) && text[at + n] >= 0; ++n) {
      node = segment_.trie.child(node, text[at + n]);
      if (node < 0) break;
      if (at + n >= after) count(node, n);
    }
  }
}

ReferenceSet::Frame::Frame(const ReferenceSet& references, std::size_t segment,
                           std::span<const std::int32_t> left, std::span<const std::int32_t> right)
    : segment_(references.segments_[segment]),
      left_(left.end() - static_cast<std::ptrdiff_t>(std::min(left.size(), kBleuOrder - 1)), left.end()),
      right_(right.begin(),
             right.begin() + static_cast<std::ptrdiff_t>(std::min(right.size(), kBleuOrder - 1))),
      outside_(left.size() + right.size()),
      seen_(static_cast<std::size_t>(segment_.trie.size), 0) {
  for (const auto side : {left, right}) {
    walk(side, 0, side.size(), 0, [this](Node node, std::size_t n) {
      if (++seen_[static_cast<std::size_t>(node)] <= segment_.clip[static_cast<std::size_t>(node)])
        ++matches_[n];
    });
  }
}

BleuCounts ReferenceSet::Frame::bleu(std::span<const std::int32_t> words, ReferenceLength kind) {
  text_.assign(left_.begin(), left_.end());
  text_.insert(text_.end(), words.begin(), words.end());
  text_.insert(text_.end(), right_.begin(), right_.end());
  BleuCounts out;
  const std::size_t length = outside_ + words.size();
  out.length = static_cast<double>(length);
  out.reference_length = effective_length(segment_.lengths, kind, out.length);
  out.totals = ngram_totals<kBleuOrder>(length);
  out.matches = matches_;
  // N-grams within one side are in matches_ already.
  walk(text_, 0, left_.size() + words.size(), left_.size(), [&](Node node, std::size_t n) {
    if (++seen_[static_cast<std::size_t>(node)] <= segment_.clip[static_cast<std::size_t>(node)])
      ++out.matches[n];
    counted_.push_back(node);
  });
  for (const Node node : counted_) --seen_[static_cast<std::size_t>(node)];
  counted_.clear();
  return out;
}

BleuCounts bleu_counts(std::span<const std::string> tokens, const ReferenceSet::References& references,
                       ReferenceLength kind) {
  if (std::ranges::all_of(references, [](const auto& reference) { return reference.empty(); }))
    throw std::invalid_argument("references: all are empty");
  const ReferenceSet set({&references, 1});
  return set.bleu(0, set.words(tokens), kind);
}

}  // namespace hiero
