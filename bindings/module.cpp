// Arrays in, records out, GIL released.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "assembly/orbit.hpp"
#include "assembly/smoother.hpp"
#include "assembly/triangle.hpp"
#include "assembly/whitening.hpp"
#include "ending.hpp"
#include "search/kernels.hpp"
#include "search/solve.hpp"

namespace nb = nanobind;
using namespace exactsindy;

namespace {

using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::span<const double> view(const Vector& v) { return {v.data(), v.size()}; }

Instance instance_of(const Matrix& factor, const Vector& target, const Vector& rest, const Vector& ridge) {
  if (factor.shape(0) != target.size() || factor.shape(1) != target.size() || ridge.size() != target.size())
    throw std::invalid_argument("factor, target and ridge do not fit together");
  return Instance::from_factor({factor.data(), factor.size()}, view(target), view(rest), view(ridge));
}

// Units of the caller: what solve() does not know once the instance is moved into it.
struct Units {
  Double2 rest;
  int target_exponent;
  std::vector<int> original, exponent;

  explicit Units(const Instance& in)
      : rest(in.rest), target_exponent(in.target_exponent), original(in.original), exponent(in.exponent) {}

  double objective(Double2 error) const { return std::ldexp((rest + error).hi, 2 * target_exponent); }
  // A safe bound of the error stays one: rounded down for the sum.
  double lower(double error) const {
    if (!std::isfinite(error)) return error;
    const double sum = (rest + Double2{error, 0.0}).hi;
    return std::ldexp(sum > 0.0 ? std::nextafter(sum, 0.0) : 0.0, 2 * target_exponent);
  }
  nb::tuple answer(const Answer& a) const {
    std::vector<int> support;
    std::vector<double> coef;
    for (std::size_t i = 0; i < a.support.size(); ++i) {
      support.push_back(original[a.support[i]]);
      coef.push_back(std::ldexp(a.coef[i], target_exponent - exponent[a.support[i]]));
    }
    return nb::make_tuple(support, coef, objective(a.error));
  }
};

const char* stop_name(Stop stop) {
  switch (stop) {
    case Stop::kTime:
      return "TIME_LIMIT";
    case Stop::kNodes:
      return "NODE_LIMIT";
    case Stop::kInterrupted:
      return "INTERRUPTED";
    default:
      return "COMPLETE";
  }
}

nb::dict outcome_of(const Outcome& out, const Units& units) {
  nb::dict d;
  nb::list answers;
  for (const Answer& a : out.answers) answers.append(units.answer(a));
  d["answers"] = answers;
  d["runner_up"] = out.runner_up < 0.0         ? std::numeric_limits<double>::quiet_NaN()
                   : std::isinf(out.runner_up) ? out.runner_up
                                               : units.objective({out.runner_up, 0.0});
  d["lower_bound"] = units.lower(out.lower);
  d["stop"] = stop_name(out.stop);
  d["complete"] = out.complete;
  d["nodes"] = out.nodes;
  d["seconds"] = out.seconds;
  return d;
}

using Given = std::tuple<Matrix, Vector, Vector, Vector, int, std::vector<std::vector<int>>>;

nb::list solve_all(const std::vector<Given>& given, bool path, bool pool, int keep, double within, long capacity,
                   double gap, double seconds, long nodes, int threads, nb::object progress, nb::callable stopped) {
  std::vector<Request> requests;
  std::vector<Units> units;
  for (const auto& [factor, target, rest, ridge, size, starts] : given) {
    const auto begin = std::chrono::steady_clock::now();
    Request request{instance_of(factor, target, rest, ridge), size, {}};
    request.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (size < 0 || size > kMaxSize) throw std::invalid_argument("size out of range");
    units.emplace_back(request.instance);
    for (const auto& start : starts) {
      std::vector<int> columns;
      for (int j : start) {
        const auto& original = request.instance.original;
        const auto at = std::find(original.begin(), original.end(), j);
        if (at != original.end()) columns.push_back(static_cast<int>(at - original.begin()));
      }
      request.starts.push_back(columns);
    }
    requests.push_back(std::move(request));
  }
  Options options;
  options.path = path;
  options.pool = pool;
  options.keep = keep;
  options.within = within;
  options.capacity = static_cast<std::size_t>(capacity);
  options.gap = gap;
  options.limits = {seconds, nodes, threads};

  std::exception_ptr failure;
  double next_report = 0.0;
  const auto watch = [&](const std::vector<Snapshot>& now, long count, double elapsed) {
    nb::gil_scoped_acquire gil;
    if (must_end(stopped, failure)) return false;
    if (progress.is_none() || elapsed < next_report) return true;
    next_report = elapsed + 0.1;
    try {
      nb::list incumbents, bounds, supports;
      for (std::size_t i = 0; i < now.size(); ++i) {
        const double e = now[i].incumbent;
        incumbents.append(std::isfinite(e) ? units[i].objective({e, 0.0}) : e);
        bounds.append(units[i].lower(now[i].lower));
        std::vector<int> support;
        for (int j : now[i].support) support.push_back(units[i].original[j]);
        supports.append(nb::cast(support));
      }
      progress(incumbents, bounds, supports, count, elapsed);
      return true;
    } catch (...) {
      failure = std::current_exception();
      return false;
    }
  };

  std::vector<std::vector<Outcome>> results;
  {
    nb::gil_scoped_release release;
    results = solve(requests, options, watch);
  }
  if (failure) std::rethrow_exception(failure);
  nb::list out;
  for (std::size_t i = 0; i < results.size(); ++i) {
    nb::list sizes;
    for (const Outcome& outcome : results[i]) sizes.append(outcome_of(outcome, units[i]));
    out.append(sizes);
  }
  return out;
}

nb::tuple refit_one(const Matrix& factor, const Vector& target, const Vector& rest, const Vector& ridge,
                    const std::vector<int>& support) {
  const Instance instance = instance_of(factor, target, rest, ridge);
  const Units units(instance);
  std::vector<int> columns;
  for (std::size_t j = 0; j < instance.original.size(); ++j)
    if (std::find(support.begin(), support.end(), instance.original[j]) != support.end())
      columns.push_back(static_cast<int>(j));
  if (columns.size() > kMaxSize) throw std::invalid_argument("support too large");
  Refitter refitter(instance);
  Fit fit;
  refitter.fit(columns, fit);
  const Answer answer{std::vector<int>(fit.support, fit.support + fit.size),
                      std::vector<double>(fit.coef, fit.coef + fit.size), fit.error, std::sqrt(fit.floor)};
  return nb::make_tuple(units.answer(answer), units.lower(answer.lower()));
}

using Indices = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
// Filled in place, so passed with noconvert(): a converted copy would be filled and lost.
using OutVector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutMatrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void need(bool fits) {
  if (!fits) throw std::invalid_argument("the arrays do not fit together");
}

void smooth(const Matrix& values, const Matrix& moments, const std::optional<Matrix>& gram,
            const std::optional<Indices>& start, const std::optional<Matrix>& weights, const Vector& lam,
            const Indices& column, OutVector rss, OutVector trace, const std::optional<OutMatrix>& fitted) {
  const std::size_t n = values.shape(1), m = moments.shape(1), fits = lam.size();
  Line line{n, m, values.data(), moments.data()};
  need(m >= 4 && moments.shape(0) == values.shape(0) && column.size() == fits && rss.size() == fits &&
       trace.size() == fits && (!fitted || (fitted->shape(0) == fits && fitted->shape(1) == n)));
  for (std::size_t i = 0; i < fits; ++i)
    need(column.data()[i] >= 0 && static_cast<std::size_t>(column.data()[i]) < values.shape(0));
  if (gram) {
    need(start && weights && gram->shape(0) == 4 && gram->shape(1) == m && start->size() == n &&
         weights->shape(0) == n && weights->shape(1) == 4);
    for (std::size_t i = 0; i < n; ++i)
      need(start->data()[i] >= 0 && static_cast<std::size_t>(start->data()[i]) + 4 <= m);
    line.gram = gram->data();
    line.start = start->data();
    line.weights = weights->data();
  } else {
    need(n == m);
  }
  nb::gil_scoped_release release;
  penalised_fits(line, {{lam.data(), fits}, {column.data(), fits}}, rss.data(), trace.data(),
                 fitted ? fitted->data() : nullptr);
}

bool factor_tridiagonal(OutVector diagonal, OutVector below) {
  need(diagonal.size() == below.size() + 1);
  nb::gil_scoped_release release;
  return tridiagonal_cholesky({diagonal.data(), diagonal.size()}, {below.data(), below.size()});
}

void whiten_rows(const Matrix& values, std::size_t before, const Matrix& weights, const Vector& change,
                 const Vector& diagonal, const Vector& below, OutVector previous, OutMatrix out) {
  const std::size_t rows = change.size(), columns = values.shape(0), samples = values.shape(1);
  need(before <= 1 && samples > rows + before && samples <= rows + before + 2 && weights.shape(0) == rows &&
       weights.shape(1) == 4 && diagonal.size() == rows && below.size() == rows && previous.size() == columns + 1 &&
       out.shape(0) == columns + 1 && out.shape(1) == rows);
  nb::gil_scoped_release release;
  whiten({rows, columns, samples, values.data(), before, weights.data(), change.data(), diagonal.data(), below.data()},
         previous.data(), out.data());
}

using Columns = nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
using OutColumns = nb::ndarray<double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

void absorb_rows(OutColumns factor, const Columns& rows, bool trapezoid) {
  need(factor.shape(0) == factor.shape(1) && rows.shape(1) == factor.shape(1));
  nb::gil_scoped_release release;
  absorb(factor.data(), factor.shape(0), rows.data(), rows.shape(0), trapezoid);
}

using Cube = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

std::pair<bool, bool> step_orbit(const Matrix& misfit, const Matrix& defect, const Matrix& weights, const Cube& slopes,
                                 const Matrix& columns, const Indices& own, const Indices& first, double tight,
                                 double damping, OutMatrix states, OutVector coefficients, OutMatrix curvature,
                                 OutVector slope) {
  const std::size_t n = misfit.shape(0), d = misfit.shape(1), m = own.size(), p = columns.shape(1);
  need(n >= 2 && d >= 1 && m >= 1 && defect.shape(0) == n - 1 && defect.shape(1) == m && weights.shape(0) == n - 1 &&
       weights.shape(1) == 4 && slopes.shape(0) == n && slopes.shape(1) == m && slopes.shape(2) == d &&
       columns.shape(0) == n - 1 && first.size() == m + 1 && states.shape(0) == n && states.shape(1) == d &&
       coefficients.size() == p && curvature.shape(0) == p && curvature.shape(1) == p && slope.size() == p);
  need(first.data()[0] == 0 && static_cast<std::size_t>(first.data()[m]) == p);
  for (std::size_t j = 0; j < m; ++j)
    need(first.data()[j] <= first.data()[j + 1] && own.data()[j] >= 0 && own.data()[j] < static_cast<std::int64_t>(d));
  // Samples beyond the ends must have no weight: the band would be left.
  need(weights.data()[0] == 0.0 && weights.data()[4 * (n - 2) + 3] == 0.0);
  nb::gil_scoped_release release;
  const OrbitStep step = orbit_step({n, d, m, p, own.data(), first.data(), weights.data(), slopes.data(),
                                     columns.data(), misfit.data(), defect.data(), tight, damping});
  std::copy(step.states.begin(), step.states.end(), states.data());
  std::copy(step.coefficients.begin(), step.coefficients.end(), coefficients.data());
  std::copy(step.curvature.begin(), step.curvature.end(), curvature.data());
  std::copy(step.slope.begin(), step.slope.end(), slope.data());
  return {step.profiled, step.positive};
}

}  // namespace

