// Rest costs against their definition, for random models: what an n-gram has in the model of its order, and
// the most that it has with any words before it. Usage: rest_costs_test [cases = 100] [seed = 1]
#include "hiero/lm/rest_costs.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>

#include "cases.h"
#include "hiero/base/error.h"
#include "hiero/lm/language_model.h"
#include "random_rules.h"
#include "small_lm.h"

namespace hiero {
namespace {

using Ngrams = std::map<std::string, double>;  // log10 probabilities

constexpr const char* kWords[] = {"<unk>", "<s>", "</s>", "u", "v", "w"};

std::string last_words(const std::string& ngram) { return ngram.substr(ngram.find(' ') + 1); }

double random_log(Random& random) { return -0.001 * (1 + below(random, 3000)); }

// Random n-grams by order, of which each begins and ends with n-grams that are there.
std::vector<Ngrams> random_ngrams(Random& random, std::size_t order) {
  std::vector<Ngrams> ngrams(order);
  for (const char* word : kWords) ngrams[0][word] = random_log(random);
  for (std::size_t k = 1; k < order; ++k) {
    for (const auto& [begin, ignored] : ngrams[k - 1]) {
      for (const char* word : kWords) {
        const std::string ngram = begin + " " + word;
        const bool possible =
            begin.find("</s>") == std::string::npos && ngrams[k - 1].contains(last_words(ngram));
        if (possible && std::string(word) != "<s>" && below(random, 3) > 0)
          ngrams[k][ngram] = random_log(random);
      }
    }
  }
  return ngrams;
}

std::string arpa_of(const std::vector<Ngrams>& ngrams, std::size_t order) {
  std::ostringstream out;
  out << "\\data\\\n";
  for (std::size_t k = 1; k <= order; ++k) out << "ngram " << k << '=' << ngrams[k - 1].size() << '\n';
  for (std::size_t k = 1; k <= order; ++k) {
    out << "\n\\" << k << "-grams:\n";
    for (const auto& [ngram, score] : ngrams[k - 1])
      out << score << '\t' << ngram << (k < order ? "\t-0.25\n" : "\n");
  }
  out << "\n\\end\\\n";
  return out.str();
}

// The n-grams of the highest order in an ARPA file.
Ngrams longest_of(const std::string& path, std::size_t order) {
  std::ifstream file(path);
  Ngrams out;
  bool is_longest = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('\\') || line.empty()) {
      is_longest = line == "\\" + std::to_string(order) + "-grams:";
    } else if (is_longest) {
      const std::size_t tab = line.find('\t');
      out[line.substr(tab + 1, line.find('\t', tab + 1) - tab - 1)] = std::stod(line);
    }
  }
  return out;
}

bool ends_with_words(const std::string& ngram, const std::string& words) {
  return ngram == words || ngram.ends_with(" " + words);
}

// A model, and models of lower order with the same n-grams and other probabilities.
struct Case {
  std::vector<Ngrams> model;
  std::vector<std::vector<Ngrams>> lower;
  TemporaryFile arpa;
  std::vector<TemporaryFile> lower_files;
  std::vector<std::string> lower_paths;

  Case(Random& random, std::size_t order) : model(random_ngrams(random, order)), lower_files(order - 1) {
    std::ofstream(arpa.path()) << arpa_of(model, model.size());
    for (std::size_t k = 1; k < model.size(); ++k) {
      lower.push_back(model);
      for (auto& [ngram, score] : lower.back()[k - 1]) score = random_log(random);
      std::ofstream(lower_files[k - 1].path()) << arpa_of(lower.back(), k);
      lower_paths.push_back(lower_files[k - 1].path());
    }
  }
};

bool follows_definition(const Case& sample, const std::vector<std::string>& files) {
  for (std::size_t k = 0; k < files.size(); ++k) {
    const Ngrams costs = longest_of(files[k], k + 1);
    if (costs.size() != sample.model[k].size()) return false;
    for (const auto& [ngram, cost] : costs) {
      const double expected = sample.lower[k][k].at(ngram);
      double most = expected;
      for (const Ngrams& longer : sample.model) {
        for (const auto& [other, score] : longer) {
          if (ends_with_words(other, ngram)) most = std::max(most, score);
        }
      }
      if (std::abs(cost - (0.8 * expected + 0.2 * most)) > 1e-6) {
        std::printf("rest_costs_test: %s: %g\n", ngram.c_str(), cost);
        return false;
      }
    }
  }
  return true;
}

