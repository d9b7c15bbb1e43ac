// Decodes sentences with a model, weights and options. Immutable and safe to share between threads: each call
// borrows a workspace (matches, search space, arena) for itself, so that no lock is held during a sentence.
#pragma once

#include <memory>
#include <mutex>

#include "hiero/decode/options.h"
#include "hiero/decode/sentence.h"
#include "hiero/decode/translation.h"
#include "hiero/decode/translation_model.h"
#include "hiero/decode/weights.h"

namespace hiero {

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
