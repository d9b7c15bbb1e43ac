// Word alignment.
#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "bindings.h"
#include "hiero/align/alignment_model.h"
#include "hiero/align/word_aligner.h"
#include "hiero/base/error.h"
#include "python_lines.h"

namespace hiero {
namespace {

Heuristic heuristic_named(const std::string& name) {
  const std::optional<Heuristic> heuristic = heuristic_of(name);
  if (!heuristic) throw std::invalid_argument("heuristic: unknown " + name);
  return *heuristic;
}

// Lines of links and of their probabilities.
using Lines = std::pair<nb::bytes, nb::bytes>;

template <class Make>
Lines without_lock(const Make& make) {
  LinkLines lines;
  {
    const nb::gil_scoped_release release;
    lines = make();
  }
  return {nb::bytes(lines.links.data(), lines.links.size()),
          nb::bytes(lines.probabilities.data(), lines.probabilities.size())};
}

// A bitext with its aligner. While one call is at work, another one, of another thread or of a progress
// function, is an error.
class Aligner {
  class Work {
   public:
    explicit Work(std::atomic_flag& flag) : flag_(flag) {
      if (flag.test_and_set()) throw Error("the aligner is at work");
    }
    ~Work() { flag_.clear(); }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

   private:
    std::atomic_flag& flag_;
  };

 public:
  Aligner(const std::string& folder, int threads)
      : folder_(folder), threads_(thread_count(threads)), bitext_(folder) {}

  std::size_t pairs() const {
    const Work work(at_work_);
    std::size_t pairs = 0;
    for (std::size_t pair = 0; pair < bitext_.pairs(); ++pair) pairs += bitext_.has_words(pair);
    return pairs;
  }

  std::uint64_t bytes_needed() const {
    const Work work(at_work_);
    return WordAligner::bytes_needed(bitext_);
  }

  std::size_t add(const NamedFile& source, const NamedFile& target) {
    const Work work(at_work_);
    PythonLines source_lines(source.first, source.second);
    PythonLines target_lines(target.first, target.second);
    const nb::gil_scoped_release release;
    aligner_.reset();
    return bitext_.add(source_lines.reader(), target_lines.reader());
  }

  std::size_t train(std::uint64_t seed, int samplers, std::uint64_t memory, const Counters& progress,
                    const std::pair<std::size_t, std::size_t>& numbers) {
    const Shard shard = shard_of(numbers);
    return learn(seed, samplers, memory, [&](WordAligner& aligner) {
      return aligner.train([&](std::uint64_t done, std::uint64_t all) { call_progress(progress, done, all); },
                           shard);
    });
  }

  std::size_t take_chains(const std::vector<std::string>& paths, std::uint64_t seed, int samplers,
                          std::uint64_t memory) {
    return learn(seed, samplers, memory, [&](WordAligner& aligner) { return aligner.take_chains(paths); });
  }

  void save_chains(const std::string& path) const {
    const Work work(at_work_);
    check_trained();
    const nb::gil_scoped_release release;
    aligner_->save_chains(path);
  }

  Lines lines(std::size_t first, std::size_t last, const std::string& heuristic) const {
    const Heuristic known = heuristic_named(heuristic);
    const Work work(at_work_);
    check_complete();
    if (first > last || last > bitext_.pairs()) throw std::out_of_range("no such pairs");
    return without_lock([&] { return aligner_->lines(first, last, known); });
  }

  void save(const std::string& path) const {
    const Work work(at_work_);
    check_complete();
    const nb::gil_scoped_release release;
    AlignmentModel::save(path, bitext_, aligner_->directions());
  }

 private:
  template <class Learn>
  std::size_t learn(std::uint64_t seed, int samplers, std::uint64_t memory, const Learn& learn_by) {
    if (samplers < 1) throw std::invalid_argument("samplers: expected 1 or more");
    const Work work(at_work_);
    const nb::gil_scoped_release release;
    aligner_.reset();
    auto aligner =
        std::make_unique<WordAligner>(bitext_, AlignOptions{seed, samplers, threads_, memory}, folder_);
    const std::size_t pairs = learn_by(*aligner);
    aligner_ = std::move(aligner);  // not one that was interrupted
    return pairs;
  }

  void check_trained() const {
    if (!aligner_) throw std::invalid_argument("the aligner is not trained");
  }

  void check_complete() const {
    check_trained();
    if (!aligner_->is_complete()) throw std::invalid_argument("the aligner has only a shard of its chains");
  }

