#include "constrained/bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace exactsindy::constrained {

namespace {

constexpr double kBand = 1e-6;     // whether coefficients this close to their limit count is left open
constexpr double kUnit = 0x1p-98;  // relative error of one double-double operation, with room to spare

// One number per block; few blocks take no memory from the heap.
class Norms {
 public:
  explicit Norms(std::size_t count) : many_(count > kFew ? count : 0) {}
  double& operator[](std::size_t block) { return many_.empty() ? few_[block] : many_[block]; }

 private:
  static constexpr std::size_t kFew = 16;
  double few_[kFew];
  std::vector<double> many_;
};

// What is not 0 in some rows, for ByVariable.
auto entries(const std::vector<double>& rows, int count, int variables) {
  return [&rows, count, variables](auto&& add) {
    for (int i = 0; i < count; ++i)
      for (int v = 0; v < variables; ++v)
        if (const double c = rows[static_cast<std::size_t>(i) * variables + v]; c != 0.0) add(v, {i, c});
  };
}

}  // namespace

Bound::Bound(const System& s, const Space& space, const Frame& root)
    : system_(s),
      space_(space),
      root_(space.copy(root)),
      kernels_(kernels()),
      centre_(s.variables, kInf),
      spread_(s.variables, 0.0),
      by_ridge_(s.variables, kInf),
      equal_of_(s.variables, entries(s.equal, s.equal_count, s.variables)),
      below_of_(s.variables, entries(s.below, s.below_count, s.variables)) {
  for (int v = 0; v < s.variables; ++v)
    if (s.ridge[v] > 0.0) by_ridge_[v] = (1.0 + 8.0 * kEps) / std::sqrt(s.ridge[v]);
}

// x = L b - L (b - S x) + (I - L S) x for the stack S = [root A; sqrt(ridge); C] and b = [root z; 0; d], where the
// middle part is bounded by the value and vanishes on the rows of C. L is read off the root's dual vectors.
void Bound::find_reaches() const {
  const System& s = system_;
  const Space& space = space_;
  const Frame& root = root_;
  const int n = static_cast<int>(root.variables.size());
  if (space.regularised() || n == 0) return;
  Array zero(space.stride()), offset(s.rows), left(s.rows), data(static_cast<std::size_t>(n) * s.rows);
  space.data_residual(zero.data(), offset.data());
  std::vector<double> row_norm(n), defect(n), own(n * s.blocks.size()),
      products(static_cast<std::size_t>(n) * s.variables);
  double left_square = 0.0, defect_square = 0.0;
  const double gamma = (s.rows + n + s.equal_count + 16) * 2.0 * kEps;
  for (int p = 0; p < n; ++p) {
    // data_residual is affine: its linear part maps dual vectors to the rows (and divides by the root).
    space.data_residual(space.vector(root, p), left.data());
    double* line = data.data() + static_cast<std::size_t>(p) * s.rows;
    row_norm[p] = 0.0;
    for (std::size_t k = 0; k < s.blocks.size(); ++k) {
      const Block& b = s.blocks[k];
      for (int i = b.row; i < b.row + b.rows; ++i) line[i] = (left[i] - offset[i]) * b.root;
      const double part = kernels_.dot(line + b.row, line + b.row, b.rows);
      row_norm[p] += part;
      own[p * s.blocks.size() + k] = std::sqrt(part);
    }
  }
  for (const Block& b : s.blocks)
    if (b.count > 0)
      kernels_.dots({data.data() + b.row, s.rows, n}, {s.column[b.first], b.rows, b.count}, b.rows,
                    products.data() + b.first, s.variables, false);
  for (int p = 0; p < n; ++p) {
    double square = row_norm[p];
    // On the ridge rows L is whatever makes L S = I as nearly as possible: chosen below.
    double sum = 0.0;
    for (int q = 0; q < n; ++q) {
      const int v = root.variables[q], block = s.block_of[v];
      const Block& b = s.blocks[block];
      double dot = b.root * products[static_cast<std::size_t>(p) * s.variables + v];
      double size = own[p * s.blocks.size() + block] * s.norm[v];  // (at least the sum of the sizes of the products)
      for (const auto& [c, coef] : equal_of_[v]) {
        const double part = space.vector(root, p)[space.tag(c)] * coef;
        dot -= part;
        size += std::abs(part);
      }
      double e = (p == q ? 1.0 : 0.0) - dot;
      if (s.ridge[v] > 0.0) {
        const double root_ridge = std::sqrt(s.ridge[v]);
        square += e / root_ridge * (e / root_ridge);
        size += std::abs(e);
        e = 0.0;
      }
      e = std::abs(e) + gamma * (size + 1.0);
      sum += e * e;
    }
    row_norm[p] = std::sqrt(square) * (1.0 + gamma);
    defect[p] = std::sqrt(sum) * (1.0 + gamma);
    left_square += row_norm[p] * row_norm[p];
    defect_square += defect[p] * defect[p];
  }
  const double left_norm = std::sqrt(left_square) * (1.0 + gamma);
  const double defect_norm = std::sqrt(defect_square) * (1.0 + gamma);
  if (!(defect_norm < 0.5) || !std::isfinite(left_norm)) return;
  verified_ = true;
  // |x| <= inverse (|S x|) with |S x| <= |z| + sqrt(value) on the data and known on the rows of C.
  double constant = 0.0;
  for (int p = 0; p < n; ++p) {
    double part = 0.0;
    for (int c = 0; c < s.equal_count; ++c) part += std::abs(space.vector(root, p)[space.tag(c)] * s.equal_rhs[c]);
    constant = std::max(constant, part);
  }
  constant *= std::sqrt(static_cast<double>(n)) * (1.0 + gamma);
  const double inverse = 1.0 / (1.0 - defect_norm) * (1.0 + 8.0 * kEps);
  for (int p = 0; p < n; ++p) {
    double fixed = 0.0, size = 0.0;
    for (const Block& b : s.blocks)
      fixed +=
          b.root * kernels_.dot(data.data() + static_cast<std::size_t>(p) * s.rows + b.row, s.z.data() + b.row, b.rows);
    for (int c = 0; c < s.equal_count; ++c) {
      const double part = space.vector(root, p)[space.tag(c)] * s.equal_rhs[c];
      fixed -= part;
      size += std::abs(part);
    }
    const int v = root.variables[p];
    // |x|_2 <= inverse (left_norm (|z| + sqrt(value)) + constant).
    centre_[v] = (std::abs(fixed) + gamma * (row_norm[p] * s.z_norm + size) +
                  defect[p] * inverse * (left_norm * s.z_norm + constant)) *
                 (1.0 + 8.0 * kEps);
    spread_[v] = (row_norm[p] + defect[p] * inverse * left_norm) * (1.0 + 8.0 * kEps);
  }
}

