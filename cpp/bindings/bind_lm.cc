#include "bind_forest.h"
#include "hiero/lm/language_model.h"
#include "token_lists.h"

namespace hiero {
namespace {

// Natural log probability of a whole sentence with <s> and </s>.
double score_sentence(const LanguageModel& lm, const Tokens& tokens) {
  std::vector<LmWord> words;
  for (const std::string& token : tokens.values) words.push_back(lm.index(token));
  ChartState state;
  std::uint64_t queries = 0;
  const double words_score = lm.score_terminals(words, true, state, queries);
  return words_score + lm.score_goal(state, true, queries);
}

}  // namespace

void register_lm(py::module_& m) {
  py::class_<LanguageModel, std::shared_ptr<LanguageModel>>(
      m, "LanguageModel", "A KenLM n-gram model, from an ARPA file (plain or compressed) or a KenLM binary.")
      .def_static(
          "load",
          [](const std::string& path) {
            return std::const_pointer_cast<LanguageModel>(LanguageModel::load(path));
          },
          py::arg("path"), py::call_guard<py::gil_scoped_release>(),
          "Raises OSError for a file that cannot be read and FormatError for one that is no language model.")
      .def_static(
          "write_binary",
          [](const std::string& arpa, const std::string& output, bool trie, unsigned quantize_bits,
             std::size_t memory) {
            LanguageModel::write_binary(arpa, output, {trie, quantize_bits, memory});
          },
          py::arg("arpa"), py::arg("output"), py::kw_only(), py::arg("trie") = BinaryOptions().trie,
          py::arg("quantize_bits") = BinaryOptions().quantize_bits,
          py::arg("memory") = BinaryOptions().memory, py::call_guard<py::gil_scoped_release>(),
          "Writes an ARPA file as a KenLM binary: hash tables, or a trie of which each probability and "
          "backoff\n"
          "may be quantised to some bits (0: exact). `memory` bounds the bytes of a trie's n-grams being "
          "sorted.")
      .def_property_readonly("path", &LanguageModel::path)
      .def_property_readonly("kind", &LanguageModel::kind, "probing, trie, quantised trie, ...")
      .def_property_readonly("order", &LanguageModel::order)
      .def(
          "knows",
          [](const LanguageModel& lm, const std::string& word) {
            return lm.index(word) != LanguageModel::kUnknown;
          },
          py::arg("word"))
      .def("score", &score_sentence, py::arg("tokens"),
           "Natural log probability of a sentence, <s> and </s> included.")
      .def("__repr__",
           [](const py::object& self) {
             return described("LanguageModel", {{"path", self.attr("path")}, {"order", self.attr("order")}});
           })
      .def(py::pickle([](const LanguageModel& lm) { return lm.path(); },
                      [](const std::string& path) {
                        return std::const_pointer_cast<LanguageModel>(LanguageModel::load(path));
                      }));
}

}  // namespace hiero
