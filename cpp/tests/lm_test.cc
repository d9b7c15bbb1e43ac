// Tests that every type of KenLM binary can be loaded and scores a sentence as the ARPA file does.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "hiero/lm/language_model.h"
#include "lm/model.hh"

namespace hiero {
namespace {

double score(const LanguageModel& lm) {
  return lm.score_sentence(std::vector<std::string>{"u", "v", "w", "x", "u"});
}

template <class Model>
bool scores_equal(const std::string& arpa, const char* kind, double expected, double tolerance) {
  const std::string binary = arpa + ".binary";
  ::lm::ngram::Config config;
  config.messages = nullptr;
  config.show_progress = false;
  config.write_mmap = binary.c_str();
  {
    const Model model(arpa.c_str(), config);
  }
  const auto lm = LanguageModel::load(binary);
  ::unlink(binary.c_str());
  const double actual = score(*lm);
  std::printf("lm_test: %s %.6f, ARPA %.6f\n", lm->kind().c_str(), actual, expected);
  return lm->kind() == kind && std::abs(actual - expected) < tolerance;
}

int run() {
  char path[] = "/tmp/hiero-lm-XXXXXX";
  const int descriptor = ::mkstemp(path);
  if (descriptor < 0) return 1;
  ::close(descriptor);
  std::ofstream(path)
      << "\\data\\\nngram 1=6\nngram 2=5\nngram 3=2\n\n\\1-grams:\n-1\t<unk>\t0\n-99\t<s>\t-0.3\n"
         "-1\t</s>\t0\n-0.7\tu\t-0.2\n-0.8\tv\t-0.4\n-0.9\tw\t-0.1\n\n\\2-grams:\n"
         "-0.2\t<s> u\t-0.15\n-0.3\tu v\t-0.25\n-0.4\tv w\t-0.1\n-0.5\tw </s>\n-0.6\tu </s>\n\n"
         "\\3-grams:\n-0.11\t<s> u v\n-0.12\tu v w\n\n\\end\\\n";
  const double expected = score(*LanguageModel::load(path));
  // The sum over <s> u, <s> u v, u v w, <unk> after the back-off of "v w" and "w", u, and u </s>.
  const double by_hand = -(0.2 + 0.11 + 0.12 + (0.1 + 0.1 + 1) + 0.7 + 0.6) * std::log(10.0);
  const bool equal =
      std::abs(expected - by_hand) < 1e-4 &&
      scores_equal<::lm::ngram::ProbingModel>(path, "probing", expected, 1e-5) &&
      scores_equal<::lm::ngram::TrieModel>(path, "trie", expected, 1e-5) &&
      scores_equal<::lm::ngram::ArrayTrieModel>(path, "array trie", expected, 1e-5) &&
      scores_equal<::lm::ngram::QuantTrieModel>(path, "quantised trie", expected, 0.1) &&
      scores_equal<::lm::ngram::QuantArrayTrieModel>(path, "quantised array trie", expected, 0.1);
  ::unlink(path);
  return equal ? 0 : 1;
}

}  // namespace
}  // namespace hiero

int main() { return hiero::run(); }