  std::string folder_;
  std::size_t threads_;
  Bitext bitext_;
  std::unique_ptr<WordAligner> aligner_;  // trained, or a shard of it
  mutable std::atomic_flag at_work_;
};

using LinkPairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

LinkPairs pairs_of(std::span<const AlignmentLink> links) {
  LinkPairs out;
  for (const AlignmentLink& link : links) out.emplace_back(link.source, link.target);
  return out;
}

// Links of a pair of lines, and the probabilities of both directions.
std::tuple<LinkPairs, Array<float>, Array<float>> align_pair(const AlignmentModel& model,
                                                             const std::string& source,
                                                             const std::string& target,
                                                             const std::string& heuristic) {
  PairAligner aligner(model.directions(), heuristic_named(heuristic));
  {
    const nb::gil_scoped_release release;
    model.align(aligner, source, target);
  }
  const auto matrix = [](std::span<const float> values, std::size_t rows, std::size_t others) {
    std::vector<float> cells(values.begin(), values.end());
    cells.resize(rows * (others + 1), 0.0f);
    return as_array(cells, {static_cast<Py_ssize_t>(rows), static_cast<Py_ssize_t>(others + 1)});
  };
  return {pairs_of(aligner.links()),
          matrix(aligner.forward_probabilities(), aligner.targets(), aligner.sources()),
          matrix(aligner.backward_probabilities(), aligner.sources(), aligner.targets())};
}

Lines align_lines(const AlignmentModel& model, const std::vector<std::string>& source,
                  const std::vector<std::string>& target, const std::string& heuristic, int threads) {
  if (source.size() != target.size()) throw std::invalid_argument("lines of two sides of different lengths");
  const Heuristic known = heuristic_named(heuristic);
  const std::size_t workers = thread_count(threads);
  return without_lock([&] { return model.lines(source, target, known, workers); });
}

std::vector<LinkPosition> positions_of(const std::vector<int>& positions, std::size_t others) {
  std::vector<LinkPosition> out;
  for (const int position : positions) {
    if (position < -1 || position >= static_cast<int>(others))
      throw std::invalid_argument("position " + std::to_string(position) + " is not in the sentence");
    out.push_back(position < 0 ? kNoLink : static_cast<LinkPosition>(position));
  }
  return out;
}

LinkPairs symmetrise(const std::vector<int>& forward, const std::vector<int>& backward,
                     const std::string& heuristic) {
  if (std::max(forward.size(), backward.size()) > Bitext::kLongest)
    throw std::invalid_argument("a sentence of more than " + std::to_string(Bitext::kLongest) + " words");
  Symmetriser symmetriser(heuristic_named(heuristic));
  return pairs_of(
      symmetriser.links(positions_of(forward, backward.size()), positions_of(backward, forward.size())));
}

}  // namespace

void register_align(nb::module_& m) {
  m.attr("ALIGN_BYTES_PER_WORD") = WordAligner::kBytesPerWord;
  m.attr("ALIGN_BYTES_PER_TYPE") = WordAligner::kBytesPerType;
  define<Aligner>(m, "Aligner", R"(A bitext and the alignment of its words in both directions.

The model is eflomal's (Östling and Tiedemann 2016). The text and the links lie in files without names.)")
      .def(nb::init<const std::string&, int>(), nb::arg("folder"), nb::arg("threads"), R"(Begins with no text.

Args:
    folder: The folder of the files.
    threads: Number of threads, which changes nothing but the time.

Raises:
    OSError: No file can be made.
    ValueError: There is no thread.)")
      .def("add", &Aligner::add, nb::arg("source"), nb::arg("target"), R"(Appends the pairs of two files.

Args:
    source: Binary file of source tokens, and its name in error messages.
    target: Binary file of target tokens, and its name.

Returns:
    Number of pairs.

Raises:
    FormatError: The files have different lengths, a line is not UTF-8 or has more than 65,534 tokens.
    OSError: The disk is full, or a file cannot be read.)")
      .def_prop_ro("pairs", &Aligner::pairs, "Number of pairs that have words on both sides.")
      .def_prop_ro("bytes_needed", &Aligner::bytes_needed, "Bytes that the counts of all pairs may take.")
      .def("train", &Aligner::train, nb::arg("seed"), nb::arg("samplers"), nb::arg("memory"),
           nb::arg("progress").none(), nb::arg("shard") = std::pair<std::size_t, std::size_t>(0, 1),
           R"(Learns the model, or a shard of it.

The samplers of both directions are chains, which learn independently of each other. Sampler k of
direction d is chain d * samplers + k. One process can learn all, or several a shard each.

Args:
    seed: Seed of random choices.
    samplers: Number of samplers of each direction, whose probabilities are added up.
    memory: Bytes for counts. If they have no room for all pairs, the model learns from shards of
        pairs that are drawn at random.
    progress: Called with the number of sweeps done and that of all of the shard.
    shard: (i, n) for the chains c with c % n == i, of which there are none if n is so large.

Returns:
    Number of pairs that it learned from.

Raises:
    ValueError: There is no sampler, or no such shard.
    FormatError: No pair has words on both sides.
    OSError: The disk is full.)")
      .def("save_chains", &Aligner::save_chains, nb::arg("path"),
           R"(Writes the chains of the shard that was trained, for take_chains.

Args:
    path: The file, written in full or not at all.

Raises:
    ValueError: The model is not trained.
    OSError: The file cannot be written.)")
      .def("take_chains", &Aligner::take_chains, nb::arg("paths"), nb::arg("seed"), nb::arg("samplers"),
           nb::arg("memory"), R"(Takes the chains of all shards from files, in place of training.

The files are mapped into memory. Links and models are those of an aligner that trains all.

Args:
    paths: Files of chains of the same bitext, in any order.
    seed: Seed that they were trained with.
    samplers: Number of samplers of each direction that they were trained with.
    memory: Bytes for counts that they were trained with, or others that have room for the same pairs.

Returns:
    Number of pairs that they learned from.

Raises:
    ValueError: There is no sampler.
    FormatError: A file is none of chains, is damaged, has another format version, or is of another
        bitext or other settings; two files have the same chains, or chains are missing.
    OSError: A file cannot be read.)")
      .def("lines", &Aligner::lines, nb::arg("first"), nb::arg("last"), nb::arg("heuristic"),
           R"(Returns the links of pairs, a line for each, and their probabilities.

Args:
    first: Number of the first pair, from 0.
    last: Number behind the last pair.
    heuristic: How the links of both directions are joined, such as "grow-diag-final-and".

Returns:
    Lines of links such as b"0-0 1-2", and lines with the probability of each link, the mean of
    both directions, such as b"0.981 0.504".

Raises:
    ValueError: There is no such heuristic, or the model is not trained, or only in part.
    IndexError: There are no such pairs.)")
      .def("save", &Aligner::save, nb::arg("path"), R"(Writes what was learned, for AlignmentModel.

Args:
    path: The file, written in full or not at all.

Raises:
    ValueError: The model is not trained, or only in part.
    OSError: The file cannot be written.)");
  define<AlignmentModel>(m, "AlignmentModel",
                         R"(A file of what word alignment has learned, by which pairs are aligned.

The file is mapped into memory. The same pair always gets the same links. Threads may share a model.)")
      .def(nb::init<const std::string&>(), nb::arg("path"), nb::call_guard<nb::gil_scoped_release>(),
           R"(Opens and checks a file.

Args:
    path: The file.

Raises:
    OSError: The file cannot be read.
    FormatError: The file is not an alignment model, is damaged, or has another format version.)")
      .def_prop_ro("samplers", &AlignmentModel::samplers, "Number of samplers of each direction.")
      .def("align", &align_pair, nb::arg("source"), nb::arg("target"), nb::arg("heuristic"),
           R"(Aligns a pair of sentences.

Args:
    source: Source tokens between spaces.
    target: Target tokens between spaces.
    heuristic: How the links of both directions are joined, such as "grow-diag-final-and".

Returns:
    Links (source position, target position), sorted; the probabilities that each target word is
    linked with each source word, and last with none, (targets, sources + 1); and those of each source
    word, (sources, targets + 1). They are 0 if a side is empty.

Raises:
    ValueError: There is no such heuristic.
    FormatError: A side has more than 65,534 tokens.)")
      .def("lines", &align_lines, nb::arg("source"), nb::arg("target"), nb::arg("heuristic"),
           nb::arg("threads"), R"(Aligns pairs of sentences on several threads.

Args:
    source: Lines of source tokens between spaces.
    target: Lines of target tokens between spaces.
    heuristic: How the links of both directions are joined, such as "grow-diag-final-and".
    threads: Number of threads, which changes nothing but the time.

Returns:
    Lines of links and of their probabilities, as from Aligner.lines.

Raises:
    ValueError: There is no such heuristic, or the sides have different numbers of lines.
    FormatError: A side of a pair has more than 65,534 tokens.)");
  m.def("symmetrise", &symmetrise, nb::arg("forward"), nb::arg("backward"), nb::arg("heuristic"),
        R"(Joins the links of both directions of a sentence pair (Koehn et al. 2005).

Args:
    forward: The position of the source word of each target word, or -1.
    backward: The position of the target word of each source word, or -1.
    heuristic: "intersection", "union", "grow-diag", "grow-diag-final" or "grow-diag-final-and".

Returns:
    Links (source position, target position), sorted.

Raises:
    ValueError: There is no such heuristic, or a position is not in the sentence.)");
}

}  // namespace hiero
