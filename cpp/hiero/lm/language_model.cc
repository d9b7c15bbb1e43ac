#include "hiero/lm/language_model.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <type_traits>

#include "hiero/base/checksum.h"
#include "hiero/base/error.h"
#include "hiero/base/line_reader.h"
#include "hiero/base/mapped_file.h"
#include "hiero/lm/rest_costs.h"
#include "lm/binary_format.hh"
#include "lm/left.hh"
#include "lm/model.hh"
#include "lm/partial.hh"
#include "util/exception.hh"

namespace hiero {
namespace {

using ::lm::FullScoreReturn;
using ::lm::ngram::Left;
using ::lm::ngram::Right;
using ::lm::ngram::State;

std::uint64_t hash_file(const std::string& path) {
  const MappedFile file(path);
  return checksum(file.bytes().data(), file.bytes().size());
}

// A KenLM model that counts look-ups, for KenLM's templates.
template <class Model>
class CountingModel {
 public:
  CountingModel(const Model& model, std::uint64_t& queries) : model_(model), queries_(queries) {}

  FullScoreReturn FullScore(const State& in, LmWord word, State& out) const {
    ++queries_;
    return model_.FullScore(in, word, out);
  }
  FullScoreReturn ExtendLeft(const LmWord* rbegin, const LmWord* rend, const float* backoff_in,
                             std::uint64_t pointer, unsigned char length, float* backoff_out,
                             unsigned char& next_use) const {
    ++queries_;
    return model_.ExtendLeft(rbegin, rend, backoff_in, pointer, length, backoff_out, next_use);
  }
  float UnRest(const std::uint64_t* begin, const std::uint64_t* end, unsigned char first_length) const {
    return model_.UnRest(begin, end, first_length);
  }
  const State& BeginSentenceState() const { return model_.BeginSentenceState(); }
  unsigned char Order() const { return model_.Order(); }

 private:
  const Model& model_;
  std::uint64_t& queries_;
};

template <class Model>
class KenLm final : public LanguageModel {
 public:
  KenLm(const std::string& path, const ::lm::ngram::Config& config, const char* kind)
      : model_(path.c_str(), config) {
    path_ = path;
    kind_ = kind;
    fingerprint_ = hash_file(path);
  }

  unsigned order() const override { return model_.Order(); }

  LmWord index(std::string_view word) const override {
    return model_.GetVocabulary().Index(StringPiece(word.data(), word.size()));
  }

  LmWord word_bound() const override { return model_.GetVocabulary().Bound(); }

  float score_terminals(std::span<const LmWord> words, bool after_bos, ChartState& state,
                        std::uint64_t& queries) const override {
    CountingModel<Model> counting_model(model_, queries);
    ::lm::ngram::RuleScore<CountingModel<Model>> scorer(counting_model, state);
    if (after_bos) scorer.BeginSentence();
    for (LmWord word : words) scorer.Terminal(word);
    return scorer.Finish() * kNaturalLog10;
  }

  float score_rule(std::span<const Symbol> words, const ChartState* const* tails, bool after_bos,
                   ChartState& state, std::uint64_t& queries) const override {
    CountingModel<Model> counting_model(model_, queries);
    ::lm::ngram::RuleScore<CountingModel<Model>> scorer(counting_model, state);
    if (after_bos) scorer.BeginSentence();
    for (Symbol symbol : words) {
      if (is_nonterminal(symbol)) {
        scorer.NonTerminal(*tails[payload(symbol)]);
      } else {
        scorer.Terminal(symbol);
      }
    }
    return scorer.Finish() * kNaturalLog10;
  }

  float score_goal(const ChartState& tail, bool has_bos, std::uint64_t& queries) const override {
    CountingModel<Model> counting_model(model_, queries);
    ChartState state;
    ::lm::ngram::RuleScore<CountingModel<Model>> scorer(counting_model, state);
    if (!has_bos) scorer.BeginSentence();
    scorer.NonTerminal(tail);
    scorer.Terminal(model_.GetVocabulary().EndSentence());
    return scorer.Finish() * kNaturalLog10;
  }

