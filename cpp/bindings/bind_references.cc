#include "bind_references.h"

#include "bind_forest.h"
#include "token_lists.h"

namespace hiero {
namespace {

// Length, reference length, information, totals.
std::vector<double> count_row(const NistCounts& counts) {
  std::vector<double> values{counts.length, counts.reference_length};
  values.insert(values.end(), counts.info.begin(), counts.info.end());
  values.insert(values.end(), counts.totals.begin(), counts.totals.end());
  return values;
}

std::vector<double> count_row(const std::array<double, kBleuOrder>& counts) {
  return {counts.begin(), counts.end()};
}

// Hypotheses as arrays: words of a vocabulary, hypothesis i from offsets[i] to offsets[i + 1].
struct Hypotheses {
  std::vector<std::int32_t> segments;
  std::vector<std::int32_t> offsets;
  std::vector<std::int32_t> words;  // as the set numbers them
};

Hypotheses hypotheses_of(const ReferenceSet& set, const nb::object& segments,
                         const std::vector<std::string>& vocabulary, const nb::object& words,
                         const nb::object& offsets) {
  Hypotheses out{integer_vector(segments, "segments"), integer_vector(offsets, "offsets"),
                 integer_vector(words, "words")};
  for (const std::int32_t segment : out.segments) {
    if (segment < 0 || static_cast<std::size_t>(segment) >= set.size()) {
      throw std::out_of_range("segment " + std::to_string(segment) + ": there are " +
                              std::to_string(set.size()));
    }
  }
  const auto size = static_cast<std::int32_t>(out.words.size());
  if (out.offsets.size() != out.segments.size() + 1 || out.offsets.front() < 0 || out.offsets.back() > size ||
      !std::is_sorted(out.offsets.begin(), out.offsets.end())) {
    throw std::invalid_argument("offsets: expected one more than segments, rising, within the words");
  }
  const std::vector<std::int32_t> numbers = set.words(vocabulary);
  for (std::int32_t& word : out.words) {
    if (word < 0 || static_cast<std::size_t>(word) >= numbers.size()) {
      throw std::out_of_range("word " + std::to_string(word) + " is not in the vocabulary");
    }
    word = numbers[word];
  }
  return out;
}

// One row a hypothesis: `count(segment, words)`.
template <std::size_t width, class Count>
Array<double> rows(const Hypotheses& hypotheses, const Count& count) {
  const std::size_t size = hypotheses.segments.size();
  Array<double> out({static_cast<Py_ssize_t>(size), static_cast<Py_ssize_t>(width)});
  double* row = out.mutable_data();
  const nb::gil_scoped_release release;
  for (std::size_t i = 0; i < size; ++i, row += width) {
    const auto begin = static_cast<std::size_t>(hypotheses.offsets[i]);
    const auto end = static_cast<std::size_t>(hypotheses.offsets[i + 1]);
    const std::span<const std::int32_t> words(hypotheses.words.data() + begin, end - begin);
    const auto values = count_row(count(static_cast<std::size_t>(hypotheses.segments[i]), words));
    std::copy(values.begin(), values.end(), row);
  }
  return out;
}

}  // namespace

std::vector<double> count_row(const BleuCounts& counts) {
  std::vector<double> values{counts.length, counts.reference_length};
  values.insert(values.end(), counts.totals.begin(), counts.totals.end());
  values.insert(values.end(), counts.matches.begin(), counts.matches.end());
  return values;
}

void register_references(nb::module_& m) {
  define<ReferenceSet>(
      m, "ReferenceSet",
      "The references of a set of segments, to count n-grams of hypotheses by. Hypotheses are given as "
      "arrays:\n"
      "their segments (n), a vocabulary, words as indices into it, and offsets (n + 1) of each hypothesis "
      "in\n"
      "words. Raises IndexError for a segment or word that there is not, ValueError for other bad arrays.")
      .def(
          "__init__",
          [](ReferenceSet* self, const std::vector<ReferenceSet::References>& segments) {
            const nb::gil_scoped_release release;
            new (self) ReferenceSet(segments);
          },
          nb::arg("segments"),
          "Tokens of every reference of every segment. Empty references are missing; raises ValueError\n"
          "naming a segment, from 0, that has no other.")
      .def("__len__", &ReferenceSet::size)
      .def(
          "bleu",
          [](const ReferenceSet& set, const nb::object& segments, const std::vector<std::string>& vocabulary,
             const nb::object& words, const nb::object& offsets, const std::string& effective_length) {
            const ReferenceLength kind = value_named<ReferenceLength>(effective_length, "effective length");
            return rows<2 + 2 * kBleuOrder>(
                hypotheses_of(set, segments, vocabulary, words, offsets),
                [&](std::size_t segment, auto tokens) { return set.bleu(segment, tokens, kind); });
          },
          nb::arg("segments"), nb::arg("vocabulary"), nb::arg("words"), nb::arg("offsets"),
          nb::arg("effective_length") = "closest",
          "float64 (n, 10): length, effective reference length (shortest, closest or average; ties of the\n"
          "closest go to the shorter), n-gram totals and clipped matches, n = 1 to 4 (Papineni et al. 2002).")
      .def(
          "unclipped",
          [](const ReferenceSet& set, const nb::object& segments, const std::vector<std::string>& vocabulary,
             const nb::object& words, const nb::object& offsets) {
            return rows<kBleuOrder>(
                hypotheses_of(set, segments, vocabulary, words, offsets),
                [&](std::size_t segment, auto tokens) { return set.unclipped(segment, tokens); });
          },
          nb::arg("segments"), nb::arg("vocabulary"), nb::arg("words"), nb::arg("offsets"),
          "float64 (n, 4): the hypothesis's n-grams of n = 1 to 4 words that are in a reference, however "
          "often\n"
          "they are there (Tromble et al. 2008).")
      .def(
          "nist",
          [](const ReferenceSet& set, const nb::object& segments, const std::vector<std::string>& vocabulary,
             const nb::object& words, const nb::object& offsets) {
            return rows<2 + 2 * kNistOrder>(
                hypotheses_of(set, segments, vocabulary, words, offsets),
                [&](std::size_t segment, auto tokens) { return set.nist(segment, tokens); });
          },
          nb::arg("segments"), nb::arg("vocabulary"), nb::arg("words"), nb::arg("offsets"),
          "float64 (n, 12): length, mean reference length, information in bits of clipped matches, and "
          "n-gram\n"
          "totals, n = 1 to 5 (Doddington 2002). An n-gram's information is log2 of how often its first "
          "words\n"
          "occur in all references over how often it does; for one word, over the number of words.");
  m.def(
      "bleu_counts",
      [](const Tokens& tokens, const TokenLists& lists, const std::string& effective_length) {
        const ReferenceSet::References& references = lists.values;
        if (std::all_of(references.begin(), references.end(), [](const auto& r) { return r.empty(); })) {
          throw std::invalid_argument("references: all are empty");
        }
        const ReferenceSet set({&references, 1});
        const auto kind = value_named<ReferenceLength>(effective_length, "effective length");
        return as_array(count_row(set.bleu(0, set.words(tokens.values), kind)));
      },
      nb::arg("tokens"), nb::arg("references"), nb::arg("effective_length") = "shortest",
      "float64 (10): see ReferenceSet.bleu. Empty references do not count; raises ValueError if all are "
      "empty.");
}

}  // namespace hiero
