#include "constrained/fitter.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace exactsindy::constrained {

namespace {

constexpr double kNegative = 1e-12;
constexpr double kOnce = 1e-4;  // a vector that keeps this share of its square has lost no digits that matter
constexpr int kMostSteps = 60;

Double2 scaled(Double2 a, double b) { return a * Double2{b, 0.0}; }

}  // namespace

Fitter::Fitter(const System& system, const Bound& bound)
    : system_(system), bound_(bound), kernels_(kernels()), rows_(system) {
  for (const Block& b : system.blocks) root_.push_back(sqrt(Double2{b.weight, 0.0}));
  omega_hi_.reset(std::max(system.rows, 1));
  omega_lo_.reset(std::max(system.rows, 1));
}

// The active inequalities according to plain doubles; false if it is proved that there is no feasible point.
bool Fitter::guess(const Box& box, double cut) {
  if (inequalities(box) == 0 || support_.empty()) return true;
  const std::vector<int> support = support_;
  Space space(system_, support);
  int contradictory = -1;
  const Frame frame = space.root(contradictory);
  ActiveSet inequalities(system_, space);
  NodeSolution node;
  inequalities.solve(frame, box, node);
  if (node.infeasible && infeasible(support, box, node.active, cut)) return false;
  rows_.start(support_);
  for (const Active& a : node.active) rows_.add(a, box);
  return true;
}

bool Fitter::infeasible(std::span<const int> support, const Box& box, const std::vector<Active>& active, double cut) {
  support_.assign(support.begin(), support.end());
  std::sort(support_.begin(), support_.end());
  rows_.start(support_);
  for (const Active& a : active) rows_.add(a, box);
  rows_.eliminate();
  for (int i = 0; i < rows_.count(); ++i) {
    if (rows_.pivot(i) >= 0 || rows_.rhs(i).hi == 0.0) continue;
    // A combination of rows without coefficients, and a right side that is not 0: it must be negative.
    std::vector<Double2> weights;
    for (const Double2& w : rows_.made_of(i)) weights.push_back(rows_.rhs(i).hi > 0.0 ? -w : w);
    if (bound_.infeasible(rows_.multipliers(weights), support_, box, cut)) return true;
  }
  return false;
}

// into (+)= factor * column, with the roots of the weights and the ridge rows.
void Fitter::load(int p, Double2 factor, Span2 into, bool add) {
  const int v = support_[p];
  const Block& b = system_.blocks[system_.block_of[v]];
  if (!add) std::fill_n(into.hi, length_, 0.0), std::fill_n(into.lo, length_, 0.0);
  double* zeros = const_cast<double*>(system_.zeros.data());
  const Span2 column{const_cast<double*>(system_.column[v]), zeros};
  const Double2 weight = b.weight == 1.0 ? factor : factor * root_[system_.block_of[v]];
  kernels_.axpy2(weight, column, {into.hi + b.row, into.lo + b.row}, b.rows);
  if (system_.ridge[v] > 0.0) {
    const int at = system_.rows + p;
    const Double2 value = Double2{into.hi[at], into.lo[at]} + factor * sqrt(Double2{system_.ridge[v], 0.0});
    into.hi[at] = value.hi, into.lo[at] = value.lo;
  }
}

