// The syntax of single tokens in rule text: separators, escapes, labels and sentence marks. Shared by the
// readers and the writer (rule_text.h).
#pragma once

#include <algorithm>
#include <string_view>

#include "hiero/base/symbol.h"

namespace hiero {

inline constexpr std::string_view kSeparator = "|||";
inline constexpr int kMaxIndex = kMaxArity;  // the largest index of a nonterminal; the smallest is 1
static_assert(kMaxIndex <= 9, "nonterminal indices are single digits");

// Marks of the ends of a sentence, which Joshua and Moses put around the input.
inline constexpr std::string_view kOpenMark = "<s>";
inline constexpr std::string_view kCloseMark = "</s>";

inline bool is_sentence_mark(std::string_view word) { return word == kOpenMark || word == kCloseMark; }

inline bool is_bracketed(std::string_view token) {
  return token.size() >= 2 && token.front() == '[' && token.back() == ']';
}

// Returns whether the token matches the regular expression \\*(\[.*\]|\|\|\|) in full.
inline bool looks_like_syntax(std::string_view token) {
  token.remove_prefix(std::min(token.find_first_not_of('\\'), token.size()));
  return is_bracketed(token) || token == kSeparator;
}

inline std::string_view unescape(std::string_view token) {
  return token.starts_with('\\') && looks_like_syntax(token) ? token.substr(1) : token;
}

// Returns whether the token ends with a comma and digits, as nonterminals with an index do: `X,1`, or `$,,1`
// for the label `$,`.
inline bool ends_in_index(std::string_view token) {
  const std::size_t digits = token.find_last_not_of("0123456789") + 1;
  return digits > 0 && digits < token.size() && token[digits - 1] == ',';
}

// A label may contain commas, as the treebank tags `$,` and `PUNC,` do, but must not end like an index.
inline bool is_label(std::string_view text) {
  return !text.empty() && text.find_first_of("[]") == std::string_view::npos && !ends_in_index(text);
}

}  // namespace hiero
