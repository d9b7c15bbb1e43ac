// Small language models for tests, loaded from temporary files.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include "hiero/lm/language_model.h"
#include "lm/model.hh"

namespace hiero {

// A temporary file, removed by the destructor.
class TemporaryFile {
 public:
  TemporaryFile() {
    const int descriptor = ::mkstemp(path_.data());
    if (descriptor < 0) throw std::runtime_error("no temporary file");
    ::close(descriptor);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { ::unlink(path_.c_str()); }

  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/hiero-test-XXXXXX";
};

// Returns the ARPA text of a trigram model with the words u and v. `uv` is the log10 probability of v after
// u.
inline std::string small_arpa(const std::string& uv) {
  return "\\data\\\nngram 1=5\nngram 2=5\nngram 3=3\n\n"
         "\\1-grams:\n-1.5\t<unk>\t0\n-99\t<s>\t-0.3\n-1\t</s>\t0\n-0.7\tu\t-0.2\n-0.8\tv\t-0.4\n\n"
         "\\2-grams:\n-0.2\t<s> u\t-0.1\n-0.6\tv u\t-0.3\n-0.7\tu u\t-0.2\n" +
         uv +
         "\tu v\t-0.2\n-0.5\tv </s>\n\n"
         "\\3-grams:\n-0.05\tv u v\n-0.02\tu u v\n-0.3\tu v </s>\n\n\\end\\\n";
}

inline std::shared_ptr<const LanguageModel> small_lm(const std::string& uv = "-0.1") {
  const TemporaryFile arpa;
  std::ofstream(arpa.path()) << small_arpa(uv);
  return LanguageModel::load(arpa.path());
}

// Returns the same model with KenLM's rest costs: upper bounds of probabilities where the context is unknown.
inline std::shared_ptr<const LanguageModel> small_rest_lm() {
  const TemporaryFile arpa;
  const TemporaryFile binary;
  std::ofstream(arpa.path()) << small_arpa("-0.1");
  ::lm::ngram::Config config;
  config.messages = nullptr;
  config.show_progress = false;
  config.rest_function = ::lm::ngram::Config::REST_MAX;
  config.write_mmap = binary.path().c_str();
  {
    const ::lm::ngram::RestProbingModel model(arpa.path().c_str(), config);
  }
  return LanguageModel::load(binary.path());
}

}  // namespace hiero