// Least squares over the free positions: modified Gram-Schmidt with reorthogonalisation.
void Fitter::least_squares(Fit& out) {
  const std::vector<int>& free = rows_.free();
  const int s = static_cast<int>(support_.size()), f = static_cast<int>(free.size()), c = rows_.count();
  length_ = system_.rows + (system_.has_ridge ? padded(s) : 0);
  hi_.reserve(static_cast<std::size_t>(f + 1) * length_);
  lo_.reserve(static_cast<std::size_t>(f + 1) * length_);
  std::vector<int> kept;
  factor_.assign(static_cast<std::size_t>(f) * f, {});
  const auto r = [&](int i, int l) -> Double2& { return factor_[static_cast<std::size_t>(i) * f + l]; };
  volume_.assign(system_.blocks.size(), 1.0);
  out.dependent = false;
  for (int k = 0; k < f; ++k) {
    const int m = static_cast<int>(kept.size());
    const Span2 q = vector(m);
    load(free[k], {1.0, 0.0}, q, false);
    double size = system_.norm[support_[free[k]]];
    for (int i = 0; i < c; ++i) {
      if (rows_.pivot(i) < 0 || rows_.entry(i, free[k]).hi == 0.0) continue;
      load(rows_.pivot(i), -rows_.entry(i, free[k]), q, true);
      size += std::abs(rows_.entry(i, free[k]).hi) * system_.norm[support_[rows_.pivot(i)]];
    }
    for (int i = 0; i < m; ++i) r(i, m) = {};
    Double2 square = kernels_.dot2(q, q, length_);
    for (int pass = 0; pass < 2 && m > 0; ++pass) {
      for (int i = 0; i < m; ++i) {
        const Double2 h = kernels_.dot2(vector(i), q, length_);
        kernels_.axpy2(-h, vector(i), q, length_);
        r(i, m) = r(i, m) + h;
      }
      const double before = square.hi;
      square = kernels_.dot2(q, q, length_);
      if (square.hi > kOnce * before) break;
    }
    const Double2 norm = sqrt(square);
    double& volume = volume_[system_.block_of[support_[free[k]]]];
    if (norm.hi <= kDependent * size || volume * (norm.hi / size) <= kLeastVolume) {
      out.dependent = true;
      continue;
    }
    volume *= norm.hi / size;
    const Double2 inverse = Double2{1.0, 0.0} / norm;
    for (int i = 0; i < length_; ++i) {
      const Double2 x = Double2{q.hi[i], q.lo[i]} * inverse;
      q.hi[i] = x.hi, q.lo[i] = x.lo;
    }
    r(m, m) = norm;
    kept.push_back(k);
  }
  const int m = static_cast<int>(kept.size());
  const Span2 target = vector(m);
  std::fill_n(target.hi, length_, 0.0), std::fill_n(target.lo, length_, 0.0);
  for (std::size_t k = 0; k < system_.blocks.size(); ++k) {
    const Block& b = system_.blocks[k];
    double* zeros = const_cast<double*>(system_.zeros.data());
    kernels_.axpy2(root_[k], {const_cast<double*>(system_.z.data()) + b.row, zeros},
                   {target.hi + b.row, target.lo + b.row}, b.rows);
  }
  for (int i = 0; i < c; ++i)
    if (rows_.pivot(i) >= 0 && rows_.rhs(i).hi != 0.0) load(rows_.pivot(i), -rows_.rhs(i), target, true);
  std::vector<Double2> y(m);
  double before = kernels_.dot(target.hi, target.hi, length_);
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < m; ++i) {
      const Double2 h = kernels_.dot2(vector(i), target, length_);
      kernels_.axpy2(-h, vector(i), target, length_);
      y[i] = y[i] + h;
    }
    const double after = kernels_.dot(target.hi, target.hi, length_);
    if (after > kOnce * before) break;
    before = after;
  }
  out.x.assign(s, {});
  for (int i = m - 1; i >= 0; --i) {
    for (int l = i + 1; l < m; ++l) y[i] = y[i] - r(i, l) * y[l];
    y[i] = y[i] / r(i, i);
    out.x[free[kept[i]]] = y[i];
  }
  kept_ = m;
  spreads(kept);
  for (int i = 0; i < c; ++i) {
    if (rows_.pivot(i) < 0) continue;
    Double2 x = rows_.rhs(i);
    for (int k : free)
      if (rows_.entry(i, k).hi != 0.0) x = x - rows_.entry(i, k) * out.x[k];
    out.x[rows_.pivot(i)] = x;
  }
}

