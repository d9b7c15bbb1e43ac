#include "hiero/grammar/packer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "hiero/base/error.h"
#include "hiero/base/output_file.h"
#include "hiero/base/tokens.h"
#include "hiero/grammar/rule_body.h"
#include "hiero/grammar/rule_table.h"
#include "hiero/grammar/rule_text.h"
#include "hiero/grammar/sorted_rules.h"
#include "hiero/grammar/table_writer.h"
#include "hiero/grammar/unary_rules.h"

namespace hiero {
namespace {

// Converts parsed rules to rows with the ids of the table, and passes them to the sorter.
class RuleEncoder {
 public:
  RuleEncoder(TableNames& names, SortedRules& sorted) : names_(names), sorted_(sorted) {}

  // Error messages begin with `where`.
  void add(const RuleParser& rule, const std::string& where);
  // Adds only the feature names of a rule that is left out, so that weights for the whole grammar fit a
  // filtered table.
  void add_feature_names(const RuleParser& rule);
  // Throws FormatError if unary rules form a cycle.
  void check_unary_rules() const;

 private:
  std::uint32_t feature_id(const FeatureView& feature);
  std::uint32_t named_feature(std::string_view name);
  std::string positional_name(const TableNames::Feature& feature) const;

  TableNames& names_;
  SortedRules& sorted_;
  Vocab feature_index_;
  std::uint64_t rules_ = 0;
  std::vector<std::uint64_t> last_rule_;   // by feature id: number of the last rule with this feature
  std::vector<std::uint32_t> positional_;  // by position of a value without a name: feature id
  // Arcs of unary rules (child, parent) and the place of the first rule of each, for messages.
  std::map<std::pair<LabelId, LabelId>, std::string> unary_;
  std::vector<Symbol> source_;
  std::vector<Symbol> target_;
  std::vector<AlignmentLink> links_;
  std::vector<SparseFeature> features_;
  std::vector<std::byte> body_;
};

void RuleEncoder::add(const RuleParser& rule, const std::string& where) {
  const LabelId lhs = names_.labels.intern(rule.lhs());
  source_.clear();
  for (const TokenView& token : rule.source()) {
    source_.push_back(token.index > 0 ? nonterminal(names_.labels.intern(token.text))
                                      : names_.words.intern(token.text));
  }
  if (source_.size() == 1 && is_nonterminal(source_[0]))
    unary_.try_emplace({payload(source_[0]), lhs}, where);
  features_.clear();
  ++rules_;
  for (const FeatureView& feature : rule.features()) {
    const std::uint32_t id = feature_id(feature);
    if (std::exchange(last_rule_[id], rules_) == rules_) {
      throw FormatError(where + ": feature " + positional_name(names_.features[id]) +
                        " occurs twice, once as a value without a name");
    }
    features_.push_back({id, feature.value});
    ++names_.features[id].rules;
  }
  target_.clear();
  for (const TokenView& token : rule.target()) {
    target_.push_back(token.index > 0 ? nonterminal(static_cast<std::uint32_t>(token.index - 1))
                                      : names_.words.intern(token.text));
  }
  links_.clear();
  for (const LinkView& link : rule.links()) links_.push_back({link.source, link.target});
  encode_body(source_, target_, links_, body_);
  sorted_.add({source_, lhs, features_, body_});
}

void RuleEncoder::add_feature_names(const RuleParser& rule) {
  for (const FeatureView& feature : rule.features()) feature_id(feature);
}

std::uint32_t RuleEncoder::feature_id(const FeatureView& feature) {
  if (!feature.name.empty()) return named_feature(feature.name);
  if (feature.position >= positional_.size()) positional_.resize(feature.position + 1, ~0u);
  std::uint32_t& id = positional_[feature.position];
  if (id == ~0u) {
    TableNames::Feature unnamed;
    unnamed.position = static_cast<std::int32_t>(feature.position);
    // Another rule may use the full name for the same feature.
    id = named_feature(positional_name(unnamed));
    names_.features[id].position = unnamed.position;
  }
  return id;
}

std::uint32_t RuleEncoder::named_feature(std::string_view name) {
  const std::uint32_t id = feature_index_.intern(name);
  if (id == names_.features.size()) {
    names_.features.push_back({std::string(name), -1, 0});
    last_rule_.push_back(0);
  }
  return id;
}

std::string RuleEncoder::positional_name(const TableNames::Feature& feature) const {
  const std::string owner = names_.owner.empty() ? "pt" : names_.owner;
  return "tm_" + owner + "_" + std::to_string(feature.position);
}

void RuleEncoder::check_unary_rules() const {
  std::vector<UnaryArc> arcs;
  for (const auto& [arc, where] : unary_) arcs.push_back({arc.first, arc.second, &where});
  arcs = cyclic_arcs(std::move(arcs), names_.labels.size());
  if (arcs.empty()) return;
  std::vector<std::string> labels;
  for (LabelId label = 0; label < names_.labels.size(); ++label) labels.emplace_back(names_.labels[label]);
  throw FormatError(*arcs[0].where + ": unary rules form a cycle: " + arc_list(arcs, labels));
}

// Checks tokens that will be written as text, which is split at white space.
void check_tokens(const Rule& rule, const std::string& where) {
  for (const auto* side : {&rule.source, &rule.target}) {
    for (const RuleToken& token : *side) {
      if (token.text.empty()) throw FormatError(where + ": a token is empty");
      if (token.text.find_first_of(kSpace) != std::string::npos)
        throw FormatError(where + ": there is white space in the token \"" + token.text + "\"");
    }
  }
}

}  // namespace

void pack_rules(LineReader& lines, const std::string& output, const PackOptions& options, InputFilter* filter,
                const PackProgress& progress) {
  constexpr std::uint64_t kProgressStep = 1u << 14;
  OutputFile file(output);  // opened first, so that an unwritable folder is an error before any work
  TableNames names;
  names.owner = options.owner;
  names.span_limit = options.span_limit;
  SortedRules sorted(options.memory, folder_of(output));
  RuleEncoder encoder(names, sorted);
  RuleParser parser;
  std::string_view line;
  std::uint64_t lines_read = 0;
  while (lines.next(line)) {
    const std::string where = lines.where();
    if (parser.parse(line, where)) {
      if (!filter || filter->can_match(parser)) {
        encoder.add(parser, where);
      } else {
        encoder.add_feature_names(parser);
      }
    }
    if (++lines_read % kProgressStep == 0) progress(lines_read);
  }
  encoder.check_unary_rules();
  sorted.finish();
  progress(lines_read);
  names.rules = sorted.size();
  write_table(names, sorted.scanner(), file, [&] { progress(lines_read); });
  file.commit();
}

namespace {

class MemorySink : public ImageSink {
 public:
  void allocate(std::uint64_t length) override { image.resize(length); }
  void write(std::uint64_t offset, const void* data, std::size_t size) override {
    std::copy_n(static_cast<const std::byte*>(data), size, image.data() + offset);
  }
  void read(std::uint64_t offset, void* data, std::size_t size) const override {
    std::copy_n(image.data() + offset, size, static_cast<std::byte*>(data));
  }

  std::vector<std::byte> image;
};

}  // namespace

std::shared_ptr<const RuleTable> RuleTable::build(const std::vector<Rule>& rules, const std::string& owner,
                                                  std::uint32_t span_limit) {
  TableNames names;
  names.owner = owner;
  names.span_limit = span_limit;
  SortedRules sorted(~std::uint64_t{0}, "");
  RuleEncoder encoder(names, sorted);
  RuleParser parser;
  for (std::size_t r = 0; r < rules.size(); ++r) {
    // Rules take the way of text, so that they are checked as rules of a file are.
    const std::string text = format_rule(rules[r]);
    const std::string where = (owner.empty() ? "" : owner + " ") + "rule " + std::to_string(r + 1);
    check_tokens(rules[r], where);
    parser.parse(text, where);
    encoder.add(parser, where);
  }
  encoder.check_unary_rules();
  sorted.finish();
  names.rules = sorted.size();
  MemorySink sink;
  write_table(names, sorted.scanner(), sink, [] {});
  return from_image(std::move(sink.image), owner);
}

}  // namespace hiero
