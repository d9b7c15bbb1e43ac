#include "semiring_values.h"

namespace hiero {
namespace {

// A value for each edge or node.
using Iterable = Annotated<"collections.abc.Iterable[typing.Any]">;
using Values = Annotated<"list[typing.Any]">;

void expect_size(std::size_t size, std::size_t expected) {
  if (size != expected) {
    throw std::invalid_argument("a vector of " + std::to_string(size) + " where the semiring has " +
                                std::to_string(expected));
  }
}

// Check that the vectors of a value from Python have the sizes of the semiring.
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
std::vector<typename S::Value> values_in(const S& semiring, const Iterable& objects, std::int32_t count,
                                         const char* what) {
  std::vector<typename S::Value> values;
  for (const nb::handle object : nb::iter(objects)) values.push_back(value_in(semiring, object));
  if (values.size() != static_cast<std::size_t>(count)) {
    throw std::invalid_argument("expected a value per " + std::string(what) + ", " + std::to_string(count) +
                                ", got " + std::to_string(values.size()));
  }
  return values;
}

template <class V>
Values values_out(const std::vector<V>& values) {
  nb::list list;
  for (const V& value : values) list.append(Convert<V>::out(value));
  return nb::object(list);
}

template <Semiring S>
Values inside_values(const Hypergraph& forest, const S& semiring, const Iterable& weights) {
  const auto by_edge = values_in(semiring, weights, forest.edge_count(), "edge");
  return values_out(inside(forest, semiring, [&](EdgeIndex e) { return by_edge[e]; }));
}

template <Semiring S>
Values outside_values(const Hypergraph& forest, const S& semiring, const Iterable& weights,
                      const Iterable& beta) {
  const auto by_edge = values_in(semiring, weights, forest.edge_count(), "edge");
  const auto by_node = values_in(semiring, beta, forest.node_count(), "node");
  return values_out(outside(forest, semiring, [&](EdgeIndex e) { return by_edge[e]; }, by_node));
}

// A semiring behind an interface of Python objects, so that one binding serves all semirings: each binding
// takes long to compile.
class BoundSemiring {
 public:
  virtual ~BoundSemiring() = default;
  virtual Any zero() const = 0;
  virtual Any one() const = 0;
  virtual Any plus(const Any& a, const Any& b) const = 0;
  virtual Any times(const Any& a, const Any& b) const = 0;
  virtual Any star(const Any& a) const = 0;
  virtual Values inside(const Hypergraph& forest, const Iterable& weights) const = 0;
  virtual Values outside(const Hypergraph& forest, const Iterable& weights, const Iterable& beta) const = 0;
};

template <ClosedSemiring S>
class Bound final : public BoundSemiring {
 public:
  explicit Bound(S semiring = S()) : semiring_(std::move(semiring)) {}