// Norms of the rows of the map from the least-squares residual to the coefficients: how far they move as the value
// rises. (The factor is right to about 1e-17: columns are farther than 1e-13 from dependence.)
void Fitter::spreads(const std::vector<int>& kept) {
  const std::vector<int>& free = rows_.free();
  const int m = static_cast<int>(kept.size()), s = static_cast<int>(support_.size());
  const std::size_t f = free.size();
  inverse_.assign(static_cast<std::size_t>(s) * m, 0.0);  // rows by position
  const auto inverse = [&](int p, int l) -> double& { return inverse_[static_cast<std::size_t>(p) * m + l]; };
  for (int i = m - 1; i >= 0; --i)
    for (int l = i; l < m; ++l) {
      double sum = l == i ? 1.0 : 0.0;
      for (int p = i + 1; p <= l; ++p) sum -= factor_[i * f + p].hi * inverse(free[kept[p]], l);
      inverse(free[kept[i]], l) = sum / factor_[i * f + i].hi;
    }
  for (int i = 0; i < rows_.count(); ++i)
    for (int k = 0; k < m && rows_.pivot(i) >= 0; ++k)
      for (int l = 0; l < m; ++l)
        inverse(rows_.pivot(i), l) -= rows_.entry(i, free[kept[k]]).hi * inverse(free[kept[k]], l);
  spread_.assign(s, 0.0);
  for (int p = 0; p < s; ++p) {
    for (int l = 0; l < m; ++l) spread_[p] += inverse(p, l) * inverse(p, l);
    spread_[p] = std::sqrt(spread_[p]) * (1.0 + 1e-6);
  }
}

// omega, and the multipliers of the rows from the gradient on the pivot columns.
void Fitter::multipliers(const Fit& out) {
  const int c = rows_.count();
  double* zeros = const_cast<double*>(system_.zeros.data());
  // The target projected twice is orthogonal to the columns to its own size, not only to that of the data.
  const Span2 target = vector(kept_);
  for (std::size_t k = 0; k < system_.blocks.size(); ++k) {
    const Block& b = system_.blocks[k];
    const Double2 inverse = Double2{1.0, 0.0} / root_[k];
    for (int i = b.row; i < b.row + b.rows; ++i) {
      Double2 value{target.hi[i], target.lo[i]};
      if (b.weight != 1.0) value = value * inverse;
      omega_hi_[i] = value.hi, omega_lo_[i] = value.lo;
    }
  }
  multiplier_.assign(c, {});
  for (int i = 0; i < c; ++i) {
    if (rows_.pivot(i) < 0) continue;
    const int v = support_[rows_.pivot(i)];
    const Block& b = system_.blocks[system_.block_of[v]];
    Double2 g = scaled(kernels_.dot2({const_cast<double*>(system_.column[v]), zeros},
                                     {omega_hi_.data() + b.row, omega_lo_.data() + b.row}, b.rows),
                       b.weight);
    g = g - scaled(out.x[rows_.pivot(i)], system_.ridge[v]);
    for (int j = 0; j < c; ++j) multiplier_[j] = multiplier_[j] + g * rows_.made_of(i)[j];
  }
}

// One step of the active set where doubles had guessed wrong; false if nothing is to be done.
bool Fitter::improve(const Box& box, const Fit& out) {
  double worst = 1e-12, top = 0.0;
  for (const Double2& x : out.x) top = std::max(top, kRounding * std::abs(x.hi));
  Active which;
  const auto look = [&](const Active& a, double excess, double size) {
    if (excess > worst * size && !rows_.held(a)) worst = excess / size, which = a;
  };
  for (std::size_t p = 0; p < support_.size(); ++p) {
    const int v = support_[p];
    const double x = out.x[p].hi;
    look({-1, v, false}, box.lo[v] - x, std::abs(x) + std::abs(box.lo[v]) + top);
    look({-1, v, true}, x - box.hi[v], std::abs(x) + std::abs(box.hi[v]) + top);
  }
  for (int i = 0; i < system_.below_count; ++i) {
    double sum = -system_.below_rhs[i], size = std::abs(system_.below_rhs[i]);
    for (std::size_t p = 0; p < support_.size(); ++p) {
      const double c = system_.below_row(i)[support_[p]], part = c * out.x[p].hi;
      sum += part, size += std::abs(part) + std::abs(c) * top;
    }
    look({i, -1, false}, sum, size);
  }
  if (which.row >= 0 || which.variable >= 0) {
    rows_.add(which, box);
    return true;
  }
  // (By the rule of dependence, a slope of 1e-13 of the residual is none.)
  double size = 0.1 * std::sqrt(kernels_.dot(omega_hi_.data(), omega_hi_.data(), system_.rows)), least = 0.0;
  for (const Double2& m : multiplier_) size = std::max(size, std::abs(m.hi));
  int leaving = -1;
  for (int i = 0; i < rows_.count(); ++i)
    if (rows_.inequality(i) && multiplier_[i].hi < least) least = multiplier_[i].hi, leaving = i;
  if (leaving < 0 || least > -kNegative * size) return false;
  rows_.remove(leaving);
  return true;
}