double Bound::reach(int v, double cut) const { return reach_at(v, std::sqrt(std::max(cut, 0.0)) * (1.0 + 8.0 * kEps)); }

double Bound::reach_at(int v, double root) const {
  const double limit = system_.limit[v] * (1.0 + kBand);
  if (root == kInf) return limit;
  prepare();
  double value = std::min((centre_[v] + spread_[v] * root) * (1.0 + 8.0 * kEps), limit);
  if (std::isnan(value)) value = limit;
  return std::min(value, root * by_ridge_[v]);
}

// delta_v, and the sum of the sizes of what was added up; `norm` is that of omega on the rows of v's block.
Double2 Bound::slope(int v, const double* hi, const double* lo, double norm, const Multipliers& m,
                     double& magnitude) const {
  Double2 delta{};
  magnitude = 0.0;
  if (hi) {
    const Block& b = system_.blocks[system_.block_of[v]];
    double* column = const_cast<double*>(system_.column[v]);
    double* zeros = const_cast<double*>(system_.zeros.data());
    const Span2 omega{const_cast<double*>(hi) + b.row, lo ? const_cast<double*>(lo) + b.row : zeros};
    delta = kernels_.dot2({column, zeros}, omega, b.rows);
    if (b.weight != 1.0) delta = delta * Double2{b.weight, 0.0};
    magnitude = 2.0 * b.weight * norm * (system_.norm[v] / b.root + 1.0);
  }
  const auto add = [&](const std::vector<Double2>& multipliers, std::span<const Entry> entries) {
    for (const auto& [row, c] : entries) {
      if (row >= static_cast<int>(multipliers.size()) || multipliers[row].hi == 0.0) continue;
      delta = delta - multipliers[row] * Double2{c, 0.0};
      magnitude += std::abs(multipliers[row].hi * c);
    }
  };
  add(m.equal, equal_of_[v]);
  add(m.below, below_of_[v]);
  return delta;
}

