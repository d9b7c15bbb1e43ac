#include "hiero/decode/source_markup.h"

#include <cmath>
#include <span>
#include <stdexcept>
#include <utility>

namespace hiero {
namespace {

void check_span(const SourceSpan& span, std::uint32_t length, const char* what) {
  if (span.begin < span.end && span.end <= length) return;
  throw std::invalid_argument(std::string(what) + " [" + std::to_string(span.begin) + ", " +
                              std::to_string(span.end) + ") of a sentence with " + std::to_string(length) +
                              " words");
}

// Links words in order, if both sides have as many, or else all with all.
std::vector<std::pair<int, int>> links_between(std::size_t source, std::size_t target) {
  std::vector<std::pair<int, int>> links;
  for (int s = 0; s < static_cast<int>(source); ++s) {
    for (int t = 0; t < static_cast<int>(target); ++t)
      if (source != target || s == t) links.emplace_back(s, t);
  }
  return links;
}

std::vector<RuleToken> as_tokens(std::span<const std::string> words) {
  std::vector<RuleToken> out;
  for (const std::string& word : words) out.push_back({word, 0});
  return out;
}

}  // namespace

void check_markup(const SourceMarkup& markup, std::uint32_t length) {
  for (const MarkedPhrase& phrase : markup.phrases) {
    check_span(phrase.span, length, "marked phrase");
    if (phrase.logs.size() != phrase.translations.size())
      throw std::invalid_argument("marked phrase: " + std::to_string(phrase.translations.size()) +
                                  " translations with " + std::to_string(phrase.logs.size()) +
                                  " probabilities");
    for (const double log : phrase.logs) {
      if (!std::isfinite(log)) throw std::invalid_argument("marked phrase: a probability is not positive");
    }
  }
  for (const SourceSpan& zone : markup.zones) check_span(zone, length, "zone");
  for (const Wall& wall : markup.walls) {
    check_span(wall.scope, length, "scope of a wall");
    if (wall.position <= wall.scope.begin || wall.position >= wall.scope.end)
      throw std::invalid_argument("wall at " + std::to_string(wall.position) + ", where its scope ends");
  }
}

std::vector<Rule> phrase_rules(const MarkedPhrase& phrase, const std::vector<std::string>& words,
                               const std::vector<std::string>& labels) {
  std::vector<Rule> out;
  const std::span<const std::string> source =
      std::span(words).subspan(phrase.span.begin, phrase.span.end - phrase.span.begin);
  for (const std::string& label : phrase.label.empty() ? labels : std::vector{phrase.label}) {
    for (std::size_t k = 0; k < phrase.translations.size(); ++k) {
      const std::vector<std::string>& target = phrase.translations[k];
      Rule rule{label, as_tokens(source), as_tokens(target), {{kMarkupRule, 1.0f}}, {}};
      if (const auto log = static_cast<float>(phrase.logs[k]); log != 0)
        rule.features.emplace_back(kMarkupProbability, log);
      rule.links = links_between(source.size(), target.size());
      out.push_back(std::move(rule));
    }
  }
  return out;
}

std::string_view without_marks(std::string_view token) {
  if (token.size() > kJoined.size() && token.starts_with(kJoined)) token.remove_prefix(kJoined.size());
  if (token.size() > kJoined.size() && token.ends_with(kJoined)) token.remove_suffix(kJoined.size());
  return token;
}

}  // namespace hiero
