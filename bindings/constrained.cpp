// Python side of the constrained search: arrays in, records out, GIL released.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>

#include "ending.hpp"
#include "constrained/search.hpp"

namespace nb = nanobind;
using namespace exactsindy;
using namespace exactsindy::constrained;

namespace {

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using GivenEquation = std::tuple<Matrix, Vector, Vector, Vector, double>;
using GivenRows = std::tuple<Matrix, Vector, Matrix, Vector>;
using GivenIntervals = std::tuple<Vector, Vector, Vector, Vector>;
using GivenPresence = std::vector<std::tuple<std::vector<int>, std::vector<int>, int>>;

std::span<const double> view(const Vector& v) { return {v.data(), v.size()}; }
std::vector<double> list(const Vector& v) { return {v.data(), v.data() + v.size()}; }
std::vector<double> list(const Matrix& m) { return {m.data(), m.data() + m.size()}; }

System system_of(const std::vector<GivenEquation>& given, const GivenRows& rows, const GivenIntervals& intervals,
                 const GivenPresence& presence) {
  std::vector<EquationData> equations;
  std::size_t variables = 0;
  for (const auto& [factor, target, rest, ridge, weight] : given) {
    if (factor.shape(0) != target.size() || factor.shape(1) != target.size() || ridge.size() != target.size())
      throw std::invalid_argument("factor, target and ridge do not fit together");
    equations.push_back({{factor.data(), factor.size()}, view(target), view(rest), view(ridge), weight});
    variables += target.size();
  }
  const auto& [equal, equal_rhs, below, below_rhs] = rows;
  const auto& [lower, upper, least, most] = intervals;
  if (equal.shape(0) != equal_rhs.size() || below.shape(0) != below_rhs.size() || lower.size() != variables ||
      equal.shape(1) != variables || below.shape(1) != variables || upper.size() != variables ||
      least.size() != variables || most.size() != variables)
    throw std::invalid_argument("constraints do not fit the equations");
  Constraints c{list(equal), list(equal_rhs), list(below), list(below_rhs), list(lower), list(upper),
                list(least), list(most),      {}};
  for (const auto& [members, coefs, limit] : presence) {
    if (members.size() != coefs.size()) throw std::invalid_argument("presence row does not fit together");
    for (int v : members)
      if (v < 0 || v >= static_cast<int>(variables)) throw std::invalid_argument("presence row out of range");
    c.presence.push_back({members, coefs, limit});
  }
  return System(equations, c);
}

const char* end_name(End end) {
  switch (end) {
    case End::kTime:
      return "TIME_LIMIT";
    case End::kNodes:
      return "NODE_LIMIT";
    case End::kInterrupted:
      return "INTERRUPTED";
    default:
      return "COMPLETE";
  }
}

nb::tuple answer_of(const System& s, const std::vector<int>& support, const std::vector<double>& coef, Double2 error) {
  std::vector<double> values;
  for (std::size_t i = 0; i < support.size(); ++i) values.push_back(s.user(support[i], coef[i]));
  return nb::make_tuple(support, values, s.objective(error));
}

double lower_of(const System& s, double error) {
  if (!std::isfinite(error)) return error;
  const double value = s.objective({std::max(error, 0.0), 0.0});
  return value > 0.0 ? std::nextafter(value, 0.0) : 0.0;
}

// Calls the progress function and looks for Ctrl-C.
struct Reporter {
  nb::object progress;
  nb::callable stopped;
  const System& system;
  std::exception_ptr failure;

  bool operator()(double incumbent, double lower, long nodes, double seconds) {
    nb::gil_scoped_acquire gil;
    if (must_end(stopped, failure)) return false;
    if (progress.is_none()) return true;
    try {
      progress(system.objective({incumbent, 0.0}), lower_of(system, lower), nodes, seconds);
      return true;
    } catch (...) {
      failure = std::current_exception();
      return false;
    }
  }
};

nb::dict solve_constrained(const std::vector<GivenEquation>& equations, const GivenRows& rows,
                           const GivenIntervals& intervals, const GivenPresence& presence,
                           const std::vector<std::vector<int>>& starts, bool runner_up, int keep, double within,
                           int constraint_rows, double seconds, long nodes, nb::object progress, nb::callable stopped) {
  const auto begin = std::chrono::steady_clock::now();
  const System system = system_of(equations, rows, intervals, presence);
  Options options;
  options.runner_up = runner_up;
  options.keep = keep;
  options.within = within;
  options.constraint_rows = std::clamp(constraint_rows, 0, static_cast<int>(presence.size()));
  options.seconds = seconds;
  options.nodes = nodes;
  Reporter reporter{progress, stopped, system, nullptr};
  Outcome out;
  {
    nb::gil_scoped_release release;
    Search search(system, options, [&](double a, double b, long c, double d) { return reporter(a, b, c, d); });
    out = search.run(starts);
  }
  const double seconds_spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (reporter.failure) std::rethrow_exception(reporter.failure);
  nb::dict d;
  nb::list answers;
  for (const auto& a : out.answers) answers.append(answer_of(system, a.support, a.coef, a.error));
  d["answers"] = answers;
  d["runner_up"] = out.runner_up < 0.0         ? std::numeric_limits<double>::quiet_NaN()
                   : std::isinf(out.runner_up) ? out.runner_up
                                               : system.objective({out.runner_up, 0.0});
  d["lower_bound"] = lower_of(system, out.lower);
  d["stop"] = end_name(out.end);
  d["complete"] = out.complete;
  d["nodes"] = out.nodes;
  d["seconds"] = seconds_spent;
  return d;
}

}  // namespace

void bind_constrained(nb::module_& m) {
  m.def("solve_constrained", &solve_constrained, nb::arg("equations"), nb::arg("rows"), nb::arg("intervals"),
        nb::arg("presence"), nb::arg("starts"), nb::arg("runner_up"), nb::arg("keep"), nb::arg("within"),
        nb::arg("constraint_rows"), nb::arg("seconds"), nb::arg("nodes"), nb::arg("progress").none(),
        nb::arg("stopped"), "Best support of several equations under constraints.");
}
