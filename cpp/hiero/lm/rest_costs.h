// Rest costs: what a search expects a word to cost while the words before it are not known (Heafield, Koehn
// and Lavie 2012, "Language Model Rest Costs and Space-Efficient Storage"). An n-gram model has lower orders
// for a longer context that was never seen; at the beginning of a partial translation the context was merely
// not seen yet. Models of lower order of the same text say what to expect there. But a search does not meet
// contexts as they come: it chooses them, and those that fit best. So the rest cost of an n-gram is
//   0.8 log P(n-gram in a model of its order) + 0.2 log (largest P in a longer context).
// On ja-en a share of 0.2 gives more for the same time than 0, which is the paper, or than 0.4 where few
// hypotheses are made; upper bounds alone, a share of 1, make a search look at nearly everything.
//
// How to use: make one for an ARPA file and give its files() to KenLM's builder, as
// Config::rest_lower_files with REST_LOWER. The files go with it.
#pragma once

#include <string>
#include <vector>

#include "hiero/base/descriptor_io.h"

namespace hiero {

class RestCosts {
 public:
  // `lower` are ARPA files of models of orders 1, 2, ... of the text of `arpa`, one for each order below its
  // own. Files are made beside `output`. Throws FileError; FormatError for files that are not of one text;
  // util::Exception for files that KenLM cannot read.
  RestCosts(const std::string& arpa, const std::vector<std::string>& lower, const std::string& output);
  ~RestCosts() { remove(); }
  RestCosts(const RestCosts&) = delete;
  RestCosts& operator=(const RestCosts&) = delete;

  // ARPA files, in which the probabilities of the longest n-grams are rest costs.
  const std::vector<std::string>& files() const { return files_; }

 private:
  void remove();

  std::vector<std::string> files_;
};

}  // namespace hiero
