// What is said of words of a source sentence: translations of phrases, zones that are translated as a block,
// walls that no reordering crosses, and words that the translation must have as often as the sentence. Zones
// and walls are those of Moses' markup.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hiero/base/setting.h"
#include "hiero/grammar/rule.h"

namespace hiero {

// The value of a rule that was made for a phrase: 1, and the logarithm of its probability.
inline constexpr const char* kMarkupRule = "Markup";
inline constexpr const char* kMarkupProbability = "MarkupProbability";

// Source positions [begin, end).
struct SourceSpan {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  bool contains(std::uint32_t position) const { return begin <= position && position < end; }
  bool contains(const SourceSpan& other) const { return begin <= other.begin && other.end <= end; }
  bool meets(const SourceSpan& other) const { return begin < other.end && other.begin < end; }
  auto operator<=>(const SourceSpan&) const = default;
};

// The rules that may translate words of a phrase, besides those that were made for it: none, all, or those
// that have one of its translations among their words.
enum class PhraseMode { kExclusive, kInclusive, kConstraint };
template <>
inline constexpr std::array<std::string_view, 3> kNames<PhraseMode>{"exclusive", "inclusive", "constraint"};

struct MarkedPhrase {
  SourceSpan span;
  std::vector<std::vector<std::string>> translations;
  std::vector<double> logs;  // natural logarithms of their probabilities
  std::string label;         // of their rules; empty: the labels of words that are copied
  PhraseMode mode = PhraseMode::kExclusive;
};

// All words of the scope that are left of the wall are translated before the others.
struct Wall {
  std::uint32_t position = 0;  // of the word behind it
  SourceSpan scope;
};

struct SourceMarkup {
  std::vector<MarkedPhrase> phrases;
  std::vector<SourceSpan> zones;
  std::vector<Wall> walls;
  std::vector<std::string> kept;  // words that the two sides of every other rule have equally often, without
                                  // marks of tokens that are joined

  bool any() const { return !phrases.empty() || !zones.empty() || !walls.empty() || !kept.empty(); }
};

// Throws std::invalid_argument for positions beyond the sentence, empty spans, walls at the edges of their
// scope, and numbers of translations and logarithms that differ.
void check_markup(const SourceMarkup& markup, std::uint32_t length);

// Returns the rules of a phrase of a sentence with these words, for each of the labels unless it has its own.
std::vector<Rule> phrase_rules(const MarkedPhrase& phrase, const std::vector<std::string>& words,
                               const std::vector<std::string>& labels);

// A mark at the ends of a token that is joined to its neighbour (U+FFED).
inline constexpr std::string_view kJoined = "\xEF\xBF\xAD";

// Returns a token without the marks at its ends.
std::string_view without_marks(std::string_view token);

}  // namespace hiero
