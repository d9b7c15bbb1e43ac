#include "hiero/forest/constrain.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "hiero/forest/subforest.h"

namespace hiero {
namespace {

// The words of a reference, from `begin` to before `end`, that a node yields.
struct Place {
  std::uint32_t reference = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  friend auto operator<=>(const Place&, const Place&) = default;
};

// An edge that yields words of a reference, with its tails in the new forest.
struct Match {
  EdgeIndex edge;
  std::vector<NodeIndex> tails;
};

class Constrainer {
 public:
  Constrainer(const Hypergraph& forest, std::span<const std::vector<std::string>> references)
      : forest_(forest),
        out_(empty_copy(forest)),
        nodes_(forest.node_count()),
        free_(forest.node_count(), -1),
        silent_(silent_nodes(forest)) {
    out_.ngram_order = 0;
    std::unordered_map<std::string, std::int32_t> index;
    for (std::size_t i = 0; i < forest.words.size(); ++i)
      index.try_emplace(forest.words[i], static_cast<std::int32_t>(i));
    for (const auto& reference : references) {
      std::vector<std::int32_t> words;
      for (const std::string& token : reference) {
        const auto word = index.find(token);
        words.push_back(word == index.end() ? kUnknown : word->second);
      }
      if (std::ranges::find(references_, words) == references_.end()) references_.push_back(words);
    }
  }

  Hypergraph run() {
    for (NodeIndex v = 0; v < forest_.node_count(); ++v) {
      if (silent_[v]) copy(v);
      std::map<Place, std::vector<Match>> by_place;
      for (EdgeIndex e = forest_.edge_offsets[v]; e < forest_.edge_offsets[v + 1]; ++e) match(e, by_place);
      if (v == forest_.root) {
        add_root(by_place);
      } else {
        for (const auto& [place, matches] : by_place) nodes_[v].emplace_back(place, add_node(v, matches));
      }
    }
    const std::vector<std::uint8_t> all(out_.edge_tables.size(), 1);
    Hypergraph trimmed = subforest(out_, all);
    for (EdgeIndex& e : trimmed.edge_origins) e = out_.edge_origins[e];
    return trimmed;
  }

 private:
  static constexpr std::int32_t kUnknown = -1;

  // Copies a node with all its edges, for tails that a target omits: their strings do not matter.
  void copy(NodeIndex v) {
    std::vector<Match> all;
    for (EdgeIndex e = forest_.edge_offsets[v]; e < forest_.edge_offsets[v + 1]; ++e) {
      Match match{e, {}};
      for (const NodeIndex u : forest_.edge_tails(e)) match.tails.push_back(free_[u]);
      all.push_back(std::move(match));
    }
    free_[v] = add_node(v, all);
  }

  NodeIndex add_node(NodeIndex v, const std::vector<Match>& matches) {
    out_.node_spans.insert(out_.node_spans.end(), {forest_.node_spans[2 * v], forest_.node_spans[2 * v + 1]});
    out_.node_labels.push_back(forest_.node_labels[v]);
    for (const Match& match : matches) {
      out_.tails.insert(out_.tails.end(), match.tails.begin(), match.tails.end());
      append_edge(out_, forest_, match.edge);
    }
    out_.edge_offsets.push_back(out_.edge_count());
    return out_.node_count() - 1;
  }

  void add_root(const std::map<Place, std::vector<Match>>& by_place) {
    std::vector<Match> whole;
    for (const auto& [place, matches] : by_place) {
      if (place.begin == 0 && place.end == references_[place.reference].size())
        whole.insert(whole.end(), matches.begin(), matches.end());
    }
    std::ranges::stable_sort(whole, {}, &Match::edge);
    if (!whole.empty()) out_.root = add_node(forest_.root, whole);
  }

