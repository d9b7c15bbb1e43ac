// What the readers and the writer of rule text agree on about single tokens.
#pragma once

#include <algorithm>
#include <string_view>

#include "hiero/base/symbol.h"

namespace hiero {

inline constexpr std::string_view kSeparator = "|||";
inline constexpr int kMaxGaps = kMaxArity;  // as indices of nonterminals are counted
static_assert(kMaxGaps <= 9, "nonterminal indices are single digits");

// Around the input in Joshua and Moses.
inline constexpr std::string_view kOpenMark = "<s>";
inline constexpr std::string_view kCloseMark = "</s>";

inline bool is_sentence_mark(std::string_view word) { return word == kOpenMark || word == kCloseMark; }

inline bool is_bracketed(std::string_view token) {
  return token.size() >= 2 && token.front() == '[' && token.back() == ']';
}

// Matches \\*(\[.*\]|\|\|\|) in full.
inline bool looks_like_syntax(std::string_view token) {
  token.remove_prefix(std::min(token.find_first_not_of('\\'), token.size()));
  return is_bracketed(token) || token == kSeparator;
}

inline std::string_view unescape(std::string_view token) {
  return token.starts_with('\\') && looks_like_syntax(token) ? token.substr(1) : token;
}

// Whether `token` ends in a comma and digits, as nonterminals with an index do: `X,1`, and `$,,1` of the
// label `$,`.
inline bool ends_in_index(std::string_view token) {
  const std::size_t digits = token.find_last_not_of("0123456789") + 1;
  return digits > 0 && digits < token.size() && token[digits - 1] == ',';
}

// Labels may have commas (`$,` and `PUNC,` are tags of treebanks), but what could be one with an index is none.
inline bool is_label(std::string_view text) {
  return !text.empty() && text.find_first_of("[]") == std::string_view::npos && !ends_in_index(text);
}

}  // namespace hiero
