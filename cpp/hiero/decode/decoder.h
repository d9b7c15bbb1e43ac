// Decodes sentences with a model, weights and options. Immutable and safe to share between threads: each call
// borrows a workspace (matches, search space, arena) for itself, so that no lock is held during a sentence.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hiero/decode/chart.h"
#include "hiero/decode/options.h"
#include "hiero/decode/sentence.h"
#include "hiero/decode/translation_model.h"
#include "hiero/decode/weights.h"
#include "hiero/forest/forest.h"

namespace hiero {

struct DecodeStats {
  std::uint64_t applications = 0;  // rule applications matched
  std::uint64_t cells = 0;         // cells searched
  std::uint64_t hypotheses = 0;    // complete hypotheses made
  std::uint64_t completed = 0;     // and those made besides, for split points without one
  std::uint64_t lm_queries = 0;    // n-gram look-ups, all LMs together
};

struct Translation {
  std::shared_ptr<const std::vector<double>> weights;  // by feature of the forests
  std::shared_ptr<const Forest> best;                  // one derivation; without edges if there is no parse
  std::shared_ptr<const Forest> forest;                // with Keep::kForest
  std::shared_ptr<const Chart> chart;                  // with Keep::kChart and Keep::kSplits
  std::vector<std::uint32_t> unknown;                  // positions of words; bind_decode.cc says which
  std::optional<std::string> text;                     // detokenised; none: the tokens with blanks between
  DecodeStats stats;
};

class Decoder {
 public:
  Decoder(std::shared_ptr<const TranslationModel> model, std::shared_ptr<const Weights> weights,
          const DecoderOptions& options);

  // Returns this decoder with other weights; costs no more than the weights themselves.
  Decoder with_weights(std::shared_ptr<const Weights> weights) const;

  // The features of the result are the model's and, behind them, those that only the input's rules have.
  // Throws FormatError for rules that do not fit the model, and std::invalid_argument for a weight that is
  // not finite or that the model has already.
  Translation translate(SentenceInput input, Keep keep) const;

  const std::shared_ptr<const TranslationModel>& model() const { return model_; }
  const std::shared_ptr<const Weights>& weights() const { return weights_; }
  const DecoderOptions& options() const { return options_; }

 private:
  struct Workspace;
  class WorkspacePool {
   public:
    std::unique_ptr<Workspace> take(const TranslationModel& model);
    void give_back(std::unique_ptr<Workspace> workspace);
    ~WorkspacePool();

   private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<Workspace>> free_;
  };

  std::shared_ptr<const TranslationModel> model_;
  std::shared_ptr<const Weights> weights_;
  DecoderOptions options_;
  std::shared_ptr<WorkspacePool> pool_;
};

}  // namespace hiero