// A sentence scores as by the model without rest costs, and a run of words of unknown context by them.
bool scores_by_costs(const Case& sample, const std::string& output) {
  LanguageModel::write_binary(sample.arpa.path(), output, {.lower_orders = sample.lower_paths});
  const auto plain = LanguageModel::load(sample.arpa.path());
  const auto with_costs = LanguageModel::load(output);
  const std::vector<std::string> sentence{"u", "v", "w", "v"};
  if (std::abs(plain->score_sentence(sentence) - with_costs->score_sentence(sentence)) > 1e-4) return false;
  const LmWord word = with_costs->index("u");
  ChartState state;
  std::uint64_t queries = 0;
  const double score = with_costs->score_terminals({&word, 1}, false, state, queries) / std::log(10.0);
  double most = sample.lower[0][0].at("u");
  for (const Ngrams& longer : sample.model) {
    for (const auto& [other, each] : longer) {
      if (ends_with_words(other, "u")) most = std::max(most, each);
    }
  }
  // A word that no longer n-gram ends with has its probability in every context.
  return state.left.length == 0 || std::abs(score - (0.8 * sample.lower[0][0].at("u") + 0.2 * most)) < 1e-5;
}

template <class Make>
bool is_refused(const Make& make, const std::string& expected) {
  try {
    make();
  } catch (const FormatError& error) {
    return std::string(error.what()).find(expected) != std::string::npos;
  }
  return false;
}

// `line` in place of the n-grams of the longest order in the file of a lower order.
bool refuses(const Case& sample, std::size_t order, const std::string& line, const std::string& output) {
  const std::string& path = sample.lower_paths[order - 1];
  std::ofstream(path) << "\\data\\\n\n\\" << order << "-grams:\n" << line << "\n\n\\end\\\n";
  const std::string message = path + ": not a model of lower order of the same text";
  const bool refused =
      is_refused([&] { RestCosts(sample.arpa.path(), sample.lower_paths, output); }, message);
  std::ofstream(path) << arpa_of(sample.lower[order - 1], order);
  return refused;
}

bool refuses_other_texts(Random& random, const std::string& output) {
  const Case sample(random, 3);
  std::vector<std::string> fewer = sample.lower_paths;
  fewer.pop_back();
  if (!is_refused([&] { RestCosts(sample.arpa.path(), fewer, output); }, "has order 3, and there are 1"))
    return false;
  const RestCosts accepted(sample.arpa.path(), sample.lower_paths, output);
  return refuses(sample, 1, "u", output) && refuses(sample, 1, "-1 u", output) &&
         refuses(sample, 1, "u\tu", output) && refuses(sample, 1, "-1\tx", output) &&
         refuses(sample, 2, "-1\tu", output) && refuses(sample, 2, "-1\t</s> u", output);
}

int run(std::size_t cases, std::uint64_t seed) {
  Random random(seed);
  char name[] = "/tmp/hiero-costs-XXXXXX";
  if (::mkdtemp(name) == nullptr) return 1;
  const std::string output = std::string(name) + "/lm";
  bool passed = refuses_other_texts(random, output);
  for (std::size_t i = 0; i < cases && passed; ++i) {
    const Case sample(random, 2 + below(random, 3));
    {
      const RestCosts costs(sample.arpa.path(), sample.lower_paths, output);
      passed = follows_definition(sample, costs.files());
    }
    passed = passed && scores_by_costs(sample, output);
  }
  // Nothing is left but the binary, also after errors.
  const auto entries = std::filesystem::directory_iterator(name);
  passed = passed && std::distance(begin(entries), end(entries)) == 1;
  std::filesystem::remove_all(name);
  return passed ? 0 : 1;
}

}  // namespace
}  // namespace hiero

int main(int argc, char** argv) { return hiero::run_cases(argc, argv, 100, hiero::run); }
