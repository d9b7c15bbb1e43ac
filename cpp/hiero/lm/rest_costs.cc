#include "hiero/lm/rest_costs.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <locale>
#include <span>
#include <string_view>

#include "hiero/base/error.h"
#include "hiero/base/interrupt.h"
#include "hiero/base/read_double.h"
#include "lm/model.hh"

namespace hiero {
namespace {

using UpperBounds = ::lm::ngram::RestProbingModel;

constexpr double kOptimism = 0.2;
constexpr std::uint64_t kLinesBetweenPolls = 1 << 16;

[[noreturn]] void throw_other_text(const std::string& path) {
  throw FormatError(path + ": not a model of lower order of the same text");
}

// An n-gram of an ARPA file, its words last first, as KenLM takes contexts.
struct Ngram {
  double log10_probability;
  std::array<::lm::WordIndex, KENLM_MAX_ORDER> words;
};

Ngram read_ngram(std::string_view line, std::size_t order, const UpperBounds& bounds,
                 const std::string& path) {
  Ngram ngram{};
  const char* const end = line.data() + line.size();
  const auto [at, error] = read_double(line.data(), end, ngram.log10_probability);
  if (error != std::errc() || at == end || *at != '\t') throw_other_text(path);
  std::string_view words(at + 1, static_cast<std::size_t>(end - at - 1));
  words = words.substr(0, words.find('\t'));
  for (std::size_t i = order; i-- > 0;) {
    const std::size_t length = i > 0 ? words.find(' ') : words.size();
    if (length == std::string_view::npos) throw_other_text(path);
    const std::string_view word = words.substr(0, length);
    ngram.words[i] = bounds.GetVocabulary().Index(StringPiece(word.data(), word.size()));
    if (ngram.words[i] == bounds.GetVocabulary().NotFound() && word != "<unk>") throw_other_text(path);
    words.remove_prefix(std::min(length + 1, words.size()));
  }
  return ngram;
}

// Returns the largest probability of the n-gram in any longer context, as log 10.
double upper_bound(const UpperBounds& bounds, const Ngram& ngram, std::size_t order,
                   const std::string& path) {
  const std::span words(ngram.words.data(), order);
  ::lm::ngram::State ignored;
  const ::lm::FullScoreReturn score =
      bounds.FullScoreForgotState(words.data() + 1, words.data() + order, words[0], ignored);
  if (score.ngram_length != order) throw_other_text(path);
  return score.rest;
}

// Copies an ARPA file, with rest costs for the probabilities of its longest n-grams.
void write_costs(const UpperBounds& bounds, std::size_t order, const std::string& lower,
                 const std::string& path) {
  std::ifstream in(lower);
  std::ofstream out(path);
  out.imbue(std::locale::classic());
  out.precision(9);
  if (!in) throw FileError(errno, lower);
  const std::string longest = "\\" + std::to_string(order) + "-grams:";
  bool is_longest = false;
  std::uint64_t count = 0;
  for (std::string line; std::getline(in, line);) {
    if (++count % kLinesBetweenPolls == 0) poll_interrupts();
    if (line.empty() || line[0] == '\\') is_longest = line == longest;
    if (!is_longest || line == longest) {
      out << line << '\n';
      continue;
    }
    const Ngram ngram = read_ngram(line, order, bounds, lower);
    const double most = std::max(upper_bound(bounds, ngram, order, lower), ngram.log10_probability);
    const double cost = (1 - kOptimism) * ngram.log10_probability + kOptimism * most;
    out << cost << std::string_view(line).substr(line.find('\t')) << '\n';
  }
  if (!out.flush()) throw FileError(errno != 0 ? errno : EIO, path);
}

}  // namespace

RestCosts::RestCosts(const std::string& arpa, const std::vector<std::string>& lower,
                     const std::string& output) {
  ::lm::ngram::Config config;
  config.messages = nullptr;
  config.show_progress = false;
  config.arpa_complain = ::lm::ngram::Config::NONE;
  config.rest_function = ::lm::ngram::Config::REST_MAX;
  const UpperBounds bounds(arpa.c_str(), config);
  if (lower.size() + 1 != bounds.Order()) {
    throw FormatError(arpa + ": has order " + std::to_string(bounds.Order()) + ", and there are " +
                      std::to_string(lower.size()) + " models of lower order");
  }
  try {
    for (std::size_t k = 0; k < lower.size(); ++k) {
      std::string path;
      ::close(open_temporary(output, path));
      files_.push_back(path);
      write_costs(bounds, k + 1, lower[k], path);
    }
  } catch (...) {
    remove();
    throw;
  }
}

void RestCosts::remove() {
  for (const std::string& path : files_) ::unlink(path.c_str());
  files_.clear();
}

}  // namespace hiero
