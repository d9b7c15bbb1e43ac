#include "conversions.h"
#include "hiero/base/error.h"
#include "hiero/lm/language_model.h"
#include "token_lists.h"

namespace hiero {
namespace {

void write_lm_binary(const std::string& arpa, const std::string& output, Truth trie, unsigned quantize_bits,
                     std::size_t memory, const std::vector<std::string>& lower_orders) {
  LanguageModel::write_binary(arpa, output, {trie, quantize_bits, memory, lower_orders});
}

double sentence_score(const LanguageModel& lm, const Tokens& tokens) {
  return lm.score_sentence(tokens.values);
}

std::shared_ptr<const LanguageModel> restored_lm(const std::string& path, std::uint64_t fingerprint) {
  auto lm = LanguageModel::load(path);
  if (lm->fingerprint() != fingerprint)
    throw FormatError(path + ": is another language model than was pickled");
  return lm;
}

}  // namespace

void register_lm(nb::module_& m) {
  define<LanguageModel>(m, "LanguageModel", "KenLM n-gram model; immutable.")
      .def_static("load", &LanguageModel::load, nb::arg("path"), nb::call_guard<nb::gil_scoped_release>(),
                  R"(Loads a language model.

Args:
    path: An ARPA file, plain or compressed, or a KenLM binary.

Raises:
    OSError: The file cannot be read.
    FormatError: The file is no language model.)")
      .def_static(
          "write_binary", &write_lm_binary, nb::arg("arpa"), nb::arg("output"), nb::kw_only(),
          nb::arg("trie") = BinaryOptions().trie, nb::arg("quantize_bits") = BinaryOptions().quantize_bits,
          nb::arg("memory") = BinaryOptions().memory, nb::arg("lower_orders") = BinaryOptions().lower_orders,
          nb::call_guard<nb::gil_scoped_release>(),
          R"(Writes an ARPA file as a KenLM binary.

Args:
    arpa: The ARPA file, plain or compressed.
    output: The binary, written in full or not at all.
    trie: Write a trie, which is smaller and slower, instead of hash tables.
    quantize_bits: Bits of each probability and backoff of a trie, 1 to 25; 0: exact.
    memory: Bytes for sorting n-grams while a trie is built.
    lower_orders: ARPA files of models of orders 1, 2, ... of the same text, one for each order
        below that of the model. With them, hash tables have rest costs, and search finds as good
        translations with half the hypotheses.

Raises:
    OSError: A file cannot be read or written.
    FormatError: The input is no ARPA file, or models of lower order are not of the same text.
    ValueError: The options contradict each other.)")
      .def_prop_ro("path", &LanguageModel::path, "Path that it was loaded from.")
      .def_prop_ro("kind", &LanguageModel::kind,
                   "Data structure: \"probing\", \"trie\", \"quantised trie\", ...")
      .def_prop_ro("order", &LanguageModel::order, "Greatest length of its n-grams.")
      .def(
          "knows",
          [](const LanguageModel& lm, const std::string& word) {
            return lm.index(word) != LanguageModel::kUnknown;
          },
          nb::arg("word"), "Tells whether a word is in the vocabulary.")
      .def("score", &sentence_score, nb::arg("tokens"),
           R"(Returns the log probability of a sentence, with <s> and </s>.

Args:
    tokens: Words of the sentence.

Returns:
    Natural log.)")
      .def("__repr__",
           [](const nb::object& self) {
             return described("LanguageModel", {{"path", self.attr("path")}, {"order", self.attr("order")}});
           })
      .def("__reduce__",
           [](const nb::object& self) {
             const auto& lm = nb::cast<const LanguageModel&>(self);
             return reduced(self, "_restore", lm.path(), lm.fingerprint());
           })
      .def_static("_restore", &restored_lm, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace hiero