void bind_constrained(nb::module_& m);  // constrained.cpp

NB_MODULE(_native, m) {
  m.doc() = "Native core of exactsindy: exact best-subset search on a triangular factor.";
  m.attr("max_size") = kMaxSize;
  m.def("kernel_name", [] { return kernels().name; }, "Instruction set chosen at run time.");
  m.def("solve", &solve_all, nb::arg("requests"), nb::arg("path"), nb::arg("pool"), nb::arg("keep"), nb::arg("within"),
        nb::arg("capacity"), nb::arg("gap"), nb::arg("seconds"), nb::arg("nodes"), nb::arg("threads"),
        nb::arg("progress").none(), nb::arg("stopped"),
        "Solve (factor, target, rest, ridge, size, starts) requests; one list of outcomes per request.");
  m.def("refit", &refit_one, nb::arg("factor"), nb::arg("target"), nb::arg("rest"), nb::arg("ridge"),
        nb::arg("support"), "Canonical least-squares fit of one support.");
  m.def("smooth", &smooth, nb::arg("values"), nb::arg("moments"), nb::arg("gram").none(), nb::arg("start").none(),
        nb::arg("weights").none(), nb::arg("lam"), nb::arg("column"), nb::arg("rss").noconvert(),
        nb::arg("trace").noconvert(), nb::arg("fitted").none().noconvert(),
        "Third-difference penalised fits; fills rss, trace and fitted.");
  m.def("absorb", &absorb_rows, nb::arg("factor").noconvert(), nb::arg("rows"), nb::arg("trapezoid"),
        "Overwrite a triangular factor by that of itself with more rows below it.");
  m.def("tridiagonal_cholesky", &factor_tridiagonal, nb::arg("diagonal").noconvert(), nb::arg("below").noconvert(),
        "Factor in place; False if not positive definite.");
  m.def("whiten", &whiten_rows, nb::arg("values"), nb::arg("before"), nb::arg("weights"), nb::arg("change"),
        nb::arg("diagonal"), nb::arg("below"), nb::arg("previous").noconvert(), nb::arg("out").noconvert(),
        "Integrate the columns over the intervals and whiten them and the target; fills out and previous.");
  m.def("orbit_step", &step_orbit, nb::arg("misfit"), nb::arg("defect"), nb::arg("weights"), nb::arg("slopes"),
        nb::arg("columns"), nb::arg("own"), nb::arg("first"), nb::arg("tight"), nb::arg("damping"),
        nb::arg("states").noconvert(), nb::arg("coefficients").noconvert(), nb::arg("curvature").noconvert(),
        nb::arg("slope").noconvert(),
        "One Gauss-Newton step; tells whether curvature and slope, and whether the changes hold.");
  bind_constrained(m);
}
