// Tests is_utf8 against its definition: a text is UTF-8 if it is a sequence of encodings of code points.
// Tries all texts of up to four bytes at the boundaries of the ranges, alone and after ASCII characters.
#include <cstdint>
#include <cstdio>
#include <string>

#include "hiero/base/line_reader.h"

namespace hiero {
namespace {

const unsigned char kBytes[] = {0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF,
                                0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};

std::string encode(std::uint32_t code_point) {
  const auto byte = [](std::uint32_t bits) { return static_cast<char>(bits); };
  const auto trailing = [&](int shift) { return byte(0x80 | (code_point >> shift & 0x3F)); };
  if (code_point < 0x80) return {byte(code_point)};
  if (code_point < 0x800) return {byte(0xC0 | code_point >> 6), trailing(0)};
  if (code_point < 0x10000) return {byte(0xE0 | code_point >> 12), trailing(6), trailing(0)};
  return {byte(0xF0 | code_point >> 18), trailing(12), trailing(6), trailing(0)};
}

bool is_code_point(std::uint32_t value) { return value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF); }

// Returns whether the text begins with the encoding of a code point in `size` bytes.
bool begins_with_character(const std::string& text, std::size_t size) {
  if (text.size() < size) return false;
  const std::uint32_t lead_masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  std::uint32_t value = static_cast<unsigned char>(text[0]) & lead_masks[size];
  for (std::size_t i = 1; i < size; ++i) value = value << 6 | (static_cast<unsigned char>(text[i]) & 0x3F);
  return is_code_point(value) && encode(value) == text.substr(0, size);
}

bool is_utf8_by_definition(const std::string& text) {
  if (text.empty()) return true;
  for (std::size_t size = 1; size <= 4; ++size) {
    if (begins_with_character(text, size)) return is_utf8_by_definition(text.substr(size));
  }
  return false;
}

std::uint64_t tried = 0;
std::uint64_t valid = 0;

bool agree(const std::string& text, std::size_t more) {
  const bool expected = is_utf8_by_definition(text);
  ++tried;
  valid += expected;
  if (is_utf8(text) != expected || is_utf8("12345" + text) != expected ||
      is_utf8(text + "1234567") != expected) {
    for (const char c : text) std::printf("%02x ", static_cast<unsigned char>(c));
    std::printf("is%s UTF-8\n", expected ? "" : " not");
    return false;
  }
  if (more == 0) return true;
  for (const unsigned char byte : kBytes) {
    if (!agree(text + static_cast<char>(byte), more - 1)) return false;
  }
  return true;
}

int run() {
  const bool passed = agree("", 4);
  std::printf("utf8_test: %llu texts, %llu valid\n", static_cast<unsigned long long>(tried),
              static_cast<unsigned long long>(valid));
  return passed && valid > 0 ? 0 : 1;
}

}  // namespace
}  // namespace hiero

int main() { return hiero::run(); }
