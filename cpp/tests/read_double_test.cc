// Reading numbers by strtod() against std::from_chars, on numbers and on texts that are nearly numbers.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>

#include "cases.h"
#include "hiero/base/read_double.h"

namespace hiero {
namespace {

bool same(const std::string& text) {
  double expected = 7, found = 7;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto wanted = std::from_chars(begin, end, expected);
  const auto got = read_double_by_strtod(begin, end, found);
  const auto through = read_double(begin, end, expected);
  if (wanted.ptr == got.ptr && wanted.ec == got.ec && through.ptr == wanted.ptr &&
      (expected == found || (std::isnan(expected) && std::isnan(found))))
    return true;
  std::printf("read_double_test: \"%s\"\n", text.c_str());
  return false;
}

int run(std::size_t cases, std::uint64_t seed) {
  bool ok = true;
  for (const char* text : {"",      "-",     "+1",     " 1",       "1 ",     "0x10", "-0x1",
                           "1.5",   ".5",    "5.",     ".",        "-.",     "1e5",  "1e",
                           "1e+",   "1e400", "-1e400", "1e-400",   "4e-320", "-0",   "0",
                           "00012", "inf",   "-inf",   "INFINITY", "nan",    "infx", "i",
                           "n",     "1,5",   "1e5x",   "1..2",     "--1",    "e5",   "1e99999999999999999999",
                           "0e5",   "0x",    "-nan"})
    ok = same(text) && ok;
  std::mt19937_64 random(seed);
  const std::string characters = "0123456789..eE+-x in";
  for (std::size_t i = 0; i < cases; ++i) {
    std::string text;
    for (std::size_t n = random() % 12; n > 0; --n) text += characters[random() % characters.size()];
    ok = same(text) && ok;
    std::uint64_t bits = random();
    double number;
    std::memcpy(&number, &bits, sizeof number);
    ok = same(std::to_string(number)) && ok;
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.17g", number);
    ok = same(buffer) && ok;
  }
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace hiero

int main(int argc, char** argv) { return hiero::run_cases(argc, argv, 20000, hiero::run); }