  LeftExtension extend_left(std::uint64_t pointer, unsigned length, LmWord before,
                            std::uint64_t& queries) const override {
    ++queries;
    const float no_backoff[] = {0};
    float backoff[KENLM_MAX_ORDER] = {};
    unsigned char next_use = 0;
    const FullScoreReturn score = model_.ExtendLeft(&before, &before + 1, no_backoff, pointer,
                                                    static_cast<unsigned char>(length), backoff, next_use);
    if (score.ngram_length <= length) return {};
    const float change = score.independent_left ? score.prob : score.rest;
    return {true, !score.independent_left, change * kNaturalLog10, backoff[0] * kNaturalLog10,
            score.extend_left};
  }

  float unrest(std::uint64_t pointer, unsigned length) const override {
    return model_.UnRest(&pointer, &pointer + 1, static_cast<unsigned char>(length)) * kNaturalLog10;
  }

  float reveal_left(ChartState& before, const Left& reveal, unsigned char seen,
                    std::uint64_t& queries) const override {
    if (is_empty(before)) {
      append(before.left, reveal, seen);
      before.left.full = reveal.full || before.left.length + 1u == model_.Order();
      return 0;
    }
    return ::lm::ngram::RevealAfter(CountingModel<Model>(model_, queries), before.left, before.right, reveal,
                                    seen) *
           kNaturalLog10;
  }

  float reveal_right(const Right& reveal, unsigned char seen, bool reveal_full, ChartState& after,
                     std::uint64_t& queries) const override {
    return ::lm::ngram::RevealBefore(CountingModel<Model>(model_, queries), reveal, seen, reveal_full,
                                     after.left, after.right) *
           kNaturalLog10;
  }

  float join(ChartState& before, const ChartState& constituent, ChartState& after,
             std::uint64_t& queries) const override {
    float change = 0;
    if (constituent.left.full) {
      before.left.full = true;
    } else if (is_empty(before)) {
      append(before.left, after.left, 0);
      before.left.full = after.left.full || after.right.length + 1u == model_.Order() ||
                         before.left.length + 1u == model_.Order();
    } else {
      change = ::lm::ngram::Subsume(CountingModel<Model>(model_, queries), before.left, before.right,
                                    after.left, after.right, constituent.left.length) *
               kNaturalLog10;
    }
    before.right = after.right;
    return change;
  }

 private:
  // Tells whether there is no word before what is revealed. Words then keep the scores that they have, and
  // KenLM would look them up in vain: this is a third of all look-ups of a search.
  static bool is_empty(const ChartState& before) { return before.right.length == 0 && !before.left.full; }

  static void append(Left& left, const Left& more, unsigned char seen) {
    std::copy(more.pointers + seen, more.pointers + more.length, left.pointers + left.length);
    left.length = static_cast<unsigned char>(left.length + more.length - seen);
  }

