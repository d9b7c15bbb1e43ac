// hiero-lmplz reads text from standard input and writes an interpolated modified Kneser-Ney model as ARPA to
// standard output. It runs KenLM's pipeline (Heafield et al. 2013, "Scalable Modified Kneser-Ney Language
// Model Estimation").
//
//   hiero-lmplz -o ORDER -S BYTES -T FOLDER [--discount_fallback]
//
// The options are those of KenLM's lmplz, with its defaults for all others: unigrams are interpolated, and
// nothing is pruned. An error is a message on standard error and exit code 1, or SIGABRT if it occurs in a
// thread of KenLM.
#include <getopt.h>
#include <sys/resource.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include "lm/builder/output.hh"
#include "lm/builder/pipeline.hh"
#include "util/file.hh"

namespace {

constexpr const char* kUsage =
    "usage: hiero-lmplz -o ORDER -S BYTES -T FOLDER [--discount_fallback] <text >arpa";

std::uint64_t parse_number(const char* text) {
  std::uint64_t number = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, number);
  if (error != std::errc() || stop != end) throw std::invalid_argument(std::string(text) + ": not a number");
  return number;
}

lm::builder::PipelineConfig default_config() {
  lm::builder::PipelineConfig config{};
  config.vocab_estimate = 1000000;
  config.minimum_block = 8 << 10;
  config.block_count = 2;
  config.sort.buffer_size = 64 << 20;
  config.initial_probs.interpolate_unigrams = true;
  config.initial_probs.adder_in.total_memory = 32768;
  config.initial_probs.adder_in.block_count = 2;
  config.initial_probs.adder_out = config.initial_probs.adder_in;
  config.read_backoffs = config.initial_probs.adder_out;
  config.disallowed_symbol_action = lm::THROW_UP;
  config.discount.bad_action = lm::THROW_UP;
  return config;
}

void fall_back(lm::builder::DiscountConfig& discount) {
  discount.bad_action = lm::COMPLAIN;
  discount.fallback = lm::builder::Discount{{0.0f, 0.5f, 1.0f, 1.5f}};
}

// Returns false for options that do not match kUsage.
bool parse(int argc, char** argv, lm::builder::PipelineConfig& config) {
  const option long_options[] = {{"discount_fallback", no_argument, nullptr, 'f'}, {nullptr, 0, nullptr, 0}};
  for (int key; (key = getopt_long(argc, argv, "o:S:T:", long_options, nullptr)) != -1;) {
    if (key == 'o') {
      config.order = parse_number(optarg);
    } else if (key == 'S') {
      config.sort.total_memory = parse_number(optarg);
    } else if (key == 'T') {
      config.sort.temp_prefix = optarg;
    } else if (key == 'f') {
      fall_back(config.discount);
    } else {
      return false;
    }
  }
  return optind == argc && config.order > 0 && config.sort.total_memory > 0 &&
         !config.sort.temp_prefix.empty();
}

void estimate(lm::builder::PipelineConfig& config) {
  config.prune_thresholds.assign(config.order, 0);
  util::NormalizeTempPrefix(config.sort.temp_prefix);
  util::scoped_fd text(0), arpa(1);
  lm::builder::Output output(config.sort.temp_prefix, false, false);
  output.Add(new lm::builder::PrintHook(arpa.release(), false));  // KenLM's interface takes ownership
  lm::builder::Pipeline(config, text.release(), output);
}

}  // namespace

int main(int argc, char** argv) {
  const rlimit no_core{0, 0};  // KenLM reports errors by abort(), which should not write a core file
  setrlimit(RLIMIT_CORE, &no_core);
  try {
    lm::builder::PipelineConfig config = default_config();
    if (!parse(argc, argv, config)) {
      std::cerr << kUsage << std::endl;
      return 2;
    }
    estimate(config);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
