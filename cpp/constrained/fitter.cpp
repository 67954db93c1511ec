#include "constrained/fitter.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace exactsindy::constrained {

namespace {

constexpr double kDependent = 1e-13;  // as in the search without constraints
constexpr double kConsistent = 1e-10;
constexpr double kNegative = 1e-12;
constexpr double kNoise = 1e-15;  // of the largest coefficient: what rounding may leave of one that is 0
constexpr double kOnce = 1e-4;    // a vector that keeps this share of its square has lost no digits that matter
constexpr int kMostSteps = 60;

Double2 scaled(Double2 a, double b) { return a * Double2{b, 0.0}; }

}  // namespace

Fitter::Fitter(const System& system, const Bound& bound) : system_(system), bound_(bound), kernels_(kernels()) {
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
  start_rows();
  for (const Active& a : node.active) add(a, box);
  return true;
}

void Fitter::start_rows() {
  rows_.clear();
  for (int c = 0; c < system_.equal_count; ++c) {
    Row row;
    row.coefs.assign(support_.size(), 0.0);
    for (std::size_t p = 0; p < support_.size(); ++p) row.coefs[p] = system_.equal_row(c)[support_[p]];
    row.rhs = system_.equal_rhs[c];
    normalise(row);
    rows_.push_back(std::move(row));
  }
}

// Scale by a power of two so that the largest entry is about 1, also where columns of very different size meet.
void Fitter::normalise(Row& row) {
  double top = 0.0;
  for (double c : row.coefs) top = std::max(top, std::abs(c));
  if (top == 0.0) return;
  const int shift = std::ilogb(top) + 1;
  for (double& c : row.coefs) c = std::ldexp(c, -shift);
  row.rhs = std::ldexp(row.rhs, -shift);
  row.factor = std::ldexp(1.0, -shift);
}

bool Fitter::infeasible(std::span<const int> support, const Box& box, const std::vector<Active>& active, double cut) {
  support_.assign(support.begin(), support.end());
  std::sort(support_.begin(), support_.end());
  start_rows();
  for (const Active& a : active) add(a, box);
  eliminate();
  const std::size_t s = support_.size();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (pivot_[i] >= 0 || work_[i][s].hi == 0.0) continue;
    // A combination of rows without coefficients, and a right side that is not 0: it must be negative.
    const double sign = work_[i][s].hi > 0.0 ? -1.0 : 1.0;
    Multipliers m;
    m.equal.assign(system_.equal_count, {});
    m.below.assign(system_.below_count, {});
    for (std::size_t j = 0; j < rows_.size(); ++j) {
      const Double2 value = scaled(work_[i][s + 1 + j], sign * rows_[j].factor);
      if (rows_[j].what.row >= 0)
        m.below[rows_[j].what.row] = value.hi > 0.0 ? value : Double2{};
      else if (rows_[j].what.variable < 0)
        m.equal[j] = value;
    }
    if (bound_.infeasible(m, support_, box, cut)) return true;
  }
  return false;
}

void Fitter::add(const Active& which, const Box& box) {
  Row row;
  row.what = which;
  row.coefs.assign(support_.size(), 0.0);
  if (which.row >= 0) {
    for (std::size_t p = 0; p < support_.size(); ++p) row.coefs[p] = system_.below_row(which.row)[support_[p]];
    row.rhs = system_.below_rhs[which.row];
  } else {
    const auto at = std::lower_bound(support_.begin(), support_.end(), which.variable) - support_.begin();
    row.coefs[at] = which.upper ? 1.0 : -1.0;
    row.rhs = which.upper ? box.hi[which.variable] : -box.lo[which.variable];
  }
  normalise(row);
  rows_.push_back(std::move(row));
}

// Gauss-Jordan elimination with complete pivoting; false if an equality contradicts the others.
bool Fitter::eliminate() {
  const int s = static_cast<int>(support_.size()), c = static_cast<int>(rows_.size());
  work_.assign(c, std::vector<Double2>(s + 1 + c));
  pivot_.assign(c, -1);
  for (int i = 0; i < c; ++i) {
    for (int p = 0; p < s; ++p) work_[i][p] = {rows_[i].coefs[p], 0.0};
    work_[i][s] = {rows_[i].rhs, 0.0};
    work_[i][s + 1 + i] = {1.0, 0.0};
  }
  std::vector<char> used(s, 0);
  for (int step = 0; step < c; ++step) {
    int row = -1, column = -1;
    double top = kDependent;
    for (int i = 0; i < c; ++i)
      for (int p = 0; p < s && pivot_[i] < 0; ++p)
        if (!used[p] && std::abs(work_[i][p].hi) > top) top = std::abs(work_[i][p].hi), row = i, column = p;
    if (row < 0) break;
    pivot_[row] = column;
    used[column] = 1;
    const Double2 inverse = Double2{1.0, 0.0} / work_[row][column];
    for (Double2& x : work_[row])
      if (x.hi != 0.0) x = x * inverse;
    work_[row][column] = {1.0, 0.0};
    for (int i = 0; i < c; ++i) {
      const Double2 factor = work_[i][column];
      if (i == row || factor.hi == 0.0) continue;
      for (std::size_t p = 0; p < work_[i].size(); ++p)
        if (work_[row][p].hi != 0.0) work_[i][p] = work_[i][p] - factor * work_[row][p];
      work_[i][column] = {};
    }
  }
  free_.clear();
  for (int p = 0; p < s; ++p)
    if (!used[p]) free_.push_back(p);
  for (int i = 0; i < c; ++i) {
    if (pivot_[i] >= 0 || rows_[i].what.row >= 0 || rows_[i].what.variable >= 0) continue;
    double size = std::abs(rows_[i].rhs);
    for (int j = 0; j < c; ++j) size += std::abs(work_[i][s + 1 + j].hi * rows_[j].rhs);
    if (std::abs(work_[i][s].hi) > kConsistent * size) return false;
  }
  return true;
}

