#include "assembly/trajectory_fit.hpp"

#include <algorithm>
#include <cmath>

namespace exactsindy {

namespace {

// The symmetric band matrix of the states (columns of its lower half) beside what couples it to the coefficients.
struct Border {
  std::size_t unknowns, reach, width;  // width: coefficients and the right-hand side
  std::vector<double> band, rows;

  Border(std::size_t count, std::size_t half, std::size_t columns)
      : unknowns(count), reach(half), width(columns), band(count * half), rows(count * columns) {}

  double* column(std::size_t v) { return band.data() + v * reach; }
  double* row(std::size_t v) { return rows.data() + v * width; }
};

// Row (i, j) of R over the up to four samples from `low` on.
void fill_row(const TrajectoryFit& fit, std::size_t i, std::size_t j, std::size_t low, std::size_t high, double* row) {
  std::fill(row, row + (high - low) * fit.states, 0.0);
  for (std::size_t s = low; s < high; ++s) {
    const double weight = fit.weights[4 * i + (s + 1 - i)];
    const double* slope = fit.slopes + (s * fit.equations + j) * fit.states;
    for (std::size_t l = 0; l < fit.states; ++l) row[(s - low) * fit.states + l] = -weight * slope[l];
  }
  row[(i - low) * fit.states + fit.state_of[j]] -= 1.0;
  row[(i + 1 - low) * fit.states + fit.state_of[j]] += 1.0;
}

// Adds the rows of all intervals to the normal equations.
void gather(const TrajectoryFit& fit, Border& a, TrajectoryStep& step) {
  const std::size_t p = fit.coefficients;
  std::vector<double> row(4 * fit.states);
  for (std::size_t i = 0; i + 1 < fit.samples; ++i) {
    const double* weight = fit.weights + 4 * i;
    if (weight[0] == 0.0 && weight[1] == 0.0 && weight[2] == 0.0 && weight[3] == 0.0) continue;
    const std::size_t low = i ? i - 1 : 0, high = std::min(i + 3, fit.samples), count = (high - low) * fit.states;
    for (std::size_t j = 0; j < fit.equations; ++j) {
      fill_row(fit, i, j, low, high, row.data());
      const double residual = fit.defect[i * fit.equations + j];
      const double* terms = fit.columns + i * p;
      const std::size_t begin = fit.first[j], end = fit.first[j + 1];
      for (std::size_t u = 0; u < count; ++u) {
        const double scaled = fit.tight * row[u];
        if (scaled == 0.0) continue;
        double* column = a.column(low * fit.states + u);
        for (std::size_t v = u; v < count; ++v) column[v - u] += scaled * row[v];
        double* border = a.row(low * fit.states + u);
        for (std::size_t q = begin; q < end; ++q) border[q] -= scaled * terms[q];
        border[p] -= scaled * residual;
      }
      for (std::size_t q = begin; q < end; ++q) {
        const double scaled = fit.tight * terms[q];
        for (std::size_t r = begin; r <= q; ++r) step.curvature[q * p + r] += scaled * terms[r];
        step.slope[q] += scaled * residual;
      }
    }
  }
}

// Solves the dense system of the coefficients by Cholesky.
bool solve_coefficients(const TrajectoryStep& step, double damping, std::vector<double>& x) {
  const std::size_t p = x.size();
  std::vector<double> l = step.curvature;
  for (std::size_t q = 0; q < p; ++q) l[q * p + q] *= 1.0 + damping;
  x = step.slope;
  for (std::size_t q = 0; q < p; ++q) {
    for (std::size_t r = 0; r <= q; ++r) {
      double sum = l[q * p + r];
      for (std::size_t t = 0; t < r; ++t) sum -= l[q * p + t] * l[r * p + t];
      if (r < q) {
        l[q * p + r] = sum / l[r * p + r];
      } else {
        if (!(sum > 0.0) || !std::isfinite(sum)) return false;
        l[q * p + q] = std::sqrt(sum);
      }
    }
    for (std::size_t r = 0; r < q; ++r) x[q] -= l[q * p + r] * x[r];
    x[q] /= l[q * p + q];
  }
  for (std::size_t q = p; q-- > 0;) {
    for (std::size_t r = q + 1; r < p; ++r) x[q] -= l[r * p + q] * x[r];
    x[q] /= l[q * p + q];
  }
  return true;
}

// Adds the rows of all integrated intervals: -A over the states at their beginning, 1 at their end.
void gather(const IntegratedFit& fit, Border& a, TrajectoryStep& step) {
  const std::size_t p = fit.coefficients, d = fit.states;
  std::vector<double> row(2 * d);
  for (std::size_t i = 0; i < fit.intervals; ++i) {
    const std::size_t low = static_cast<std::size_t>(fit.starts[i]) * d;
    for (std::size_t j = 0; j < d; ++j) {
      const double* forward = fit.forward + (i * d + j) * d;
      for (std::size_t l = 0; l < d; ++l) row[l] = -forward[l];
      std::fill(row.begin() + static_cast<std::ptrdiff_t>(d), row.end(), 0.0);
      row[d + j] = 1.0;
      const double residual = fit.defect[i * d + j];
      const double* terms = fit.columns + (i * d + j) * p;
      for (std::size_t u = 0; u < 2 * d; ++u) {
        const double scaled = fit.tight * row[u];
        if (scaled == 0.0) continue;
        double* column = a.column(low + u);
        for (std::size_t v = u; v < 2 * d; ++v) column[v - u] += scaled * row[v];
        double* border = a.row(low + u);
        for (std::size_t q = 0; q < p; ++q) border[q] -= scaled * terms[q];
        border[p] -= scaled * residual;
      }
      for (std::size_t q = 0; q < p; ++q) {
        const double scaled = fit.tight * terms[q];
        if (scaled == 0.0) continue;
        for (std::size_t r = 0; r <= q; ++r) step.curvature[q * p + r] += scaled * terms[r];
        step.slope[q] += scaled * residual;
      }
    }
  }
}

// Gathers the rows of a fit whose intervals reach over `reach` samples, and solves for all changes.
template <class Fit>
TrajectoryStep solve_step(const Fit& fit, std::size_t reach, const Loops& with) {
  const std::size_t p = fit.coefficients, unknowns = fit.samples * fit.states;
  TrajectoryStep step;
  step.curvature.assign(p * p, 0.0);
  step.slope.assign(p, 0.0);
  step.coefficients.assign(p, 0.0);
  step.states.assign(unknowns, 0.0);
  Border a(unknowns, reach * fit.states, p + 1);
  gather(fit, a, step);
  for (std::size_t v = 0; v < unknowns; ++v) {
    const double weight = fit.measured ? fit.measured[v % fit.states] : 1.0;
    a.column(v)[0] = (a.column(v)[0] + weight) * (1.0 + fit.damping);
    a.row(v)[p] += weight * fit.misfit[v];
  }
  if (!with.eliminate({unknowns, a.reach, a.width, a.band.data(), a.rows.data()}, step.curvature.data(),
                      step.slope.data()))
    return step;
  for (std::size_t q = 0; q < p; ++q)
    for (std::size_t r = q + 1; r < p; ++r) step.curvature[q * p + r] = step.curvature[r * p + q];
  step.profiled = true;
  step.positive = solve_coefficients(step, fit.damping, step.coefficients);
  if (!step.positive) return step;
  for (std::size_t v = unknowns; v-- > 0;) {
    const double* row = a.row(v);
    const double* column = a.column(v);
    double sum = row[p];
    for (std::size_t q = 0; q < p; ++q) sum -= row[q] * step.coefficients[q];
    const std::size_t count = std::min(a.reach, unknowns - v);
    for (std::size_t k = 1; k < count; ++k) sum -= column[k] * step.states[v + k];
    step.states[v] = sum / column[0];
  }
  return step;
}

}  // namespace

TrajectoryStep trajectory_step(const TrajectoryFit& fit, const Loops& with) { return solve_step(fit, 4, with); }

TrajectoryStep trajectory_step(const IntegratedFit& fit, const Loops& with) { return solve_step(fit, 2, with); }

}  // namespace exactsindy