// Upper bound of max (2 delta x - ridge x^2) over the interval, delta known to `error`. `root` is that of the cut.
Bound::Sum Bound::largest_gain(int v, Double2 delta, double error, const Box& box, double root) const {
  const bool unbounded = !std::isfinite(box.lo[v]) && !std::isfinite(box.hi[v]);
  // Without an interval doubles rounded up serve: a few units in the last place of a small number do not matter. With a
  // ridge the largest gain is at most delta^2 / ridge: if that is next to nothing, no reach is asked for.
  const double size = std::abs(delta.hi) * (1.0 + 2.0 * kEps) + error;
  const double by_ridge = size / system_.ridge[v] * size * (1.0 + 8.0 * kEps);  // (inf or NaN: no ridge)
  if (unbounded && negligible(by_ridge)) return {{by_ridge, 0.0}, by_ridge};
  const double limit = reach_at(v, root);
  const double lo = std::max(box.lo[v], -limit), hi = std::min(box.hi[v], limit);
  if (lo > hi) return {};  // (an empty interval: callers find that out otherwise)
  const double ridge = system_.ridge[v];
  const double slack = 2.0 * error * std::max(std::abs(lo), std::abs(hi));
  if (unbounded) {
    double value = (2.0 * std::abs(delta.hi) * limit + slack) * (1.0 + 8.0 * kEps);
    if (ridge > 0.0) value = std::min(value, by_ridge);
    return {{value, 0.0}, value};
  }
  double x = delta.hi > 0.0 ? hi : lo;
  if (ridge > 0.0) {
    const double best = delta.hi / ridge;
    if (best >= lo && best <= hi) {
      const Double2 value = delta * delta / Double2{ridge, 0.0};
      return {value + Double2{slack, 0.0}, value.hi + slack};
    }
    x = best < lo ? lo : hi;
  }
  const Double2 value = Double2{2.0 * x, 0.0} * delta - two_prod(x, x) * Double2{ridge, 0.0};
  return {value + Double2{slack, 0.0}, std::abs(2.0 * x * delta.hi) + ridge * x * x + slack};
}

double Bound::value(const double* hi, const double* lo, const Multipliers& m, std::span<const int> variables,
                    const Box& box, double cut) const {
  double* zeros = const_cast<double*>(system_.zeros.data());
  Double2 sum{};
  double magnitude = 0.0;
  const double root = std::sqrt(std::max(cut, 0.0)) * (1.0 + 8.0 * kEps);
  Norms norms(system_.blocks.size());
  std::size_t block = 0;
  for (const Block& b : system_.blocks) {
    const Span2 omega{const_cast<double*>(hi) + b.row, lo ? const_cast<double*>(lo) + b.row : zeros};
    const Double2 cross = kernels_.dot2(omega, {const_cast<double*>(system_.z.data()) + b.row, zeros}, b.rows);
    const Double2 square = kernels_.dot2(omega, omega, b.rows);
    sum = sum + (cross + cross - square) * Double2{b.weight, 0.0};
    const double norm = std::sqrt(square.hi);
    norms[block++] = norm;
    magnitude += b.weight * (2.0 * norm * (system_.z_norm / b.root) + square.hi);
  }
  const auto subtract = [&](const std::vector<Double2>& multipliers, const std::vector<double>& rhs) {
    for (std::size_t i = 0; i < multipliers.size(); ++i) {
      sum = sum - multipliers[i] * Double2{2.0 * rhs[i], 0.0};
      magnitude += std::abs(2.0 * multipliers[i].hi * rhs[i]);
    }
  };
  subtract(m.equal, system_.equal_rhs);
  subtract(m.below, system_.below_rhs);
  const double count = system_.rows + system_.equal_count + system_.below_count + 16.0;
  for (int v : variables) {
    double size = 0.0;
    const Double2 delta = slope(v, hi, lo, norms[system_.block_of[v]], m, size);
    const Sum p = largest_gain(v, delta, count * kUnit * size, box, root);
    sum = sum - p.value;
    magnitude += p.magnitude;
  }
  const double result = (sum - Double2{(count + variables.size()) * kUnit * magnitude, 0.0}).hi;
  return std::isnan(result) ? -kInf : result - std::abs(result) * kEps * 2.0;
}