  Any zero() const override { return out(semiring_.zero()); }
  Any one() const override { return out(semiring_.one()); }
  Any plus(const Any& a, const Any& b) const override { return out(semiring_.plus(in(a), in(b))); }
  Any times(const Any& a, const Any& b) const override { return out(semiring_.times(in(a), in(b))); }
  Any star(const Any& a) const override { return out(semiring_.star(in(a))); }
  Values inside(const Hypergraph& forest, const Iterable& weights) const override {
    return inside_values(forest, semiring_, weights);
  }
  Values outside(const Hypergraph& forest, const Iterable& weights, const Iterable& beta) const override {
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

Values inside_of(const Forest& forest, const Any& semiring, const Iterable& weights) {
  if (nb::isinstance<BoundSemiring>(semiring))
    return nb::cast<const BoundSemiring&>(semiring).inside(forest, weights);
  return inside_values(forest, PythonSemiring{semiring}, weights);
}

Values outside_of(const Forest& forest, const Any& semiring, const Iterable& weights, const Iterable& beta) {
  if (nb::isinstance<BoundSemiring>(semiring))
    return nb::cast<const BoundSemiring&>(semiring).outside(forest, weights, beta);
  return outside_values(forest, PythonSemiring{semiring}, weights, beta);
}

void register_base(nb::module_& m) {
  define<BoundSemiring>(m, "_Semiring", "Base class of the semirings of this module.")
      .def_prop_ro("zero", &BoundSemiring::zero, "Neutral element of plus.")
      .def_prop_ro("one", &BoundSemiring::one, "Neutral element of times.")
      .def("plus", &BoundSemiring::plus, nb::arg("a").none(), nb::arg("b").none(), "Returns a + b.")
      .def("times", &BoundSemiring::times, nb::arg("a").none(), nb::arg("b").none(), "Returns a b.")
      .def("star", &BoundSemiring::star, nb::arg("a").none(), R"(Returns 1 + a + a a + ...

Raises:
    ValueError: The sum does not exist.)");
}

void register_algorithms(nb::module_& m) {
  m.def("inside", &inside_of, nb::arg("forest"), nb::arg("semiring").none(), nb::arg("weights"),
        R"(Returns the inside value of every node (Goodman 1999; Li and Eisner 2009, Figure 2).

The root's is the sum over all derivations of the product of their edges' weights.

Args:
    forest: The forest.
    semiring: A semiring of this module, or any object with zero, one, plus(a, b) and times(a, b),
        which is slower.
    weights: A value of the semiring for each edge.

Raises:
    ValueError: There is not one weight per edge.
    TypeError: A weight is no value of the semiring.)");
  m.def("outside", &outside_of, nb::arg("forest"), nb::arg("semiring").none(), nb::arg("weights"),
        nb::arg("inside"), R"(Returns the outside value of every node (Li and Eisner 2009, Figure 3).

Args:
    forest: The forest.
    semiring: A semiring whose times commutes: of this module, or any object with zero, one,
        plus(a, b) and times(a, b), which is slower.
    weights: A value of the semiring for each edge.
    inside: Inside value of each node.

Raises:
    ValueError: There is not one weight per edge and one inside value per node.
    TypeError: A value is none of the semiring.)");
}

using Operand = Annotated<"Scaled | float">;

// Converts the right side of an operator. Another type than numbers may implement the operator itself.
Scaled operand(const nb::handle& value) {
  try {
    return Convert<Scaled>::in(value);
  } catch (const nb::cast_error&) {
    throw nb::next_overload();
  }
}

void make_scaled(Scaled* self, double value) { new (self) Scaled(Convert<Scaled>::in(nb::float_(value))); }

Scaled scaled_exp(double x) {
  if (!(std::abs(x) <= Scaled::kMostLog) && x != -std::numeric_limits<double>::infinity())
    throw std::invalid_argument("expected a number of at most 1e12 in size, or -inf");
  return Scaled::exp(x);
}

Scaled quotient(Scaled a, const Operand& b) {
  const Scaled divisor = operand(b);
  if (divisor.is_zero()) {
    PyErr_SetString(PyExc_ZeroDivisionError, "division by zero");
    nb::raise_python_error();
  }
  return a / divisor;
}

bool is_equal(Scaled a, const nb::object& b) {
  if (nb::isinstance<Scaled>(b)) return a == nb::cast<Scaled>(b);
  double value = 0;
  if (!nb::try_cast(b, value)) throw nb::next_overload();
  return std::isfinite(value) && a == Scaled(value);
}

// A float that is equal has the same hash.
Py_hash_t scaled_hash(Scaled a) {
  const double value = a.value();
  const bool is_float = std::isfinite(value) && Scaled(value) == a;
  return is_float ? nb::hash(nb::float_(value)) : nb::hash(nb::make_tuple(a.sign(), a.log_abs()));
}

nb::str scaled_repr(Scaled a) {
  if (a.is_zero()) return nb::str("Scaled(0)");
  return nb::str("Scaled({}exp({!r}))").format(a.sign() < 0 ? "-" : "", a.log_abs());
}

void register_scaled(nb::module_& m) {
  define<Scaled>(m, "Scaled", "Real number of either sign, as precise as a float and of any size.")
      .def("__init__", &make_scaled, nb::arg("value"), R"(Makes a number from a float.

Args:
    value: The float.

Raises:
    ValueError: The float is not finite.)")
      .def_static("exp", &scaled_exp, nb::arg("x"), R"(Returns e**x.

Raises:
    ValueError: x is neither -inf nor of at most 1e12 in size.)")
      .def_prop_ro("sign", &Scaled::sign, "Sign: -1, 0 or 1.")
      .def_prop_ro("log_abs", &Scaled::log_abs, "Natural log of the absolute value; -inf for 0.")
      .def("__float__", &Scaled::value)
      .def(
          "__add__", [](Scaled a, const Operand& b) { return a + operand(b); }, nb::is_operator())
      .def(
          "__sub__", [](Scaled a, const Operand& b) { return a - operand(b); }, nb::is_operator())
      .def(
          "__mul__", [](Scaled a, const Operand& b) { return a * operand(b); }, nb::is_operator())
      .def("__truediv__", &quotient, nb::is_operator())
      .def("__neg__", [](Scaled a) { return -a; })
      .def("__eq__", &is_equal, nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", &scaled_hash)
      .def("__repr__", &scaled_repr);
}

void register_number_semirings(nb::module_& m) {
  bind<BooleanSemiring>(m, "BooleanSemiring", "Booleans with or and and: is there a derivation?")
      .def(nb::init<>());
  bind<CountingSemiring>(m, "CountingSemiring",
                         "Integers of 0 or more with + and *: the number of derivations.")
      .def(nb::init<>());
  bind<RealSemiring>(m, "RealSemiring", "Floats with + and *.").def(nb::init<>());
  bind<LogSemiring>(m, "LogSemiring", "Natural logs of floats with + and *.").def(nb::init<>());
  bind<TropicalSemiring>(m, "TropicalSemiring", "Costs with min and +: the least total cost.")
      .def(nb::init<>());
  bind<ScaledSemiring>(m, "ScaledSemiring", "Numbers of any size with + and *: Scaled, or floats as input.")
      .def(nb::init<>());
}

void register_derivation_semirings(nb::module_& m) {
  bind<ViterbiSemiring>(m, "ViterbiSemiring", R"(Best derivations: values are (score, edges).

The zero is (-inf, ()). Of equal scores the smaller sequence of edges wins; neither of the sequences of
plus(a, b) may be the beginning of the other, as holds for the derivations of one node.)")
      .def(nb::init<>());
  bind<KBestSemiring>(m, "KBestSemiring", "Lists of the k best derivations (score, edges), best first.")
      .def(
          "__init__",
          [](Bound<KBestSemiring>* self, Py_ssize_t k) {
            if (k < 1) throw std::invalid_argument("k: expected 1 or more, not " + std::to_string(k));
            new (self) Bound(KBestSemiring{static_cast<std::size_t>(k)});
          },
          nb::arg("k"), R"(Makes a semiring of lists of up to k derivations.

Raises:
    ValueError: k is below 1.)");
}

void register_expectation_semirings(nb::module_& m) {
  bind<ExpectationSemiring>(m, "ExpectationSemiring",
                            R"(Expectation semiring E_{R,R^n} (Li and Eisner 2009, Table 1).

Values are (p, r), r a vector of n components. With weights (p, p r) of edges, the root's inside value
is (Z, the sum over derivations of p r). Components are Scaled, or floats as input.)")
      .def(
          "__init__",
          [](Bound<ExpectationSemiring>* self, std::size_t n) {
            new (self) Bound(ExpectationSemiring{{}, {n}});
          },
          nb::arg("n"), "Makes a semiring whose vectors have n components.");
  bind<SecondOrderSemiring>(
      m, "SecondOrderSemiring",
      R"(Second-order expectation semiring E_{R,R^n,R^m,R^(n m)} (Li and Eisner 2009, Table 2).

Values are (p, r, s, t): r a vector of n components, s of m, and t of n m, row by row.)")
      .def(
          "__init__",
          [](Bound<SecondOrderSemiring>* self, std::size_t n, std::size_t m_) {
            new (self) Bound(SecondOrderSemiring{n, m_});
          },
          nb::arg("n"), nb::arg("m"), "Makes a semiring whose vectors have n, m and n m components.");
  bind<LiftedSemiring>(
      m, "LiftedSemiring",
      R"(SecondOrderSemiring as a first-order one over E_{R,R^n} (Li and Eisner 2009, Table 4).

Values are ((p, r), (s, t)).)")
      .def(
          "__init__",
          [](Bound<LiftedSemiring>* self, std::size_t n, std::size_t m_) {
            new (self) Bound(LiftedSemiring{ExpectationSemiring{{}, {n}}, PairModule{n, m_}});
          },
          nb::arg("n"), nb::arg("m"), "Makes a semiring whose vectors have n, m and n m components.");
}

}  // namespace

void register_semiring(nb::module_& m) {
  register_scaled(m);
  register_base(m);
  register_number_semirings(m);
  register_derivation_semirings(m);
  register_expectation_semirings(m);
  register_algorithms(m);
}

}  // namespace hiero