  Model model_;
};

::lm::ngram::Config quiet_config() {
  ::lm::ngram::Config config;
  config.messages = nullptr;
  config.show_progress = false;
  config.arpa_complain = ::lm::ngram::Config::NONE;
  return config;
}

// Loads a binary of any type, or an ARPA file into hash tables.
std::shared_ptr<const LanguageModel> load_any_type(const std::string& path) {
  const ::lm::ngram::Config config = quiet_config();
  ::lm::ngram::ModelType type = ::lm::ngram::PROBING;
  ::lm::ngram::RecognizeBinary(path.c_str(), type);
  switch (type) {
    case ::lm::ngram::PROBING:
      return std::make_shared<KenLm<::lm::ngram::ProbingModel>>(path, config, "probing");
    case ::lm::ngram::REST_PROBING:
      return std::make_shared<KenLm<::lm::ngram::RestProbingModel>>(path, config, "rest-probing");
    case ::lm::ngram::TRIE:
      return std::make_shared<KenLm<::lm::ngram::TrieModel>>(path, config, "trie");
    case ::lm::ngram::QUANT_TRIE:
      return std::make_shared<KenLm<::lm::ngram::QuantTrieModel>>(path, config, "quantised trie");
    case ::lm::ngram::ARRAY_TRIE:
      return std::make_shared<KenLm<::lm::ngram::ArrayTrieModel>>(path, config, "array trie");
    case ::lm::ngram::QUANT_ARRAY_TRIE:
      return std::make_shared<KenLm<::lm::ngram::QuantArrayTrieModel>>(path, config, "quantised array trie");
  }
  throw FormatError(path + ": unknown kind of KenLM model");
}

// Returns a message of KenLM as one line, without the source position and condition that it begins with.
std::string one_line(const std::string& message) {
  const std::string_view end_of_position = ".\n";
  const std::size_t end = message.find(end_of_position);
  std::string out;
  for (char c : end == std::string::npos ? message : message.substr(end + end_of_position.size())) {
    if (c != '\n') {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (!out.empty() && (out.back() == ' ' || out.back() == '.')) out.pop_back();
  return out.empty() ? "KenLM cannot read it" : out;
}

// Returns the error for a file that KenLM cannot read. KenLM quotes lines of the file; a message that is very
// long or no text is replaced.
FormatError unusable_model(const std::string& path, const util::Exception& error) {
  constexpr std::size_t kMaxMessage = 400;
  const std::string message = one_line(error.what());
  const bool is_text = is_utf8(message) && std::ranges::none_of(message, [](unsigned char c) {
                         return (c < ' ' && c != '\t') || c == 0x7F;
                       });
  return FormatError(path + ": not a usable language model: " +
                     (is_text && message.size() <= kMaxMessage
                          ? message
                          : "expected an ARPA file, which is text, or a KenLM binary"));
}

void require_readable(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file || file.peek() == std::ifstream::traits_type::eof()) {
    if (errno != 0) throw FileError(errno, path);
    throw FormatError(path + ": empty file, expected an ARPA or KenLM binary language model");
  }
}

void check_options(const BinaryOptions& options) {
  if (options.quantize_bits > 0 && !options.trie) {
    throw std::invalid_argument("only a trie can be quantised");
  }
  if (options.trie && !options.lower_orders.empty()) {
    throw std::invalid_argument("a trie has no rest costs");
  }
  if (options.quantize_bits > 25) throw std::invalid_argument("cannot quantise to more than 25 bits");
}

}  // namespace

double LanguageModel::score_sentence(std::span<const std::string> tokens) const {
  std::vector<LmWord> words;
  words.reserve(tokens.size());
  for (const std::string& token : tokens) words.push_back(index(token));
  ChartState state;
  std::uint64_t queries = 0;
  const double words_score = score_terminals(words, true, state, queries);
  return words_score + score_goal(state, true, queries);
}

std::shared_ptr<const LanguageModel> LanguageModel::load(const std::string& path) {
  require_readable(path);
  try {
    return load_any_type(path);
  } catch (const util::Exception& error) {
    throw unusable_model(path, error);
  }
}

void LanguageModel::write_binary(const std::string& arpa, const std::string& output,
                                 const BinaryOptions& options) {
  check_options(options);
  require_readable(arpa);
  ::lm::ngram::Config config = quiet_config();
  config.write_mmap = output.c_str();
  config.building_memory = options.memory;
  try {
    if (!options.lower_orders.empty()) {
      const RestCosts costs(arpa, options.lower_orders, output);
      config.rest_function = ::lm::ngram::Config::REST_LOWER;
      config.rest_lower_files = costs.files();
      const ::lm::ngram::RestProbingModel model(arpa.c_str(), config);
    } else if (!options.trie) {
      const ::lm::ngram::ProbingModel model(arpa.c_str(), config);
    } else if (options.quantize_bits == 0) {
      const ::lm::ngram::TrieModel model(arpa.c_str(), config);
    } else {
      config.prob_bits = config.backoff_bits = static_cast<std::uint8_t>(options.quantize_bits);
      const ::lm::ngram::QuantTrieModel model(arpa.c_str(), config);
    }
  } catch (const util::ErrnoException& error) {
    throw FileError(error.Error(), output);
  } catch (const util::Exception& error) {
    throw unusable_model(arpa, error);
  }
}

}  // namespace hiero
