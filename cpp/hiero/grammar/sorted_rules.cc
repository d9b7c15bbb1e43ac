#include "hiero/grammar/sorted_rules.h"

#include <cstring>

#include "hiero/base/varint.h"
#include "hiero/grammar/symbol_code.h"

namespace hiero {

// Key: source side, label with the most significant byte first. Value: number of features, features, body.
void SortedRules::add(const RuleRow& row) {
  key_.clear();
  for (const Symbol symbol : row.source) put_symbol(key_, symbol);
  key_.push_back(kEndOfSymbols);
  for (int shift = 24; shift >= 0; shift -= 8) key_.push_back(static_cast<std::byte>(row.lhs >> shift));
  value_.clear();
  put_varint(value_, row.features.size());
  const auto features = std::as_bytes(row.features);
  value_.insert(value_.end(), features.begin(), features.end());
  value_.insert(value_.end(), row.body.begin(), row.body.end());
  sorter_.add(key_, value_);
}

void SortedRules::scan(const std::function<void(const RuleRow&)>& visit) const {
  std::vector<Symbol> source;
  std::vector<SparseFeature> features;
  sorter_.scan([&](Bytes key, Bytes value) {
    const std::byte* at = key.data();
    get_symbols(at, source);
    LabelId lhs = 0;
    for (int i = 0; i < 4; ++i) lhs = lhs << 8 | static_cast<LabelId>(*at++);
    at = value.data();
    features.resize(get_varint(at));
    if (!features.empty()) std::memcpy(features.data(), at, features.size() * sizeof(SparseFeature));
    at += features.size() * sizeof(SparseFeature);
    visit({source, lhs, features, {at, value.data() + value.size()}});
  });
}

}  // namespace hiero