Double2 Fitter::own_value(const Fit& out) const {
  Double2 value{};
  for (const Block& b : system_.blocks) {
    const Span2 omega{const_cast<double*>(omega_hi_.data()) + b.row, const_cast<double*>(omega_lo_.data()) + b.row};
    value = value + scaled(kernels_.dot2(omega, omega, b.rows), b.weight);
  }
  for (std::size_t p = 0; p < support_.size(); ++p)
    value = value + scaled(out.x[p] * out.x[p], system_.ridge[support_[p]]);
  return value;
}

int Fitter::inequalities(const Box& box) const {
  int count = system_.below_count;
  for (int v : support_) count += std::isfinite(box.lo[v]) + std::isfinite(box.hi[v]);
  return count;
}

void Fitter::evaluate(const Box& box, double cut, Fit& out) {
  const int s = static_cast<int>(support_.size());
  const Double2 value = own_value(out);
  double scale = system_.z_norm;
  out.coef.resize(s);
  for (int p = 0; p < s; ++p) {
    scale += std::abs(out.x[p].hi) * system_.norm[support_[p]];
    out.coef[p] = out.x[p].hi;
  }
  double floor = std::ldexp(scale, -96);
  floor *= floor;
  out.error = value.hi <= floor ? Double2{} : quantise(value);
  // Of points worse than this one nothing is claimed.
  const double value_cut = out.error.hi * (1.0 + 1e-9) + floor;
  const double own = std::isfinite(cut) ? std::max(cut, value_cut) : value_cut;
  Box near = box;
  if (!centre_.empty()) {
    const double root = std::sqrt(std::max(own - centre_value_, 0.0) + floor) * (1.0 + 1e-6) + 1e-30;
    for (int p = 0; p < s; ++p) {
      const int v = support_[p];
      const double reach = centre_spread_[p] * root + 1e-15 * std::abs(centre_[p]);
      near.lo[v] = std::max(near.lo[v], centre_[p] - reach);
      near.hi[v] = std::min(near.hi[v], centre_[p] + reach);
    }
  }
  out.lower = bound_.value(omega_hi_.data(), omega_lo_.data(), rows_.multipliers(multiplier_), support_, near,
                           centre_.empty() ? own : kInf);  // (then the box is as narrow as the value allows)
  if (out.dependent) out.lower = std::max(out.lower, out.error.hi * (1.0 - 1e-14));  // by the rule of 1e-13
  out.lower = std::clamp(out.lower, 0.0, out.error.hi);
}

void Fitter::fit(std::span<const int> support, const Box& box, double cut, Fit& out) {
  support_.assign(support.begin(), support.end());
  out.support = support_;
  out.feasible = out.counts = false;
  out.known = true;
  rows_.start(support_);
  for (int v : support_)
    if (box.lo[v] > box.hi[v]) return;
  // Equalities first: where they contradict each other nothing else matters.
  if (!rows_.eliminate()) return;
  const int equalities = rows_.count();
  // With equalities alone the coefficients move no farther from their optimum than the value allows.
  centre_.clear();
  bool fresh = inequalities(box) == 0 || !bound_.verified();
  if (fresh) {
    least_squares(out);
    multipliers(out);
    if (!out.dependent) {
      for (const Double2& x : out.x) centre_.push_back(x.hi);
      centre_spread_ = spread_;
      centre_value_ = own_value(out).hi * (1.0 - 1e-14);
    }
  }
  if (!guess(box, cut)) return;
  for (int step = 0; step < kMostSteps; ++step) {
    fresh = fresh && step == 0 && rows_.count() == equalities;
    if (!fresh) {
      if (!rows_.eliminate()) break;
      least_squares(out);
      multipliers(out);
    }
    if (improve(box, out)) continue;
    if (!rows_.satisfied(out.x)) break;
    out.feasible = out.counts = true;
    for (std::size_t p = 0; p < support_.size(); ++p)
      out.counts = out.counts && system_.within_limit(support_[p], out.x[p].hi);
    evaluate(box, cut, out);
    return;
  }
  out.known = false;
}

}  // namespace exactsindy::constrained
