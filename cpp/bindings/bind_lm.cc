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

void register_lm(nb::module_& m) {
  define<LanguageModel>(m, "LanguageModel",
                        "A KenLM n-gram model, from an ARPA file (plain or compressed) or a KenLM binary.")
      .def_static(
          "load", [](const std::string& path) { return LanguageModel::load(path); }, nb::arg("path"),
          nb::call_guard<nb::gil_scoped_release>(),
          "Raises OSError for a file that cannot be read and FormatError for one that is no language model.")
      .def_static(
          "write_binary",
          [](const std::string& arpa, const std::string& output, Truth trie, unsigned quantize_bits,
             std::size_t memory) {
            LanguageModel::write_binary(arpa, output, {trie, quantize_bits, memory});
          },
          nb::arg("arpa"), nb::arg("output"), nb::kw_only(), nb::arg("trie") = BinaryOptions().trie,
          nb::arg("quantize_bits") = BinaryOptions().quantize_bits,
          nb::arg("memory") = BinaryOptions().memory, nb::call_guard<nb::gil_scoped_release>(),
          "Writes an ARPA file as a KenLM binary: hash tables, or a trie of which each probability and "
          "backoff\n"
          "may be quantised to some bits (0: exact). `memory` bounds the bytes of a trie's n-grams being "
          "sorted.")
      .def_prop_ro("path", &LanguageModel::path)
      .def_prop_ro("kind", &LanguageModel::kind, "probing, trie, quantised trie, ...")
      .def_prop_ro("order", &LanguageModel::order)
      .def(
          "knows",
          [](const LanguageModel& lm, const std::string& word) {
            return lm.index(word) != LanguageModel::kUnknown;
          },
          nb::arg("word"))
      .def("score", &score_sentence, nb::arg("tokens"),
           "Natural log probability of a sentence, <s> and </s> included.")
      .def("__repr__",
           [](const nb::object& self) {
             return described("LanguageModel", {{"path", self.attr("path")}, {"order", self.attr("order")}});
           })
      .def("__reduce__", [](const nb::object& self) {
        return reduced(self, "load", nb::cast<const LanguageModel&>(self).path());
      });
}

}  // namespace hiero
