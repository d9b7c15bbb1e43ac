// Statistics of BLEU and NIST.
#include <array>

#include "bleu_rows.h"
#include "conversions.h"
#include "hiero/metrics/hypotheses.h"
#include "hiero/metrics/reference_set.h"
#include "token_lists.h"

namespace hiero {
namespace {

constexpr std::size_t kNistColumns = 2 + 2 * kNistOrder;

std::array<double, kNistColumns> count_row(const NistCounts& counts) {
  std::array<double, kNistColumns> row{counts.length, counts.reference_length};
  std::ranges::copy(counts.info, row.begin() + 2);
  std::ranges::copy(counts.totals, row.begin() + 2 + kNistOrder);
  return row;
}

std::array<double, kBleuOrder> count_row(const std::array<double, kBleuOrder>& counts) { return counts; }

Hypotheses hypotheses(const ReferenceSet& set, const ArrayLike& segments,
                      const std::vector<std::string>& vocabulary, const ArrayLike& words,
                      const ArrayLike& offsets) {
  std::vector<std::int32_t> segment_list = integer_vector(segments, "segments");
  std::vector<std::int32_t> offset_list = integer_vector(offsets, "offsets");
  return {set, std::move(segment_list), vocabulary, integer_vector(words, "words"), std::move(offset_list)};
}

// Returns a row count(segment, words) for each hypothesis.
template <std::size_t columns, class Count>
Array<double> rows(const Hypotheses& list, const Count& count) {
  Array<double> out({static_cast<Py_ssize_t>(list.size()), static_cast<Py_ssize_t>(columns)});
  double* row = out.mutable_data();
  const nb::gil_scoped_release release;
  for (std::size_t i = 0; i < list.size(); ++i, row += columns)
    std::ranges::copy(count_row(count(list.segment(i), list.words(i))), row);
  return out;
}

void make_reference_set(ReferenceSet* self, const std::vector<ReferenceSet::References>& segments) {
  const nb::gil_scoped_release release;
  new (self) ReferenceSet(segments);
}

Array<double> bleu_rows(const ReferenceSet& set, const ArrayLike& segments,
                        const std::vector<std::string>& vocabulary, const ArrayLike& words,
                        const ArrayLike& offsets, const std::string& effective_length) {
  const auto kind = value_named<ReferenceLength>(effective_length, "effective length");
  return rows<kBleuColumns>(
      hypotheses(set, segments, vocabulary, words, offsets),
      [&](std::size_t segment, auto tokens) { return set.bleu(segment, tokens, kind); });
}

Array<double> unclipped_rows(const ReferenceSet& set, const ArrayLike& segments,
                             const std::vector<std::string>& vocabulary, const ArrayLike& words,
                             const ArrayLike& offsets) {
  return rows<kBleuOrder>(hypotheses(set, segments, vocabulary, words, offsets),
                          [&](std::size_t segment, auto tokens) { return set.unclipped(segment, tokens); });
}

Array<double> nist_rows(const ReferenceSet& set, const ArrayLike& segments,
                        const std::vector<std::string>& vocabulary, const ArrayLike& words,
                        const ArrayLike& offsets) {
  return rows<kNistColumns>(hypotheses(set, segments, vocabulary, words, offsets),
                            [&](std::size_t segment, auto tokens) { return set.nist(segment, tokens); });
}

Array<double> sentence_counts(const Tokens& tokens, const TokenLists& references,
                              const std::string& effective_length) {
  const auto kind = value_named<ReferenceLength>(effective_length, "effective length");
  return count_array(bleu_counts(tokens.values, references.values, kind));
}

}  // namespace

void register_references(nb::module_& m) {
  define<ReferenceSet>(m, "ReferenceSet",
                       R"(References of the segments of a test set, for counting n-grams of hypotheses.

Hypotheses are given as arrays: the segment of each, int32 (n); a vocabulary; the words of all, int32
indices into the vocabulary; and the offsets of each hypothesis in the words, int32 (n + 1).)")
      .def("__init__", &make_reference_set, nb::arg("segments"), R"(Indexes the n-grams of references.

Args:
    segments: For each segment its references, each a list of tokens. Empty references count as
        missing.

Raises:
    ValueError: All references of a segment are empty; the message names it, from 0.)")
      .def("__len__", &ReferenceSet::size, "Returns the number of segments.")
      .def("bleu", &bleu_rows, nb::arg("segments"), nb::arg("vocabulary"), nb::arg("words"),
           nb::arg("offsets"), nb::arg("effective_length") = "closest",
           R"(Returns BLEU's statistics of hypotheses (Papineni et al. 2002).

Args:
    segments: int32 (n), segment of each hypothesis.
    vocabulary: Words, by the numbers in `words`.
    words: int32, words of all hypotheses.
    offsets: int32 (n + 1), offsets of the hypotheses in `words`.
    effective_length: "shortest", "closest" (ties go to the shorter) or "average".

Returns:
    float64 (n, 10), columns length, effective reference length, n-gram totals for n = 1 to 4, and
        clipped matches for n = 1 to 4.

Raises:
    IndexError: There is no such segment or word.
    ValueError: The arrays do not fit, or the effective length is unknown.)")
      .def("unclipped", &unclipped_rows, nb::arg("segments"), nb::arg("vocabulary"), nb::arg("words"),
           nb::arg("offsets"),
           R"(Returns the numbers of n-grams of hypotheses that occur in a reference, without clipping.

They are the statistics of linear BLEU (Tromble et al. 2008).

Args:
    segments: int32 (n), segment of each hypothesis.
    vocabulary: Words, by the numbers in `words`.
    words: int32, words of all hypotheses.
    offsets: int32 (n + 1), offsets of the hypotheses in `words`.

Returns:
    float64 (n, 4), for n-grams of 1 to 4 words.

Raises:
    IndexError: There is no such segment or word.
    ValueError: The arrays do not fit.)")
      .def("nist", &nist_rows, nb::arg("segments"), nb::arg("vocabulary"), nb::arg("words"),
           nb::arg("offsets"),
           R"(Returns NIST's statistics of hypotheses (Doddington 2002).

The information of an n-gram is log2 of how often its first n - 1 words occur in all references,
divided by how often it does; for one word, of the number of words divided by that.

Args:
    segments: int32 (n), segment of each hypothesis.
    vocabulary: Words, by the numbers in `words`.
    words: int32, words of all hypotheses.
    offsets: int32 (n + 1), offsets of the hypotheses in `words`.

Returns:
    float64 (n, 12), columns length, mean reference length, information of clipped matches in bits for
        n = 1 to 5, and n-gram totals for n = 1 to 5.

Raises:
    IndexError: There is no such segment or word.
    ValueError: The arrays do not fit.)");
  m.def("bleu_counts", &sentence_counts, nb::arg("tokens"), nb::arg("references"),
        nb::arg("effective_length") = "shortest", R"(Returns BLEU's statistics of one sentence.

Args:
    tokens: Tokens of the hypothesis.
    references: Token lists; empty ones count as missing.
    effective_length: "shortest", "closest" or "average".

Returns:
    float64 (10), as a row of ReferenceSet.bleu.

Raises:
    ValueError: All references are empty, or the effective length is unknown.)");
}

}  // namespace hiero
