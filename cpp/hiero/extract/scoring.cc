#include "hiero/extract/scoring.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "hiero/base/error.h"
#include "hiero/base/ordered_map.h"
#include "hiero/base/output_file.h"
#include "hiero/extract/rule_scorer.h"
#include "hiero/grammar/table_writer.h"

namespace hiero {

ScoreStatistics score_rules(const CountsFile& counts, const std::string& output, const ScoreOptions& options,
                            IndexedBitext* bitext, double least_significance, std::size_t threads,
                            const ScoreProgress& progress) {
  check_settings(options);
  OutputFile file(output);
  TableNames names;
  names.owner = options.owner;
  names.span_limit = options.span_limit;
  names.words = Vocab(&counts.words());
  add_scores(names, counts.statistics().rules);
  const Scoring scoring(counts, options);
  RuleWorkers workers(scoring, bitext, least_significance, threads);
  // By rule. The table writer reads all rules twice; the test runs in the first pass only.
  std::vector<bool> is_significant;
  ScoreStatistics statistics;
  bool is_first = true;
  const RuleScan scan = [&](const std::function<void(const RuleRow&)>& visit) {
    statistics = {};
    RuleGroups groups(counts);
    std::uint64_t read_rules = 0;
    const auto read = [&](RuleBatch& batch) {
      const bool is_read = batch.read(groups);
      if (bitext && !is_first) {
        const auto first = is_significant.begin() + static_cast<std::ptrdiff_t>(read_rules);
        std::copy_n(first, batch.rules.size(), batch.is_significant.begin());
      }
      read_rules += batch.rules.size();
      return is_read;
    };
    const auto work = [&](RuleBatch& batch, std::size_t worker) {
      if (is_first) workers.test(batch, worker);
      workers.make_rows(batch, worker, !is_first);
    };
    const auto take = [&](const RuleBatch& batch) {
      if (bitext && is_first) {
        is_significant.insert(is_significant.end(), batch.is_significant.begin(), batch.is_significant.end());
      }
      statistics.read += batch.rules.size();
      statistics.kept += batch.rows.size();
      batch.visit_rows(visit);
    };
    ordered_map<RuleBatch>(threads, read, work, take);
    if (statistics.kept == 0) throw FormatError(output + ": the table would have no rules");
    is_first = false;
  };
  write_table(names, scan, file, [&] { progress(statistics.read); });
  file.commit();
  return statistics;
}

}  // namespace hiero
