// Python side of the search under constraints.
#include <algorithm>
#include <chrono>

#include "constrained/search.hpp"
#include "constrained/supports.hpp"
#include "outcome.hpp"

namespace exactsindy {

namespace {

using namespace constrained;

using GivenEquation = std::tuple<Matrix, Vector, Vector, Vector, double>;  // factor, target, rest, ridge, weight
using GivenRows = std::tuple<Matrix, Vector, Matrix, Vector>;              // equalities, inequalities
using GivenIntervals = std::tuple<Vector, Vector, Vector, Vector>;         // lower, upper, least, most
using GivenPresence = std::vector<std::tuple<std::vector<int>, std::vector<int>, int>>;

template <class Given>
std::vector<double> list(const Given& array) {
  return {array.data(), array.data() + array.size()};
}

System system_of(const std::vector<GivenEquation>& given, const GivenRows& rows, const GivenIntervals& intervals,
                 const GivenPresence& presence, double coefficient_limit) {
  std::vector<EquationData> equations;
  std::size_t variables = 0;
  for (const auto& [factor, target, rest, ridge, weight] : given) {
    need_equation(factor, target, ridge);
    equations.push_back({view(factor), view(target), view(rest), view(ridge), weight});
    variables += target.size();
  }
  const auto& [equal, equal_rhs, below, below_rhs] = rows;
  const auto& [lower, upper, least, most] = intervals;
  if (equal.shape(0) != equal_rhs.size() || below.shape(0) != below_rhs.size() || lower.size() != variables ||
      equal.shape(1) != variables || below.shape(1) != variables || upper.size() != variables ||
      least.size() != variables || most.size() != variables)
    throw std::invalid_argument("constraints do not fit the equations");
  Constraints c{list(equal), list(equal_rhs), list(below), list(below_rhs),  list(lower), list(upper),
                list(least), list(most),      {},          coefficient_limit};
  for (const auto& [members, coefs, limit] : presence) {
    if (members.size() != coefs.size()) throw std::invalid_argument("presence row does not fit together");
    for (int v : members)
      if (v < 0 || v >= static_cast<int>(variables)) throw std::invalid_argument("presence row out of range");
    c.presence.push_back({members, coefs, limit});
  }
  return System(equations, c);
}

records::Outcome solve_constrained(const std::vector<GivenEquation>& equations, const GivenRows& rows,
                                   const GivenIntervals& intervals, const GivenPresence& presence,
                                   const std::vector<std::vector<int>>& starts, bool runner_up, int keep, double within,
                                   int constraint_rows, double coefficient_limit, double seconds, std::int64_t nodes,
                                   int threads, const std::optional<Progress>& progress, const Stopped& stopped) {
  const auto begin = std::chrono::steady_clock::now();
  const System system = system_of(equations, rows, intervals, presence, coefficient_limit);
  constrained::Options options;
  options.runner_up = runner_up;
  options.keep = keep;
  options.within = within;
  options.constraint_rows = std::clamp(constraint_rows, 0, static_cast<int>(presence.size()));
  options.limits = {seconds, nodes, threads};
  const Units units = system.units();
  Reporter reporter(progress, stopped);
  const auto watch = [&](std::vector<Snapshot> now, std::int64_t count, double elapsed) {
    for (Snapshot& one : now) one = in_units(one, units);
    return reporter(now, count, elapsed);
  };
  Outcome outcome;
  {
    nb::gil_scoped_release release;
    outcome = constrained::Search(system, options, watch).run(starts);
  }
  reporter.rethrow();
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return to_python(outcome, units);
}

// One entry per support: its best fit (on the terms that matter), None where there is none, and a lower bound: infinite
// where nothing feasible counts, that of no use (0) where it was not found out.
std::vector<std::pair<std::optional<records::Answer>, double>> fit_supports(
    const std::vector<GivenEquation>& equations, const GivenRows& rows, const GivenIntervals& intervals,
    const GivenPresence& presence, const std::vector<std::vector<int>>& supports, double coefficient_limit) {
  const System system = system_of(equations, rows, intervals, presence, coefficient_limit);
  const Units units = system.units();
  for (const auto& support : supports)
    for (std::size_t i = 0; i < support.size(); ++i)
      if (support[i] < (i ? support[i - 1] + 1 : 0) || support[i] >= system.variables)
        throw std::invalid_argument("supports must be increasing and in range");
  std::vector<Fitted> fits;
  {
    nb::gil_scoped_release release;
    Supports all(system, static_cast<int>(presence.size()));
    for (const auto& support : supports) fits.push_back(all.fit(support));
  }
  std::vector<std::pair<std::optional<records::Answer>, double>> out;
  for (const Fitted& fit : fits) {
    const double lower = fit.known ? units.lower(fit.lower) : 0.0;
    out.emplace_back(fit.feasible ? std::optional(to_python(fit.answer, units)) : std::nullopt, lower);
  }
  return out;
}

}  // namespace

void bind_constrained(nb::module_& m) {
  m.def("solve_constrained", &solve_constrained, nb::arg("equations"), nb::arg("rows"), nb::arg("intervals"),
        nb::arg("presence"), nb::arg("starts"), nb::arg("runner_up"), nb::arg("keep"), nb::arg("within"),
        nb::arg("constraint_rows"), nb::arg("coefficient_limit"), nb::arg("seconds"), nb::arg("nodes"),
        nb::arg("threads"), nb::arg("progress").none(), nb::arg("stopped"),
        "Return the best supports of several equations under constraints.");
  m.def("fit_supports", &fit_supports, nb::arg("equations"), nb::arg("rows"), nb::arg("intervals"), nb::arg("presence"),
        nb::arg("supports"), nb::arg("coefficient_limit"),
        "Return the fit of each support under constraints (None: there is none) and a lower bound of its objective.");
}

}  // namespace exactsindy
