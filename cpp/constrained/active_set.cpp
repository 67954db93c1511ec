#include "constrained/active_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace exactsindy::constrained {

namespace {

constexpr double kNoise = 1e-4;      // so violations of 1e-15 of the largest coefficient are rounding, too
constexpr double kFeasible = 1e-11;  // violations below this, relative to what was added up, are rounding

}  // namespace

bool ActiveSet::held(const Active& which) const {
  return std::any_of(rows_.begin(), rows_.end(), [&](const Row& r) {
    return r.what.row == which.row && r.what.variable == which.variable && r.what.upper == which.upper;
  });
}

bool ActiveSet::most_violated(const Frame& f, const Box& box, const NodeSolution& out, Active& which,
                              double& by) const {
  by = 0.0;
  double top = 0.0;
  for (double x : out.x) top = std::max(top, kNoise * std::abs(x));
  for (double x : f.beta) top = std::max(top, kNoise * std::abs(x));
  const auto look = [&](const Active& a, double excess, double size) {
    if (excess > kFeasible * size && excess / size > by && !held(a)) by = excess / size, which = a;
  };
  for (std::size_t p = 0; p < f.variables.size(); ++p) {
    const int v = f.variables[p];
    const double x = out.x[p];
    if (x < box.lo[v]) look({-1, v, false}, box.lo[v] - x, std::abs(x) + std::abs(box.lo[v]) + top);
    if (x > box.hi[v]) look({-1, v, true}, x - box.hi[v], std::abs(x) + std::abs(box.hi[v]) + top);
  }
  for (int i = 0; i < system_.below_count; ++i) {
    const double* row = system_.below_row(i);
    double sum = -system_.below_rhs[i], size = std::abs(system_.below_rhs[i]);
    for (std::size_t p = 0; p < f.variables.size(); ++p) {
      sum += row[f.variables[p]] * out.x[p];
      size += std::abs(row[f.variables[p]]) * (std::abs(out.x[p]) + top);
    }
    look({i, -1, false}, sum, size);
  }
  return by > 0.0;
}

void ActiveSet::vector(const Frame& f, const Active& which, double* u) const {
  if (which.row >= 0) {
    space_.combine(f, system_.below_row(which.row), u);
    return;
  }
  std::fill_n(u, space_.stride(), 0.0);
  const auto at = std::find(f.variables.begin(), f.variables.end(), which.variable);
  space_.axpy(which.upper ? 1.0 : -1.0, space_.vector(f, static_cast<int>(at - f.variables.begin())), u);
}

// Squared size of the vectors that the constraint's vector is made of, before anything was imposed.
double ActiveSet::before(const Frame& f, const Active& which) const {
  if (which.row < 0) return space_.original(which.variable);
  double length = 0.0;
  for (int v : f.variables) length += std::abs(system_.below_row(which.row)[v]) * space_.original_norm(v);
  return length * length;
}

// Least-squares coefficients of u on the active vectors, by Cholesky of their products.
void ActiveSet::coefficients(const double* u) {
  const int n = static_cast<int>(rows_.size());
  std::vector<double>&l = cholesky_, &rho = rho_;
  l.resize(static_cast<std::size_t>(n) * n);
  rho.resize(n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) {
      double s = space_.dot(rows_[i].u.data(), rows_[j].u.data());
      for (int k = 0; k < j; ++k) s -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = i == j ? std::sqrt(std::max(s, 1e-300)) : s / l[j * n + j];
    }
    double s = space_.dot(rows_[i].u.data(), u);
    for (int k = 0; k < i; ++k) s -= l[i * n + k] * rho[k];
    rho[i] = s / l[i * n + i];
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) rho[i] -= l[k * n + i] * rho[k];
    rho[i] /= l[i * n + i];
  }
}

// Hold the constraint whose vector is u_.
void ActiveSet::hold(const Active& what, double mu) {
  Row row{what, {}, mu};
  if (!spare_.empty()) {
    row.u = std::move(spare_.back());
    spare_.pop_back();
  }
  row.u.grow(space_.stride());
  std::copy_n(u_.data(), space_.stride(), row.u.data());
  rows_.push_back(std::move(row));
}