// into (+)= factor * column, with the roots of the weights and the ridge rows.
void Fitter::load(int p, Double2 factor, Span2 into, bool add) {
  const int v = support_[p];
  const Block& b = system_.blocks[system_.block_of[v]];
  if (!add) std::fill_n(into.hi, length_, 0.0), std::fill_n(into.lo, length_, 0.0);
  double* zeros = const_cast<double*>(system_.zeros.data());
  const Span2 column{const_cast<double*>(system_.column[v].data()), zeros};
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
  const int s = static_cast<int>(support_.size()), f = static_cast<int>(free_.size()),
            c = static_cast<int>(rows_.size());
  length_ = system_.rows + (system_.has_ridge ? padded(s) : 0);
  hi_.reserve(static_cast<std::size_t>(f + 1) * length_);
  lo_.reserve(static_cast<std::size_t>(f + 1) * length_);
  std::vector<int> kept;
  std::vector<std::vector<Double2>> r(f, std::vector<Double2>(f));
  out.dependent = false;
  for (int k = 0; k < f; ++k) {
    const int m = static_cast<int>(kept.size());
    const Span2 q = vector(m);
    load(free_[k], {1.0, 0.0}, q, false);
    double size = system_.norm[support_[free_[k]]];
    for (int i = 0; i < c; ++i) {
      if (pivot_[i] < 0 || work_[i][free_[k]].hi == 0.0) continue;
      load(pivot_[i], -work_[i][free_[k]], q, true);
      size += std::abs(work_[i][free_[k]].hi) * system_.norm[support_[pivot_[i]]];
    }
    for (int i = 0; i < m; ++i) r[i][m] = {};
    Double2 square = kernels_.dot2(q, q, length_);
    for (int pass = 0; pass < 2 && m > 0; ++pass) {
      for (int i = 0; i < m; ++i) {
        const Double2 h = kernels_.dot2(vector(i), q, length_);
        kernels_.axpy2(-h, vector(i), q, length_);
        r[i][m] = r[i][m] + h;
      }
      const double before = square.hi;
      square = kernels_.dot2(q, q, length_);
      if (square.hi > kOnce * before) break;
    }
    const Double2 norm = sqrt(square);
    if (norm.hi <= kDependent * size) {
      out.dependent = true;
      continue;
    }
    const Double2 inverse = Double2{1.0, 0.0} / norm;
    for (int i = 0; i < length_; ++i) {
      const Double2 x = Double2{q.hi[i], q.lo[i]} * inverse;
      q.hi[i] = x.hi, q.lo[i] = x.lo;
    }
    r[m][m] = norm;
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
    if (pivot_[i] >= 0 && work_[i][s].hi != 0.0) load(pivot_[i], -work_[i][s], target, true);
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
    for (int l = i + 1; l < m; ++l) y[i] = y[i] - r[i][l] * y[l];
    y[i] = y[i] / r[i][i];
    out.x[free_[kept[i]]] = y[i];
  }
  kept_ = m;
  spreads(kept, r);
  for (int i = 0; i < c; ++i) {
    if (pivot_[i] < 0) continue;
    Double2 x = work_[i][s];
    for (int k : free_)
      if (work_[i][k].hi != 0.0) x = x - work_[i][k] * out.x[k];
    out.x[pivot_[i]] = x;
  }
}

// Norms of the rows of the map from the least-squares residual to the coefficients: how far they move as the value
// rises. (The factor is right to about 1e-17: columns are farther than 1e-13 from dependence.)
void Fitter::spreads(const std::vector<int>& kept, const std::vector<std::vector<Double2>>& r) {
  const int m = static_cast<int>(kept.size()), s = static_cast<int>(support_.size());
  std::vector<std::vector<double>> inverse(s, std::vector<double>(m, 0.0));  // rows by position
  for (int i = m - 1; i >= 0; --i)
    for (int l = i; l < m; ++l) {
      double sum = l == i ? 1.0 : 0.0;
      for (int p = i + 1; p <= l; ++p) sum -= r[i][p].hi * inverse[free_[kept[p]]][l];
      inverse[free_[kept[i]]][l] = sum / r[i][i].hi;
    }
  for (std::size_t i = 0; i < rows_.size(); ++i)
    for (int k = 0; k < m && pivot_[i] >= 0; ++k)
      for (int l = 0; l < m; ++l) inverse[pivot_[i]][l] -= work_[i][free_[kept[k]]].hi * inverse[free_[kept[k]]][l];
  spread_.assign(s, 0.0);
  for (int p = 0; p < s; ++p) {
    for (double x : inverse[p]) spread_[p] += x * x;
    spread_[p] = std::sqrt(spread_[p]) * (1.0 + 1e-6);
  }
}