  // Finds all places that an edge yields, with all combinations of tails.
  void match(EdgeIndex e, std::map<Place, std::vector<Match>>& by_place) {
    Match partial{e, {}};
    for (const NodeIndex u : forest_.edge_tails(e)) partial.tails.push_back(free_[u]);
    const auto symbols = forest_.template_of(e);
    const bool first_is_tail = !symbols.empty() && symbols.front() < 0;
    for (std::uint32_t r = 0; r < references_.size(); ++r) {
      const auto size = static_cast<std::uint32_t>(references_[r].size());
      if (first_is_tail) {
        // Only at the places that the first tail yields.
        for (const auto& [place, node] : nodes_[forest_.edge_tails(e)[-(symbols.front() + 1)]]) {
          if (place.reference != r) continue;
          partial.tails[-(symbols.front() + 1)] = node;
          extend(partial, 1, place, by_place);
        }
      } else {
        for (std::uint32_t begin = 0; begin <= size; ++begin) extend(partial, 0, {r, begin, begin}, by_place);
      }
    }
  }

  // Matches the symbols of an edge from `symbol` on, where `place` is the yield of the symbols before it.
  // Depth first with an explicit stack, as edges may have any number of tails.
  void extend(Match& partial, std::size_t symbol, Place place,
              std::map<Place, std::vector<Match>>& by_place) {
    choices_.clear();
    const std::span<const std::int32_t> symbols = forest_.template_of(partial.edge);
    while (true) {
      if (read_words(symbols, symbol, place)) {
        if (symbol == symbols.size()) {
          by_place[place].push_back(partial);
        } else {
          choices_.push_back({symbol, place, first_place(partial.edge, symbols[symbol], place)});
        }
      }
      while (!choices_.empty() && !is_place(partial.edge, symbols, choices_.back())) choices_.pop_back();
      if (choices_.empty()) return;
      Choice& last = choices_.back();
      const auto& [chosen, node] = places(partial.edge, symbols[last.symbol])[last.at++];
      partial.tails[-(symbols[last.symbol] + 1)] = node;
      symbol = last.symbol + 1;
      place = {last.place.reference, last.place.begin, chosen.end};
    }
  }

  // A nonterminal, the yield of the symbols before it, and the next of its places to try.
  struct Choice {
    std::size_t symbol;
    Place place;
    std::size_t at;
  };
  using Places = std::vector<std::pair<Place, NodeIndex>>;

  // Matches words up to the next nonterminal; false if the reference has others.
  bool read_words(std::span<const std::int32_t> symbols, std::size_t& symbol, Place& place) const {
    const std::vector<std::int32_t>& words = references_[place.reference];
    for (; symbol < symbols.size() && symbols[symbol] >= 0; ++symbol, ++place.end) {
      if (place.end == words.size() || words[place.end] != symbols[symbol]) return false;
    }
    return true;
  }

  const Places& places(EdgeIndex e, std::int32_t symbol) const {
    return nodes_[forest_.edge_tails(e)[-(symbol + 1)]];
  }

  std::size_t first_place(EdgeIndex e, std::int32_t symbol, Place place) const {
    const Places& all = places(e, symbol);
    const auto first = std::ranges::lower_bound(all, Place{place.reference, place.end, 0}, {},
                                                [](const auto& entry) { return entry.first; });
    return static_cast<std::size_t>(first - all.begin());
  }

  bool is_place(EdgeIndex e, std::span<const std::int32_t> symbols, const Choice& choice) const {
    const Places& all = places(e, symbols[choice.symbol]);
    return choice.at < all.size() && all[choice.at].first.reference == choice.place.reference &&
           all[choice.at].first.begin == choice.place.end;
  }

  const Hypergraph& forest_;
  Hypergraph out_;
  std::vector<std::vector<std::int32_t>> references_;
  std::vector<Places> nodes_;    // by old node, sorted: the places that it yields
  std::vector<NodeIndex> free_;  // by old node: its unconstrained copy
  std::vector<Choice> choices_;  // stack of extend
  std::vector<std::uint8_t> silent_;
};

}  // namespace

Hypergraph constrain(const Hypergraph& forest, std::span<const std::vector<std::string>> references) {
  return Constrainer(forest, references).run();
}

}  // namespace hiero
