// Python side of the loops behind the forms and the trajectory fit.
#include <algorithm>

#include "arrays.hpp"
#include "assembly/integration.hpp"
#include "assembly/smoother.hpp"
#include "assembly/trajectory_fit.hpp"
#include "assembly/triangle.hpp"
#include "assembly/whitening.hpp"

namespace exactsindy {

namespace {

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

void absorb_rows(OutColumns factor, const Columns& rows, bool trapezoid) {
  need(factor.shape(0) == factor.shape(1) && rows.shape(1) == factor.shape(1));
  nb::gil_scoped_release release;
  absorb(factor.data(), factor.shape(0), rows.data(), rows.shape(0), trapezoid);
}

std::pair<bool, bool> copy_step(const TrajectoryStep& step, OutMatrix& states, OutVector& coefficients,
                                OutMatrix& curvature, OutVector& slope) {
  std::copy(step.states.begin(), step.states.end(), states.data());
  std::copy(step.coefficients.begin(), step.coefficients.end(), coefficients.data());
  std::copy(step.curvature.begin(), step.curvature.end(), curvature.data());
  std::copy(step.slope.begin(), step.slope.end(), slope.data());
  return {step.profiled, step.positive};
}

std::pair<bool, bool> step_trajectory(const Matrix& misfit, const Vector& measured, const Matrix& defect,
                                      const Matrix& weights, const Cube& slopes, const Matrix& columns,
                                      const Indices& state_of, const Indices& first, double tight, double damping,
                                      OutMatrix states, OutVector coefficients, OutMatrix curvature, OutVector slope) {
  const std::size_t n = misfit.shape(0), d = misfit.shape(1), m = state_of.size(), p = columns.shape(1);
  need(n >= 2 && d >= 1 && m >= 1 && measured.size() == d && defect.shape(0) == n - 1 && defect.shape(1) == m &&
       weights.shape(0) == n - 1 && weights.shape(1) == 4 && slopes.shape(0) == n && slopes.shape(1) == m &&
       slopes.shape(2) == d && columns.shape(0) == n - 1 && first.size() == m + 1 && states.shape(0) == n &&
       states.shape(1) == d && coefficients.size() == p && curvature.shape(0) == p && curvature.shape(1) == p &&
       slope.size() == p);
  need(first.data()[0] == 0 && static_cast<std::size_t>(first.data()[m]) == p);
  for (std::size_t j = 0; j < m; ++j)
    need(first.data()[j] <= first.data()[j + 1] && state_of.data()[j] >= 0 &&
         state_of.data()[j] < static_cast<std::int64_t>(d));
  // Samples beyond the ends must have no weight: the band would be left.
  need(weights.data()[0] == 0.0 && weights.data()[4 * (n - 2) + 3] == 0.0);
  nb::gil_scoped_release release;
  const TrajectoryFit fit{n,
                          d,
                          m,
                          p,
                          state_of.data(),
                          first.data(),
                          weights.data(),
                          slopes.data(),
                          columns.data(),
                          misfit.data(),
                          defect.data(),
                          tight,
                          damping,
                          measured.data()};
  return copy_step(trajectory_step(fit), states, coefficients, curvature, slope);
}

std::pair<bool, bool> step_integrated(const Matrix& misfit, const Vector& measured, const Matrix& defect,
                                      const Indices& starts, const Cube& forward, const Cube& columns, double tight,
                                      double damping, OutMatrix states, OutVector coefficients, OutMatrix curvature,
                                      OutVector slope) {
  const std::size_t n = misfit.shape(0), d = misfit.shape(1), m = starts.size(), p = columns.shape(2);
  need(n >= 2 && d >= 1 && measured.size() == d && defect.shape(0) == m && defect.shape(1) == d &&
       forward.shape(0) == m && forward.shape(1) == d && forward.shape(2) == d && columns.shape(0) == m &&
       columns.shape(1) == d && states.shape(0) == n && states.shape(1) == d && coefficients.size() == p &&
       curvature.shape(0) == p && curvature.shape(1) == p && slope.size() == p);
  for (std::size_t i = 0; i < m; ++i) need(starts.data()[i] >= 0 && static_cast<std::size_t>(starts.data()[i]) + 1 < n);
  nb::gil_scoped_release release;
  const IntegratedFit fit{n,
                          d,
                          m,
                          p,
                          starts.data(),
                          forward.data(),
                          columns.data(),
                          misfit.data(),
                          defect.data(),
                          tight,
                          damping,
                          measured.data()};
  return copy_step(trajectory_step(fit), states, coefficients, curvature, slope);
}

// Whether the first entries of groups of `width` numbers are registers that exist: 0 .. below - 1.
bool within(const Indices& numbers, std::size_t width, std::size_t place, std::int64_t below, std::int64_t least = 0) {
  for (std::size_t i = place; i < numbers.size(); i += width)
    if (numbers.data()[i] < least || numbers.data()[i] >= below) return false;
  return true;
}

void integrate_intervals(const Matrix& start, const Vector& begin, const Vector& length, const Cube& cubics,
                         const Indices& substeps, const Indices& factors, const Indices& term, const Indices& rate,
                         const Vector& coefficient, const Indices& slope, const Vector& weight, const Vector& nodes,
                         const Matrix& rows, const Vector& weights, bool derivatives, OutMatrix ends) {
  Integration task{start.shape(0),     start.shape(1), cubics.shape(1), term.size(),
                   factors.size() / 2, weight.size(),  nodes.size()};
  const std::size_t m = task.intervals, d = task.states;
  need(d >= 1 && begin.size() == m && length.size() == m && cubics.shape(0) == 4 && cubics.shape(2) == m &&
       substeps.size() == m && factors.size() % 2 == 0 && rate.size() == term.size() &&
       coefficient.size() == term.size() && slope.size() == 3 * weight.size() && rows.shape(0) == task.stages &&
       rows.shape(1) == task.stages && weights.size() == task.stages);
  task.derivatives = derivatives;
  const auto states = static_cast<std::int64_t>(d), registers = static_cast<std::int64_t>(task.registers());
  need(ends.shape(0) == m && ends.shape(1) == d * task.width());
  need(within(substeps, 1, 0, std::int64_t{1} << 20, 1) && within(term, 1, 0, registers) && within(rate, 1, 0, states));
  need(within(slope, 3, 0, states) && within(slope, 3, 1, states) && within(slope, 3, 2, registers));
  for (std::size_t q = 0; q < task.products; ++q)  // a product of registers that are known before it
    for (std::size_t f = 0; f < 2; ++f) {
      const std::int64_t factor = factors.data()[2 * q + f];
      need(factor >= -1 && factor < states + static_cast<std::int64_t>(task.controls + 1 + q) &&
           (factor >= 0 || factors.data()[2 * q] == -1));
    }
  task.start = start.data();
  task.begin = begin.data();
  task.length = length.data();
  task.cubics = cubics.data();
  task.substeps = substeps.data();
  task.factors = factors.data();
  task.term = term.data();
  task.rate = rate.data();
  task.coefficient = coefficient.data();
  task.slope = slope.data();
  task.weight = weight.data();
  task.nodes = nodes.data();
  task.rows = rows.data();
  task.weights = weights.data();
  task.ends = ends.data();
  nb::gil_scoped_release release;
  integrate(task);
}

}  // namespace

void bind_assembly(nb::module_& m) {
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
  m.def("trajectory_step", &step_trajectory, nb::arg("misfit"), nb::arg("measured"), nb::arg("defect"),
        nb::arg("weights"), nb::arg("slopes"), nb::arg("columns"), nb::arg("state_of"), nb::arg("first"),
        nb::arg("tight"), nb::arg("damping"), nb::arg("states").noconvert(), nb::arg("coefficients").noconvert(),
        nb::arg("curvature").noconvert(), nb::arg("slope").noconvert(),
        "One Gauss-Newton step; tells whether curvature and slope, and whether the changes hold.");
  m.def("integrated_step", &step_integrated, nb::arg("misfit"), nb::arg("measured"), nb::arg("defect"),
        nb::arg("starts"), nb::arg("forward"), nb::arg("columns"), nb::arg("tight"), nb::arg("damping"),
        nb::arg("states").noconvert(), nb::arg("coefficients").noconvert(), nb::arg("curvature").noconvert(),
        nb::arg("slope").noconvert(), "The same where the equations of all states were integrated over the intervals.");
  m.def("integrate", &integrate_intervals, nb::arg("start"), nb::arg("begin"), nb::arg("length"), nb::arg("cubics"),
        nb::arg("substeps"), nb::arg("factors"), nb::arg("term"), nb::arg("rate"), nb::arg("coefficient"),
        nb::arg("slope"), nb::arg("weight"), nb::arg("nodes"), nb::arg("rows"), nb::arg("weights"),
        nb::arg("derivatives"), nb::arg("ends").noconvert(),
        "Integrate polynomial right-hand sides over intervals by a Runge-Kutta method; fills the ends.");
}

}  // namespace exactsindy
