#include "hiero/forest/semiring.h"

namespace hiero {
namespace {

void add_scaled(ScaledVector& sum, Scaled factor, const ScaledVector& values) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * values[i];
}

// sum += r s^T
void add_outer(ScaledVector& sum, const ScaledVector& r, const ScaledVector& s) {
  for (std::size_t i = 0; i < r.size(); ++i) {
    for (std::size_t j = 0; j < s.size(); ++j) sum[i * s.size() + j] += r[i] * s[j];
  }
}

void add(ScaledVector& sum, const ScaledVector& values) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
}

}  // namespace

EdgeString::~EdgeString() {
  std::vector<EdgeStringPtr> open;
  const auto take = [&open](EdgeStringPtr& part) {
    if (part && (part->left || part->right) && part.use_count() == 1) open.push_back(std::move(part));
  };
  take(left);
  take(right);
  while (!open.empty()) {
    const EdgeStringPtr last = std::move(open.back());
    open.pop_back();
    take(last->left);
    take(last->right);
  }
}

std::vector<std::int32_t> edges_of(const EdgeString* string) {
  std::vector<std::int32_t> out;
  std::vector<const EdgeString*> open;
  if (string) open.push_back(string);
  while (!open.empty()) {
    const EdgeString* top = open.back();
    open.pop_back();
    if (top->edge >= 0) out.push_back(top->edge);
    if (top->right) open.push_back(top->right.get());
    if (top->left) open.push_back(top->left.get());
  }
  return out;
}

bool is_better(const BestValue& a, const BestValue& b) {
  if (a.score != b.score) return a.score > b.score;
  if (a.edges == b.edges) return false;
  return edges_of(a.edges.get()) < edges_of(b.edges.get());
}

BestValue join(const BestValue& a, const BestValue& b) {
  const double score = a.score + b.score;
  if (score == -std::numeric_limits<double>::infinity()) return {};
  if (!a.edges || !b.edges) return {score, a.edges ? a.edges : b.edges};
  return {score, std::make_shared<EdgeString>(-1, a.edges, b.edges)};
}

KBestSemiring::Value KBestSemiring::plus(const Value& a, const Value& b) const {
  Value out;
  std::ranges::merge(a, b, std::back_inserter(out), is_better);
  if (out.size() > k) out.resize(k);
  return out;
}

KBestSemiring::Value KBestSemiring::times(const Value& a, const Value& b) const {
  Value out;
  for (std::size_t i = 0; i < a.size(); ++i) {
    // (i + 1)(j + 1) - 1 other pairs are at least as good as the pair (i, j).
    for (std::size_t j = 0; j < b.size() && (i + 1) * (j + 1) <= k; ++j) {
      BestValue joined = join(a[i], b[j]);
      if (joined.score > BestValue().score) out.push_back(std::move(joined));
    }
  }
  std::ranges::sort(out, is_better);
  if (out.size() > k) out.resize(k);
  return out;
}

KBestSemiring::Value KBestSemiring::star(const Value& a) const {
  if (!a.empty() && !(a.front().score <= 0)) no_star();
  // The best of the n-th power is no better than n - 1 others, so that powers beyond the k-th add nothing.
  Value out = one();
  for (std::size_t i = 0; i < k; ++i) out = plus(one(), times(a, out));
  return out;
}

SecondOrderSemiring::Value SecondOrderSemiring::plus(const Value& a, const Value& b) const {
  Value out(a);
  out.p += b.p;
  add(out.r, b.r);
  add(out.s, b.s);
  add(out.t, b.t);
  return out;
}

SecondOrderSemiring::Value SecondOrderSemiring::times(const Value& a, const Value& b) const {
  Value out = zero();
  out.p = a.p * b.p;
  add_scaled(out.r, a.p, b.r);
  add_scaled(out.r, b.p, a.r);
  add_scaled(out.s, a.p, b.s);
  add_scaled(out.s, b.p, a.s);
  add_scaled(out.t, a.p, b.t);
  add_scaled(out.t, b.p, a.t);
  add_outer(out.t, a.r, b.s);
  add_outer(out.t, b.r, a.s);
  return out;
}

SecondOrderSemiring::Value SecondOrderSemiring::star(const Value& a) const {
  Value out = zero();
  const Scaled star = ScaledSemiring().star(a.p);
  const Scaled square = star * star;
  out.p = star;
  add_scaled(out.r, square, a.r);
  add_scaled(out.s, square, a.s);
  add_outer(out.t, a.r, a.s);
  for (std::size_t i = 0; i < out.t.size(); ++i) {
    out.t[i] = square * (star * out.t[i] + star * out.t[i] + a.t[i]);
  }
  return out;
}

PairModule::Value PairModule::plus(const Value& a, const Value& b) const {
  Value out(a);
  add(out.s, b.s);
  add(out.t, b.t);
  return out;
}

PairModule::Value PairModule::act(const ExpectationSemiring::Value& k, const Value& x) const {
  Value out = zero();
  add_scaled(out.s, k.k, x.s);
  add_scaled(out.t, k.k, x.t);
  add_outer(out.t, k.x, x.s);
  return out;
}

}  // namespace hiero
