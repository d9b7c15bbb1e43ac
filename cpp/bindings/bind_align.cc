// Word alignment.
#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "bindings.h"
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

  bool can_be_aligned() const {
    const Work work(at_work_);
    return bitext_.can_be_aligned();
  }

  std::size_t add(const NamedFile& source, const NamedFile& target) {
    const Work work(at_work_);
    PythonLines source_lines(source.first, source.second);
    PythonLines target_lines(target.first, target.second);
    const nb::gil_scoped_release release;
    aligner_.reset();
    return bitext_.add(source_lines.reader(), target_lines.reader());
  }

  void train(std::uint64_t seed, int samplers, const Counters& progress) {
    if (samplers < 1) throw std::invalid_argument("samplers: expected 1 or more");
    const Work work(at_work_);
    const nb::gil_scoped_release release;
    aligner_.reset();
    auto aligner = std::make_unique<WordAligner>(bitext_, AlignOptions{seed, samplers, threads_}, folder_);
    aligner->train([&](std::uint64_t done, std::uint64_t all) { call_progress(progress, done, all); });
    aligner_ = std::move(aligner);  // not one that was interrupted
  }

  nb::bytes links(std::size_t first, std::size_t last, const std::string& heuristic) const {
    const Heuristic known = heuristic_named(heuristic);
    const Work work(at_work_);
    if (!aligner_) throw std::invalid_argument("the aligner is not trained");
    if (first > last || last > bitext_.pairs()) throw std::out_of_range("no such pairs");
    std::string text;
    {
      const nb::gil_scoped_release release;
      text = aligner_->links_text(first, last, known);
    }
    return nb::bytes(text.data(), text.size());
  }

 private:
  std::string folder_;
  std::size_t threads_;
  Bitext bitext_;
  std::unique_ptr<WordAligner> aligner_;  // trained
  mutable std::atomic_flag at_work_;
};

std::vector<LinkPosition> positions_of(const std::vector<int>& positions, std::size_t others) {
  std::vector<LinkPosition> out;
  for (const int position : positions) {
    if (position < -1 || position >= static_cast<int>(others))
      throw std::invalid_argument("position " + std::to_string(position) + " is not in the sentence");
    out.push_back(position < 0 ? kNoLink : static_cast<LinkPosition>(position));
  }
  return out;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> symmetrise(const std::vector<int>& forward,
                                                                const std::vector<int>& backward,
                                                                const std::string& heuristic) {
  if (std::max(forward.size(), backward.size()) > Bitext::kLongest)
    throw std::invalid_argument("a sentence of more than " + std::to_string(Bitext::kLongest) + " words");
  Symmetriser symmetriser(heuristic_named(heuristic));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
  for (const AlignmentLink& link :
       symmetriser.links(positions_of(forward, backward.size()), positions_of(backward, forward.size())))
    out.emplace_back(link.source, link.target);
  return out;
}

}  // namespace

void register_align(nb::module_& m) {
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
      .def_prop_ro("can_be_aligned", &Aligner::can_be_aligned, "Whether a pair has words on both sides.")
      .def("train", &Aligner::train, nb::arg("seed"), nb::arg("samplers"), nb::arg("progress").none(),
           R"(Learns the model from all pairs.

Args:
    seed: Seed of random choices.
    samplers: Number of samplers of each direction, whose probabilities are added up.
    progress: Called with the number of sweeps done and that of all.

Raises:
    FormatError: No pair has words on both sides.
    OSError: The disk is full.)")
      .def("links", &Aligner::links, nb::arg("first"), nb::arg("last"), nb::arg("heuristic"),
           R"(Returns the links of pairs, a line for each, such as b"0-0 1-2\n".

Args:
    first: Number of the first pair, from 0.
    last: Number behind the last pair.
    heuristic: How the links of both directions are joined, such as "grow-diag-final-and".

Raises:
    ValueError: There is no such heuristic, or the model is not trained.
    IndexError: There are no such pairs.)");
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