void ActiveSet::drop(std::size_t i) {
  spare_.push_back(std::move(rows_[i].u));
  rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(i));
}

void ActiveSet::solve(const Frame& f, const Box& box, NodeSolution& out) {
  const int stride = space_.stride();
  while (!rows_.empty()) drop(rows_.size() - 1);
  out.x.assign(f.beta.begin(), f.beta.end());
  out.r.reserve(stride);
  std::copy_n(f.r.data(), stride, out.r.data());
  out.value = f.base;
  out.infeasible = false;
  Active which;
  double by = 0.0;
  const int most = 10 * (system_.below_count + 2 * static_cast<int>(f.variables.size())) + 20;
  int steps = 0;
  while (most_violated(f, box, out, which, by) && ++steps < most) {
    u_.grow(stride);
    z_.grow(stride);
    vector(f, which, u_.data());
    const double own = before(f, which);
    double mu = 0.0;
    for (;;) {
      coefficients(u_.data());
      std::copy_n(u_.data(), stride, z_.data());
      for (std::size_t i = 0; i < rows_.size(); ++i) space_.axpy(-rho_[i], rows_[i].u.data(), z_.data());
      const double square = space_.dot(z_.data(), z_.data());
      double excess = 0.0;
      if (which.row >= 0) {
        excess = -system_.below_rhs[which.row];
        for (std::size_t p = 0; p < f.variables.size(); ++p)
          excess += system_.below_row(which.row)[f.variables[p]] * out.x[p];
      } else {
        const auto at = std::find(f.variables.begin(), f.variables.end(), which.variable) - f.variables.begin();
        excess = which.upper ? out.x[at] - box.hi[which.variable] : box.lo[which.variable] - out.x[at];
      }
      const bool moves = square > 1e-20 * own;
      const double full = moves ? excess / square : kInf;
      double part = kInf;
      int leaving = -1;
      for (std::size_t i = 0; i < rows_.size(); ++i)
        if (rho_[i] > 1e-14 && rows_[i].mu / rho_[i] < part)
          part = rows_[i].mu / rho_[i], leaving = static_cast<int>(i);
      const double step = std::min(full, part);
      if (step == kInf || ++steps > most) {
        if (step == kInf)
          farkas(1.0, which, out);
        else
          finish(out);
        return;
      }
      for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].mu -= step * rho_[i];
      mu += step;
      if (moves) {
        products_.resize(f.variables.size());
        space_.products(f, z_.data(), products_.data());
        for (std::size_t p = 0; p < f.variables.size(); ++p) out.x[p] -= step * products_[p];
        space_.axpy(step, z_.data(), out.r.data());
      }
      if (step == full) {
        hold(which, mu);
        break;
      }
      drop(leaving);
    }
  }
  if (!rows_.empty()) out.value += space_.dot(out.r.data(), out.r.data()) - space_.dot(f.r.data(), f.r.data());
  finish(out);
}

void ActiveSet::finish(NodeSolution& out) const {
  out.active.clear();
  out.multipliers.equal.assign(system_.equal_count, {});
  out.multipliers.below.assign(system_.below_count, {});
  for (int c = 0; c < system_.equal_count; ++c) out.multipliers.equal[c] = {out.r[space_.tag(c)], 0.0};
  for (const Row& row : rows_) {
    out.active.push_back(row.what);
    if (row.what.row >= 0) out.multipliers.below[row.what.row] = {std::max(row.mu, 0.0), 0.0};
  }
}

// u - sum rho_i u_i vanishes with rho <= 0: as a combination of constraints it has no coefficients left, but a right
// side that cannot be. (The intervals' share is found by the bound itself.)
void ActiveSet::farkas(double mu_new, const Active& added, NodeSolution& out) const {
  finish(out);
  out.infeasible = true;
  for (int c = 0; c < system_.equal_count; ++c) out.multipliers.equal[c] = {z_[space_.tag(c)], 0.0};
  for (Double2& m : out.multipliers.below) m = {};
  out.active.push_back(added);
  if (added.row >= 0) out.multipliers.below[added.row] = {mu_new, 0.0};
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].what.row >= 0) out.multipliers.below[rows_[i].what.row] = {std::max(-rho_[i], 0.0), 0.0};
}

}  // namespace exactsindy::constrained