// The formula of value(), summed up in doubles. A sum of n products is off by at most n units of rounding times the sum
// of their sizes; what delta_v is off counts as often as x_v may be large.
std::pair<double, double> Bound::rough(const double* omega, const Multipliers& m, std::span<const int> variables,
                                       const Box& box, double root) const {
  Norms norms(system_.blocks.size());
  double sum = 0.0, magnitude = 0.0, error = 0.0;
  std::size_t block = 0;
  for (const Block& b : system_.blocks) {
    const double cross = kernels_.dot(omega + b.row, system_.z.data() + b.row, b.rows);
    const double square = kernels_.dot(omega + b.row, omega + b.row, b.rows), norm = std::sqrt(square);
    norms[block++] = norm;
    sum += b.weight * (2.0 * cross - square);
    magnitude += b.weight * (2.0 * norm * (system_.z_norm / b.root) + square);
  }
  const auto subtract = [&](const std::vector<Double2>& multipliers, const std::vector<double>& rhs) {
    for (std::size_t i = 0; i < multipliers.size(); ++i) {
      sum -= 2.0 * multipliers[i].hi * rhs[i];
      magnitude += std::abs(2.0 * multipliers[i].hi * rhs[i]);
    }
  };
  subtract(m.equal, system_.equal_rhs);
  subtract(m.below, system_.below_rhs);
  const double count = system_.rows + system_.equal_count + system_.below_count + variables.size() + 32.0;
  for (int v : variables) {
    const Block& b = system_.blocks[system_.block_of[v]];
    double delta = b.weight * kernels_.dot(system_.column[v], omega + b.row, b.rows);
    double size = 2.0 * b.weight * norms[system_.block_of[v]] * (system_.norm[v] / b.root + 1.0);
    const auto add = [&](const std::vector<Double2>& multipliers, std::span<const Entry> entries) {
      for (const auto& [row, c] : entries) {
        if (row >= static_cast<int>(multipliers.size())) continue;
        delta -= multipliers[row].hi * c;
        size += std::abs(multipliers[row].hi * c);
      }
    };
    add(m.equal, equal_of_[v]);
    add(m.below, below_of_[v]);
    const double ridge = system_.ridge[v], off = count * kEps * size;
    const bool small = negligible((std::abs(delta) + off) / ridge * (std::abs(delta) + off));
    const double limit = small ? kInf : reach_at(v, root);
    const double lo = std::max(box.lo[v], -limit), hi = std::min(box.hi[v], limit);
    if (lo > hi) continue;
    double x = delta > 0.0 ? hi : lo;
    if (ridge > 0.0) x = std::clamp(delta / ridge, lo, hi);
    const double gain = 2.0 * delta * x - ridge * x * x;
    sum -= gain;
    magnitude += std::abs(2.0 * delta * x) + ridge * x * x;
    // (With a ridge no best x is farther than (|delta| + its error) / ridge.)
    double far = std::max(std::abs(lo), std::abs(hi));
    if (ridge > 0.0 && lo <= 0.0 && hi >= 0.0) far = std::min(far, (std::abs(delta) + off) / ridge);
    error += 2.0 * off * far;
  }
  return {sum, (error + count * kEps * magnitude) * 1.01};
}

bool Bound::above(const double* omega, const Multipliers& m, std::span<const int> variables, const Box& box,
                  double cut) const {
  const auto [estimate, error] = rough(omega, m, variables, box, std::sqrt(std::max(cut, 0.0)) * (1.0 + 8.0 * kEps));
  if (estimate - error > cut * (1.0 + 4.0 * kEps)) return true;
  if (estimate + error < cut) return false;
  return value(omega, nullptr, m, variables, box, cut) > cut;
}

bool Bound::infeasible(const Multipliers& m, std::span<const int> variables, const Box& box, double cut) const {
  Double2 sum{};
  double magnitude = 0.0;
  for (std::size_t i = 0; i < m.equal.size(); ++i) {
    sum = sum - m.equal[i] * Double2{system_.equal_rhs[i], 0.0};
    magnitude += std::abs(m.equal[i].hi * system_.equal_rhs[i]);
  }
  for (std::size_t i = 0; i < m.below.size(); ++i) {
    sum = sum - m.below[i] * Double2{system_.below_rhs[i], 0.0};
    magnitude += std::abs(m.below[i].hi * system_.below_rhs[i]);
  }
  const double count = system_.equal_count + system_.below_count + 16.0;
  for (int v : variables) {
    double size = 0.0;
    const Double2 delta = slope(v, nullptr, nullptr, 0.0, m, size);
    const double limit = reach(v, cut);
    const double lo = std::max(box.lo[v], -limit), hi = std::min(box.hi[v], limit);
    if (lo > hi) return true;  // nothing within reach
    const double x = delta.hi > 0.0 ? hi : lo;
    const double slack = count * kUnit * size * std::max(std::abs(lo), std::abs(hi));
    sum = sum - delta * Double2{x, 0.0} - Double2{slack, 0.0};
    magnitude += std::abs(delta.hi * x) + slack;
  }
  return (sum - Double2{(count + variables.size()) * kUnit * magnitude, 0.0}).hi > 0.0;
}

}  // namespace exactsindy::constrained
