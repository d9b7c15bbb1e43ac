// What finds sentence pairs that may be wrong: digests of all pairs, and the lexicon of their links.
#include <cstring>
#include <string_view>

#include "bindings.h"
#include "hiero/align/link_lexicon.h"
#include "hiero/base/digest_index.h"

namespace hiero {
namespace {

std::size_t add_digest(DigestIndex& index, const nb::bytes& bytes) {
  DigestIndex::Digest digest;
  if (bytes.size() != sizeof digest) throw std::invalid_argument("digest: expected 16 bytes");
  std::memcpy(digest.data(), bytes.c_str(), sizeof digest);
  return index.add(digest);
}

std::size_t first_item(const DigestIndex& index, Py_ssize_t item) {
  return index.first(index_of(item, index.size(), "item"));
}

nb::bytes digest_of(const DigestIndex& index, Py_ssize_t item) {
  const DigestIndex::Digest& digest = index.digest(index_of(item, index.size(), "item"));
  return nb::bytes(digest.data(), sizeof digest);
}

bool is_repeated(const DigestIndex& index, Py_ssize_t item) {
  return index.is_repeated(index_of(item, index.size(), "item"));
}

void register_digests(nb::module_& m) {
  define<DigestIndex>(m, "DigestIndex",
                      R"(Digests of many items, which tell the first of all items that are the same.

It takes about 24 bytes an item.)")
      .def(nb::init<>(), "Begins without items.")
      .def("add", &add_digest, nb::arg("digest"), R"(Appends an item.

Args:
    digest: 16 bytes of a good hash function of the item.

Returns:
    The first item with this digest, counted from 0: this one if the digest is new.

Raises:
    ValueError: There are not 16 bytes, or more items than 32 bits can count.)")
      .def("first", &first_item, nb::arg("item"), R"(Returns the first item with the same digest as an item.

Args:
    item: The item, counted from 0.

Raises:
    IndexError: There is no such item.)")
      .def("is_repeated", &is_repeated, nb::arg("item"),
           R"(Tells whether an item, the first with its digest, has copies behind it.

Args:
    item: The item, counted from 0.

Raises:
    IndexError: There is no such item.)")
      .def("__getitem__", &digest_of, nb::arg("item"), R"(Returns the digest of an item.

Raises:
    IndexError: There is no such item.)")
      .def("__len__", &DigestIndex::size, "Returns the number of items.");
}

void register_lexicon(nb::module_& m) {
  define<LinkLexicon>(m, "LinkLexicon", R"(Counts of the words of sentence pairs and of their links.

They tell how likely a pair is a translation. The words of a translation are more likely given the
source sentence than without it. Given the source words F, a target word e has the probability of
Model 1 (Brown et al. 1993), with counts c of links,

    p(e | F) = (p(e) + sum of p(e | f) over f in F) / (|F| + 1)
    p(e | f) = (c(f, e) + p(e)) / (c(f) + 1)

where p(e) is the share of e in all target words.)")
      .def(nb::init<>(), "Begins without pairs.")
      .def("add", &LinkLexicon::add, nb::arg("source"), nb::arg("target"), nb::arg("links"),
           R"(Adds a sentence pair.

Args:
    source: Source tokens between spaces.
    target: Target tokens between spaces.
    links: Links between positions of tokens, such as "0-0 1-2".

Raises:
    FormatError: The links are malformed, or point beyond the pair. Nothing is counted then.)")
      .def("log_odds", &LinkLexicon::log_odds, nb::arg("source"), nb::arg("target"), nb::arg("links"),
           R"(Returns the log odds that a sentence pair is a translation, by the counts of all other pairs.

The logs of p(e | F) / p(e), summed over the target words, and the same of the source words given
the target words, have the log odds as their mean. They are above 0 for a translation, and below 0
for sentences that have nothing to do with each other. A word that is in no other pair tells
nothing, and is skipped.

Args:
    source: Source tokens of a pair that was added.
    target: Its target tokens.
    links: Its links.

Raises:
    FormatError: The links are malformed, or point beyond the pair.
    ValueError: The pair was not added.)");
}

}  // namespace

void register_problems(nb::module_& m) {
  register_digests(m);
  register_lexicon(m);
}

}  // namespace hiero