// omega, and the multipliers of the rows from the gradient on the pivot columns.
void Fitter::multipliers(const Fit& out) {
  const int s = static_cast<int>(support_.size()), c = static_cast<int>(rows_.size());
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
    if (pivot_[i] < 0) continue;
    const int v = support_[pivot_[i]];
    const Block& b = system_.blocks[system_.block_of[v]];
    Double2 g = scaled(kernels_.dot2({const_cast<double*>(system_.column[v].data()), zeros},
                                     {omega_hi_.data() + b.row, omega_lo_.data() + b.row}, b.rows),
                       b.weight);
    g = g - scaled(out.x[pivot_[i]], system_.ridge[v]);
    for (int j = 0; j < c; ++j) multiplier_[j] = multiplier_[j] + g * work_[i][s + 1 + j];
  }
}

// One step of the active set where doubles had guessed wrong; false if nothing is to be done.
bool Fitter::improve(const Box& box, const Fit& out) {
  double worst = 1e-12, top = 0.0;
  for (const Double2& x : out.x) top = std::max(top, kNoise * std::abs(x.hi));
  Active which;
  const auto held = [&](const Active& a) {
    return std::any_of(rows_.begin(), rows_.end(), [&](const Row& r) {
      return r.what.row == a.row && r.what.variable == a.variable && r.what.upper == a.upper;
    });
  };
  const auto look = [&](const Active& a, double excess, double size) {
    if (excess > worst * size && !held(a)) worst = excess / size, which = a;
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
    add(which, box);
    return true;
  }
  // (By the rule of dependence, a slope of 1e-13 of the residual is none.)
  double size = 0.1 * std::sqrt(kernels_.dot(omega_hi_.data(), omega_hi_.data(), system_.rows)), least = 0.0;
  for (const Double2& m : multiplier_) size = std::max(size, std::abs(m.hi));
  int leaving = -1;
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if ((rows_[i].what.row >= 0 || rows_[i].what.variable >= 0) && multiplier_[i].hi < least)
      least = multiplier_[i].hi, leaving = static_cast<int>(i);
  if (leaving < 0 || least > -kNegative * size) return false;
  rows_.erase(rows_.begin() + leaving);
  return true;
}

// Active rows that depend on others were not solved for: they must hold all the same.
bool Fitter::satisfied(const Fit& out) const {
  double top = 0.0;
  for (const Double2& x : out.x) top = std::max(top, kNoise * std::abs(x.hi));
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    double sum = -rows_[i].rhs, size = std::abs(rows_[i].rhs);
    for (std::size_t p = 0; p < support_.size(); ++p) {
      sum += rows_[i].coefs[p] * out.x[p].hi;
      size += std::abs(rows_[i].coefs[p] * out.x[p].hi) + std::abs(rows_[i].coefs[p]) * top;
    }
    if (std::abs(sum) > kConsistent * size) return false;
  }
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
  Multipliers m;
  m.equal.assign(system_.equal_count, {});
  m.below.assign(system_.below_count, {});
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Double2 mu = scaled(multiplier_[i], rows_[i].factor);
    if (rows_[i].what.row >= 0)
      m.below[rows_[i].what.row] = mu.hi > 0.0 ? mu : Double2{};
    else if (rows_[i].what.variable < 0)
      m.equal[i] = mu;
  }
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
  out.lower = bound_.value(omega_hi_.data(), omega_lo_.data(), m, support_, near, own);
  if (out.dependent) out.lower = std::max(out.lower, out.error.hi * (1.0 - 1e-14));  // by the rule of 1e-13
  out.lower = std::clamp(out.lower, 0.0, out.error.hi);
}

void Fitter::fit(std::span<const int> support, const Box& box, double cut, Fit& out) {
  support_.assign(support.begin(), support.end());
  out.support = support_;
  out.feasible = false;
  out.known = true;
  start_rows();
  for (int v : support_)
    if (box.lo[v] > box.hi[v]) return;
  // Equalities first: where they contradict each other nothing else matters.
  if (!eliminate()) return;
  const std::size_t equalities = rows_.size();
  // With equalities alone the coefficients move no farther from their optimum than the value allows.
  centre_.clear();
  bool fresh = !bound_.verified() || inequalities(box) == 0;
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
    fresh = fresh && step == 0 && rows_.size() == equalities;
    if (!fresh) {
      if (!eliminate()) break;
      least_squares(out);
      multipliers(out);
    }
    if (improve(box, out)) continue;
    if (!satisfied(out)) break;
    out.feasible = true;
    evaluate(box, cut, out);
    return;
  }
  out.known = false;
}

}  // namespace exactsindy::constrained
