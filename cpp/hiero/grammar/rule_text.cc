#include "hiero/grammar/rule_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "hiero/base/error.h"
#include "hiero/base/line_reader.h"
#include "hiero/base/read_double.h"
#include "hiero/grammar/rule_token.h"

namespace hiero {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Returns whether a decimal number, not 0 and out of the range of a double, is too small and not too large.
bool is_tiny(std::string_view number) {
  const std::size_t mantissa_end = std::min(number.find_first_of("eE"), number.size());
  double exponent = 0;  // it may have more digits than any integer type holds
  if (mantissa_end < number.size()) {
    std::string_view digits = number.substr(mantissa_end + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    read_double(digits.data(), digits.data() + digits.size(), exponent);
  }
  const std::string_view mantissa = number.substr(0, mantissa_end);
  const auto point = static_cast<double>(std::min(mantissa.find('.'), mantissa_end));
  return point - static_cast<double>(mantissa.find_first_of("123456789")) + exponent < 0;
}

}  // namespace

void RuleParser::fail(const std::string& what) const { throw FormatError(*where_ + ": " + what); }

bool RuleParser::parse(std::string_view line, const std::string& where) {
  where_ = &where;
  if (!is_utf8(line)) fail("invalid UTF-8");
  source_.clear();
  target_.clear();
  features_.clear();
  links_.clear();
  split_fields(line);
  if (field_count_ == 1 && fields_[0].empty()) return false;
  if (field_count_ < 3) {
    fail("expected 4 fields separated by \"|||\", found " + std::to_string(field_count_));
  }
  const Tokens& first = fields_[0];
  if (first.empty() || !is_bracketed(first.back())) {
    fail("expected a left-hand label such as [X] in the first field");
  }
  if (first.size() == 1) {
    parse_hiero();
  } else {
    parse_moses();
  }
  if (source_.empty()) fail("empty source side");
  check_links();
  check_feature_names();
  return true;
}

void RuleParser::check_links() const {
  const auto link_text = [](const LinkView& link) {
    return "alignment link " + std::to_string(link.source) + "-" + std::to_string(link.target);
  };
  for (const LinkView& link : links_) {
    if (link.source >= source_.size() || link.target >= target_.size())
      fail(link_text(link) + " is out of range");
    if ((source_[link.source].index == 0) != (target_[link.target].index == 0))
      fail(link_text(link) + " is between a word and a nonterminal");
  }
}

void RuleParser::split_fields(std::string_view line) {
  if (fields_.empty()) fields_.emplace_back();
  for (Tokens& field : fields_) field.clear();
  field_count_ = 1;
  std::size_t at = 0;
  while (at < line.size()) {
    if (is_space(line[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < line.size() && !is_space(line[end])) ++end;
    const std::string_view token = line.substr(at, end - at);
    at = end;
    if (token != kSeparator) {
      fields_[field_count_ - 1].push_back(token);
    } else if (++field_count_ > fields_.size()) {
      fields_.emplace_back();
    }
  }
}

void RuleParser::parse_hiero() {
  lhs_ = fields_[0][0].substr(1, fields_[0][0].size() - 2);
  if (!is_label(lhs_)) fail("bad left-hand label " + std::string(fields_[0][0]));
  if (field_count_ > 5)
    fail("expected 4 or 5 fields separated by \"|||\", found " + std::to_string(field_count_));
  int nonterminals = 0;
  for (std::string_view token : fields_[1]) {
    if (is_bracketed(token) && ++nonterminals > kMaxIndex) fail_too_many_nonterminals();
    source_.push_back(parse_source_token(token, nonterminals));
  }
  for (std::string_view token : fields_[2]) target_.push_back(parse_target_token(token));
  number_nonterminals();
  if (field_count_ >= 4) parse_hiero_features(fields_[3]);
  if (field_count_ == 5) parse_links(fields_[4]);
}

void RuleParser::fail_too_many_nonterminals() const {
  fail("more than " + std::to_string(kMaxIndex) + " nonterminals");
}

void RuleParser::fail_bad_nonterminal(std::string_view token) const {
  fail("bad nonterminal " + std::string(token) +
       " (expected [label,1], [label,2] and so on; for the word write \\" + std::string(token) + ")");
}

// Reads a word, `[X,1]`, or `[X]`, which gets the index `nonterminals`.
TokenView RuleParser::parse_source_token(std::string_view token, int nonterminals) const {
  if (!is_bracketed(token)) return {unescape(token), 0};
  const std::string_view inside = token.substr(1, token.size() - 2);
  if (ends_in_index(inside)) {
    const std::size_t comma = inside.rfind(',');
    if (!is_label(inside.substr(0, comma))) fail_bad_nonterminal(token);
    return make_nonterminal(token, inside.substr(0, comma), inside.substr(comma + 1));
  }
  if (!is_label(inside) || is_number(inside)) fail_bad_nonterminal(token);
  return {inside, nonterminals};
}

// Reads a word, `[X,1]` or `[1]`.
TokenView RuleParser::parse_target_token(std::string_view token) const {
  if (!is_bracketed(token)) return {unescape(token), 0};
  const std::string_view inside = token.substr(1, token.size() - 2);
  const std::size_t comma = inside.rfind(',');
  if (comma == std::string_view::npos) return make_nonterminal(token, {}, inside);
  if (!is_label(inside.substr(0, comma))) fail_bad_nonterminal(token);
  return make_nonterminal(token, inside.substr(0, comma), inside.substr(comma + 1));
}

TokenView RuleParser::make_nonterminal(std::string_view token, std::string_view label,
                                       std::string_view index) const {
  if (!is_number(index)) fail_bad_nonterminal(token);
  if (index.size() > 1 || index[0] < '1' || index[0] > '0' + kMaxIndex) {
    fail("nonterminal index " + std::string(index) + " in " + std::string(token) + ", expected 1 to " +
         std::to_string(kMaxIndex));
  }
  return {label, index[0] - '0'};
}

// Checks that both sides have the same nonterminals and numbers them in source order.
void RuleParser::number_nonterminals() {
  int new_index[kMaxIndex + 1] = {};       // by index in the text; 0: not on the source side
  std::string_view labels[kMaxIndex + 1];  // by index in the text
  int count = 0;
  for (TokenView& token : source_) {
    if (token.index == 0) continue;
    if (new_index[token.index] != 0)
      fail("nonterminal " + std::to_string(token.index) + " occurs twice on the source side");
    labels[token.index] = token.text;
    new_index[token.index] = ++count;
    token.index = count;
  }
  bool seen[kMaxIndex + 1] = {};
  int target_count = 0;
  for (TokenView& token : target_) {
    if (token.index == 0) continue;
    if (new_index[token.index] == 0)
      fail("nonterminal " + std::to_string(token.index) + " occurs on the target side only");
    if (seen[token.index])
      fail("nonterminal " + std::to_string(token.index) + " occurs twice on the target side");
    const std::string_view label = labels[token.index];
    if (!token.text.empty() && token.text != label) {
      fail("nonterminal " + std::to_string(token.index) + " is [" + std::string(label) +
           "] on the source side and [" + std::string(token.text) + "] on the target side");
    }
    seen[token.index] = true;
    ++target_count;
    token = {label, new_index[token.index]};
  }
  if (target_count < count) fail("a nonterminal occurs on the source side only");
}

void RuleParser::parse_hiero_features(const Tokens& tokens) {
  std::uint32_t position = 0;
  for (std::string_view token : tokens) {
    const std::size_t equals = token.rfind('=');
    if (equals == 0) fail("feature without a name: " + std::string(token));
    if (equals == std::string_view::npos) {
      features_.push_back({{}, position++, parse_value(token)});
    } else {
      features_.push_back({token.substr(0, equals), 0, parse_value(token.substr(equals + 1))});
    }
  }
}

float RuleParser::parse_value(std::string_view text) const {
  double value = 0;
  const bool two_signs = text.starts_with("++") || text.starts_with("+-");
  if (text.starts_with('+') && !two_signs) text.remove_prefix(1);
  const auto [end, error] = read_double(text.data(), text.data() + text.size(), value);
  const bool out_of_range = error == std::errc::result_out_of_range;
  if ((error != std::errc() && !out_of_range) || end != text.data() + text.size())
    fail("expected a number, found \"" + std::string(text) + "\"");
  // A value too small for a double is 0; a value too large is an error.
  if (out_of_range && is_tiny(text)) return 0.0f;
  if (out_of_range || !std::isfinite(static_cast<float>(value)))
    fail("value " + std::string(text) + " is not finite");
  return static_cast<float>(value);
}

std::uint32_t RuleParser::parse_position(std::string_view text) const {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) fail("bad alignment link");
  return value;
}

void RuleParser::parse_links(const Tokens& tokens) {
  for (std::string_view token : tokens) {
    const std::size_t dash = token.find('-');
    if (dash == std::string_view::npos)
      fail("bad alignment link \"" + std::string(token) + "\", expected 0-1");
    links_.push_back({parse_position(token.substr(0, dash)), parse_position(token.substr(dash + 1))});
  }
}

void RuleParser::check_feature_names() {
  names_.clear();
  for (const FeatureView& feature : features_) {
    if (!feature.name.empty()) names_.push_back(feature.name);
  }
  std::sort(names_.begin(), names_.end());
  const auto duplicate = std::adjacent_find(names_.begin(), names_.end());
  if (duplicate != names_.end()) fail("feature " + std::string(*duplicate) + " occurs twice");
}

Rule RuleParser::rule(const std::string& prefix) const {
  Rule out;
  out.lhs = lhs_;
  for (const TokenView& token : source_) out.source.push_back({std::string(token.text), token.index});
  for (const TokenView& token : target_) out.target.push_back({std::string(token.text), token.index});
  for (const FeatureView& feature : features_) {
    out.features.emplace_back(
        feature.name.empty() ? prefix + std::to_string(feature.position) : std::string(feature.name),
        feature.value);
  }
  for (const LinkView& link : links_) out.links.emplace_back(link.source, link.target);
  return out;
}

std::string escape(std::string_view token) {
  return looks_like_syntax(token) ? "\\" + std::string(token) : std::string(token);
}

std::string token_text(const RuleToken& token) {
  return token.is_nonterminal() ? "[" + token.text + "," + std::to_string(token.index) + "]"
                                : escape(token.text);
}

std::string format_rule(const Rule& rule) {
  std::string out = "[" + rule.lhs + "] |||";
  for (const auto* side : {&rule.source, &rule.target}) {
    for (const RuleToken& token : *side) out += " " + token_text(token);
    out += " |||";
  }
  for (const auto& [name, value] : rule.features) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    out += " " + name + "=" + std::string(digits, end);
  }
  if (!rule.links.empty()) out += " |||";
  for (const auto& [source, target] : rule.links)
    out += " " + std::to_string(source) + "-" + std::to_string(target);
  return out;
}

Rule parse_rule(std::string_view line, const std::string& where) {
  RuleParser parser;
  if (!parser.parse(line, where)) throw FormatError(where + ": expected a rule, found a blank line");
  return parser.rule("tm_sentence_");
}

}  // namespace hiero
