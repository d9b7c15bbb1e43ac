#include "semiring_values.h"

namespace hiero {
namespace {

void expect_size(std::size_t size, std::size_t expected) {
  if (size != expected) {
    throw std::invalid_argument("a vector of " + std::to_string(size) + " where the semiring has " +
                                std::to_string(expected));
  }
}

// Sizes of what came from Python are those of the semiring.
template <class S>
void check_value(const S&, const typename S::Value&) {}
void check_value(const ExpectationSemiring& s, const ExpectationSemiring::Value& v) {
  expect_size(v.x.size(), s.module.size);
}
void check_value(const SecondOrderSemiring& s, const SecondOrderSemiring::Value& v) {
  expect_size(v.r.size(), s.n);
  expect_size(v.s.size(), s.m);
  expect_size(v.t.size(), s.n * s.m);
}
void check_value(const LiftedSemiring& s, const LiftedSemiring::Value& v) {
  check_value(s.scalars, v.k);
  expect_size(v.x.s.size(), s.module.m);
  expect_size(v.x.t.size(), s.module.n * s.module.m);
}

// A semiring written in Python.
struct PythonSemiring {
  using Value = nb::object;
  nb::object object;

  Value zero() const { return object.attr("zero"); }
  Value one() const { return object.attr("one"); }
  Value plus(const Value& a, const Value& b) const { return object.attr("plus")(a, b); }
  Value times(const Value& a, const Value& b) const { return object.attr("times")(a, b); }
};

template <class S>
typename S::Value value_in(const S& semiring, const nb::handle& object) {
  try {
    typename S::Value value = Convert<typename S::Value>::in(object);
    check_value(semiring, value);
    return value;
  } catch (const nb::cast_error&) {
    throw type_error("no value of the semiring: " + repr_of(object));
  }
}

template <class S>
std::vector<typename S::Value> values_in(const S& semiring, const nb::iterable& objects, std::int32_t count,
                                         const char* what) {
  std::vector<typename S::Value> values;
  for (const nb::handle& object : objects) values.push_back(value_in(semiring, object));
  if (values.size() != static_cast<std::size_t>(count)) {
    throw std::invalid_argument("expected a value per " + std::string(what) + ", " + std::to_string(count) +
                                ", got " + std::to_string(values.size()));
  }
  return values;
}

template <class V>
nb::list values_out(const std::vector<V>& values) {
  nb::list list;
  for (const V& value : values) list.append(Convert<V>::out(value));
  return list;
}

template <Semiring S>
nb::list inside_values(const Hypergraph& forest, const S& semiring, const nb::iterable& weights) {
  const auto by_edge = values_in(semiring, weights, forest.edge_count(), "edge");
  return values_out(inside(forest, semiring, [&](EdgeIndex e) { return by_edge[e]; }));
}

template <Semiring S>
nb::list outside_values(const Hypergraph& forest, const S& semiring, const nb::iterable& weights,
                        const nb::iterable& beta) {
  const auto by_edge = values_in(semiring, weights, forest.edge_count(), "edge");
  const auto by_node = values_in(semiring, beta, forest.node_count(), "node");
  return values_out(outside(forest, semiring, [&](EdgeIndex e) { return by_edge[e]; }, by_node));
}

constexpr const char* kInside =
    "Inside values of all nodes, of one weight per edge; the root's is the sum over derivations of the\n"
    "product of their edges (Li and Eisner 2009, Figure 2). `semiring` is one of this module or any object\n"
    "with zero, one, plus(a, b) and times(a, b), with which it runs at the speed of Python.";
constexpr const char* kOutside =
    "Outside values of all nodes (Li and Eisner 2009, Figure 3), of the weights and inside values. `times`\n"
    "must commute.";

// What Python sees of a semiring, whatever its type: bound once, since each binding takes long to compile.
class BoundSemiring {
 public:
  virtual ~BoundSemiring() = default;
  virtual nb::object zero() const = 0;
  virtual nb::object one() const = 0;
  virtual nb::object plus(const nb::handle& a, const nb::handle& b) const = 0;
  virtual nb::object times(const nb::handle& a, const nb::handle& b) const = 0;
  virtual nb::object star(const nb::handle& a) const = 0;
  virtual nb::list inside(const Hypergraph& forest, const nb::iterable& weights) const = 0;
  virtual nb::list outside(const Hypergraph& forest, const nb::iterable& weights,
                           const nb::iterable& beta) const = 0;
};

template <ClosedSemiring S>
class Bound final : public BoundSemiring {
 public:
  explicit Bound(S semiring = S()) : semiring_(std::move(semiring)) {}

  nb::object zero() const override { return out(semiring_.zero()); }
  nb::object one() const override { return out(semiring_.one()); }
  nb::object plus(const nb::handle& a, const nb::handle& b) const override {
    return out(semiring_.plus(in(a), in(b)));
  }
  nb::object times(const nb::handle& a, const nb::handle& b) const override {
    return out(semiring_.times(in(a), in(b)));
  }
  nb::object star(const nb::handle& a) const override { return out(semiring_.star(in(a))); }
  nb::list inside(const Hypergraph& forest, const nb::iterable& weights) const override {
    return inside_values(forest, semiring_, weights);
  }
  nb::list outside(const Hypergraph& forest, const nb::iterable& weights,
                   const nb::iterable& beta) const override {
    return outside_values(forest, semiring_, weights, beta);
  }

 private:
  using Value = typename S::Value;
  static nb::object out(const Value& value) { return Convert<Value>::out(value); }
  Value in(const nb::handle& value) const { return value_in(semiring_, value); }

  S semiring_;
};

template <class S>
nb::class_<Bound<S>, BoundSemiring> bind(nb::module_& m, const char* name, const char* doc) {
  return define<Bound<S>, BoundSemiring>(m, name, doc);
}

void register_base(nb::module_& m) {
  define<BoundSemiring>(m, "_Semiring")
      .def_prop_ro("zero", &BoundSemiring::zero)
      .def_prop_ro("one", &BoundSemiring::one)
      .def("plus", &BoundSemiring::plus, nb::arg().none(), nb::arg().none())
      .def("times", &BoundSemiring::times, nb::arg().none(), nb::arg().none())
      .def("star", &BoundSemiring::star, nb::arg().none(),
           "1 + a + a a + ...; raises ValueError where that does not exist.");
  m.def(
      "inside",
      [](const Forest& forest, const BoundSemiring& semiring, const nb::iterable& weights) {
        return semiring.inside(forest, weights);
      },
      nb::arg("forest"), nb::arg("semiring"), nb::arg("weights"), kInside);
  m.def(
      "outside",
      [](const Forest& forest, const BoundSemiring& semiring, const nb::iterable& weights,
         const nb::iterable& beta) { return semiring.outside(forest, weights, beta); },
      nb::arg("forest"), nb::arg("semiring"), nb::arg("weights"), nb::arg("inside"), kOutside);
}

// The right side of an operator; another type than numbers have may know it.
Scaled operand(const nb::handle& value) {
  try {
    return Convert<Scaled>::in(value);
  } catch (const nb::cast_error&) {
    throw nb::next_overload();
  }
}

void register_scaled(nb::module_& m) {
  define<Scaled>(m, "Scaled",
                 "A real number of any size and either sign: as exact as a float, without its limits.")
      .def(
          "__init__",
          [](Scaled* self, double value) { new (self) Scaled(Convert<Scaled>::in(nb::float_(value))); },
          nb::arg("value"))
      .def_static(
          "exp",
          [](double x) {
            if (!(std::abs(x) <= Scaled::kMostLog) && x != -std::numeric_limits<double>::infinity())
              throw std::invalid_argument("expected a number of at most 1e12 in size, or -inf");
            return Scaled::exp(x);
          },
          nb::arg("x"), "e**x, for x of at most 1e12 in size or -inf.")
      .def_prop_ro("sign", &Scaled::sign, "-1, 0 or 1.")
      .def_prop_ro("log_abs", &Scaled::log_abs, "Natural log of the size.")
      .def("__float__", &Scaled::value)
      .def(
          "__add__", [](Scaled a, const nb::handle& b) { return a + operand(b); }, nb::is_operator())
      .def(
          "__sub__", [](Scaled a, const nb::handle& b) { return a - operand(b); }, nb::is_operator())
      .def(
          "__mul__", [](Scaled a, const nb::handle& b) { return a * operand(b); }, nb::is_operator())
      .def(
          "__truediv__",
          [](Scaled a, const nb::handle& b) {
            const Scaled divisor = operand(b);
            if (divisor.is_zero()) {
              PyErr_SetString(PyExc_ZeroDivisionError, "division by zero");
              nb::raise_python_error();
            }
            return a / divisor;
          },
          nb::is_operator())
      .def("__neg__", [](Scaled a) { return -a; })
      .def(
          "__eq__", [](Scaled a, Scaled b) { return a == b; }, nb::is_operator())
      .def(
          "__eq__", [](Scaled a, double b) { return std::isfinite(b) && a == Scaled(b); }, nb::is_operator())
      .def("__hash__",
           [](Scaled a) {
             const double value = a.value();
             const bool is_float = std::isfinite(value) && Scaled(value) == a;
             return is_float ? nb::hash(nb::float_(value)) : nb::hash(nb::make_tuple(a.sign(), a.log_abs()));
           })
      .def("__repr__", [](Scaled a) {
        if (a.is_zero()) return nb::str("Scaled(0)");
        return nb::str("Scaled({}exp({!r}))").format(a.sign() < 0 ? "-" : "", a.log_abs());
      });
}

}  // namespace

void register_semiring(nb::module_& m) {
  register_scaled(m);
  register_base(m);
  bind<BooleanSemiring>(m, "BooleanSemiring", "Is there a derivation? Values: bool.").def(nb::init<>());
  bind<CountingSemiring>(m, "CountingSemiring", "How many derivations? Values: int, not negative.")
      .def(nb::init<>());
  bind<RealSemiring>(m, "RealSemiring", "Sums and products of floats.").def(nb::init<>());
  bind<LogSemiring>(m, "LogSemiring", "The same by natural logs.").def(nb::init<>());
  bind<TropicalSemiring>(m, "TropicalSemiring", "Least total cost: min and +.").def(nb::init<>());
  bind<ScaledSemiring>(m, "ScaledSemiring", "Sums and products of any size: Scaled or numbers.")
      .def(nb::init<>());
  bind<ViterbiSemiring>(m, "ViterbiSemiring",
                        "The best derivation: values are (score, edges), zero (-inf, ()). Of equal scores "
                        "the smaller sequence of\n"
                        "edges wins, so that plus(a, b) wants sequences neither of which begins with the "
                        "other, as those of one\n"
                        "node's derivations are.")
      .def(nb::init<>());
  bind<KBestSemiring>(m, "KBestSemiring", "The k best derivations: lists of (score, edges), best first.")
      .def(
          "__init__",
          [](Bound<KBestSemiring>* self, Py_ssize_t k) {
            if (k < 1) throw std::invalid_argument("k: expected 1 or more, not " + std::to_string(k));
            new (self) Bound(KBestSemiring{static_cast<std::size_t>(k)});
          },
          nb::arg("k"));
  bind<ExpectationSemiring>(m, "ExpectationSemiring",
                            "E_{R,R^n} (Li and Eisner 2009, Table 1): values (p, r), r of n components. "
                            "Edges with (p, p r) give the\n"
                            "root (Z, sum of p r).")
      .def(
          "__init__",
          [](Bound<ExpectationSemiring>* self, std::size_t n) {
            new (self) Bound(ExpectationSemiring{{}, {n}});
          },
          nb::arg("n"));
  bind<SecondOrderSemiring>(
      m, "SecondOrderSemiring",
      "E_{R,R^n,R^m,R^(n m)} (Li and Eisner 2009, Table 2): values (p, r, s, t), t row by row.")
      .def(
          "__init__",
          [](Bound<SecondOrderSemiring>* self, std::size_t n, std::size_t m_) {
            new (self) Bound(SecondOrderSemiring{n, m_});
          },
          nb::arg("n"), nb::arg("m"));
  bind<LiftedSemiring>(m, "LiftedSemiring",
                       "The same as a first-order semiring over E_{R,R^n} (Li and Eisner 2009, Table 4): "
                       "values ((p, r), (s, t)).")
      .def(
          "__init__",
          [](Bound<LiftedSemiring>* self, std::size_t n, std::size_t m_) {
            new (self) Bound(LiftedSemiring{ExpectationSemiring{{}, {n}}, PairModule{n, m_}});
          },
          nb::arg("n"), nb::arg("m"));
  m.def(
      "inside",
      [](const Forest& forest, const nb::object& semiring, const nb::iterable& weights) {
        return inside_values(forest, PythonSemiring{semiring}, weights);
      },
      nb::arg("forest"), nb::arg("semiring").none(), nb::arg("weights"), kInside);
  m.def(
      "outside",
      [](const Forest& forest, const nb::object& semiring, const nb::iterable& weights,
         const nb::iterable& beta) {
        return outside_values(forest, PythonSemiring{semiring}, weights, beta);
      },
      nb::arg("forest"), nb::arg("semiring").none(), nb::arg("weights"), nb::arg("inside"), kOutside);
}

}  // namespace hiero
