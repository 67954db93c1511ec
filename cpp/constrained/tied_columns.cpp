#include "constrained/tied_columns.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace exactsindy::constrained {

namespace {

constexpr double kUnit = 0x1p-98;         // relative error of one double-double operation, with room to spare
constexpr double kSeparate = 1e-13;       // least share of a squared column that others may leave of it
constexpr double kEnoughRidge = 1e-16;    // bounds y well enough by itself
constexpr double kClear = 0.5;            // coefficients below this share of their limit are within it
constexpr double kVolume = 0x1p-50;       // supports with a smaller one are left to the general fit
constexpr double kSettled = 1e-25;        // relative corrections this small are not made
constexpr double kExact = 1e-30;          // the same where next to nothing is left of the target
constexpr double kShows = 1e-20;          // of its square: more than that
constexpr double kNearlySettled = 1e-20;  // the same where they do not get smaller any more
constexpr int kMostSteps = 10;

template <class Function>
void each(std::uint32_t columns, Function&& f) {
  for (; columns; columns &= columns - 1) f(std::countr_zero(columns));
}

}  // namespace

bool TiedColumns::take(const LogicRows& rows) {
  const System& s = system_;
  const auto all = [](const std::vector<double>& xs, double x) {
    return std::all_of(xs.begin(), xs.end(), [&](double y) { return y == x; });
  };
  const auto plain = [](const Block& b) { return b.weight == 1.0; };
  if (s.variables > kMostVariables || s.blocks.size() > kMostBlocks || s.below_count > 0 || !all(s.lower, -kInf) ||
      !all(s.upper, kInf) || !all(s.least, 0.0) || !all(s.most, kInf) ||
      !std::all_of(s.blocks.begin(), s.blocks.end(), plain) || !tie() || !count_terms(rows))
    return false;
  merge();
  return factor();
}

// Find out which variables are tied to which, from equalities with two entries; those with one make a variable 0.
bool TiedColumns::tie() {
  const System& s = system_;
  std::array<int, kMostVariables> head;
  std::array<char, kMostVariables> zero{};  // by head
  for (int v = 0; v < s.variables; ++v) head[v] = v, ratio_[v] = {1.0, 0.0}, zero[v] = s.inert[v];
  for (int i = 0; i < s.equal_count; ++i) {
    const double* row = s.equal_row(i);
    int first = -1, second = -1;
    for (int v = 0; v < s.variables; ++v) {
      if (row[v] == 0.0) continue;
      if (second >= 0) return false;
      (first < 0 ? first : second) = v;
    }
    if (s.equal_rhs[i] != 0.0) return false;
    if (first < 0) continue;
    if (second < 0) {
      zero[head[first]] = 1;
      continue;
    }
    const Double2 factor = -ratio_[first] * Double2{row[first], 0.0} / Double2{row[second], 0.0};  // x_second / y
    if (head[first] == head[second]) {
      if (!(factor == ratio_[second])) return false;
      continue;
    }
    const Double2 own = factor / ratio_[second];
    const int old = head[second], now = head[first];
    zero[now] |= zero[old];
    for (int v = 0; v < s.variables; ++v)
      if (head[v] == old) head[v] = now, ratio_[v] = ratio_[v] * own;
  }
  std::array<double, kMostVariables> top{};
  for (int v = 0; v < s.variables; ++v) top[head[v]] = std::max(top[head[v]], std::abs(ratio_[v].hi));
  int used = 0;
  for (int v = 0; v < s.variables; ++v) column_of_[v] = -1;
  for (int h = 0; h < s.variables; ++h) {
    if (head[h] != h || zero[h]) continue;
    if (count_ == kMost) return false;
    begin_[count_] = used;
    const double scale = std::ldexp(1.0, -std::ilogb(top[h]));
    for (int v = 0; v < s.variables; ++v) {
      if (head[v] != h) continue;
      ratio_[v] = {ratio_[v].hi * scale, ratio_[v].lo * scale};
      column_of_[v] = count_;
      members_[used++] = v;
    }
    begin_[++count_] = used;
  }
  return count_ > 0;
}

// Rows on supports that say "at most so many of these", by columns; columns that never fit are taken out.
bool TiedColumns::count_terms(const LogicRows& rows) {
  std::uint32_t gone = 0;
  for (const PresenceRow& row : rows.rows) {
    if (row.limit < 0 || !std::all_of(row.coefs.begin(), row.coefs.end(), [](int c) { return c == 1; })) return false;
    std::array<int, kMost> terms{};
    for (int v : row.variables)
      if (column_of_[v] >= 0) ++terms[column_of_[v]];
    int all = 0;
    for (int h = 0; h < count_; ++h) {
      if (terms[h] > row.limit) gone |= 1u << h, terms[h] = 0;
      all += terms[h];
    }
    if (all <= row.limit) continue;
    if (budgets_ == kMostBudgets) return false;
    terms_[budgets_] = terms;
    limit_[budgets_++] = row.limit;
  }
  if (!gone) return true;
  int kept = 0, used = 0;
  for (int h = 0; h < count_; ++h) {
    const bool out = gone >> h & 1;
    const int first = begin_[h], last = begin_[h + 1];
    if (!out) begin_[kept] = used;
    for (int i = first; i < last; ++i) {
      column_of_[members_[i]] = out ? -1 : kept;
      if (!out) members_[used++] = members_[i];
    }
    for (int b = 0; b < budgets_ && !out; ++b) terms_[b][kept] = terms_[b][h];
    if (!out) begin_[++kept] = used;
  }
  count_ = kept;
  return count_ > 0;
}

void TiedColumns::merge() {
  const System& s = system_;
  stride_ = padded(count_ + 1);
  int row = 0, longest = 1;
  for (std::size_t b = 0; b < s.blocks.size(); ++b) row_of_[b] = row, row += s.blocks[b].count;
  rows_ = padded(row);
  columns_.reset(static_cast<std::size_t>(count_ + 1) * rows_);
  columns_lo_.reset(static_cast<std::size_t>(count_) * rows_);
  for (int h = 0; h < count_; ++h) {
    double ridge = 0.0;
    size_[h] = 0.0, most_[h] = kInf;
    longest = std::max(longest, size(h));
    for (int i = begin_[h]; i < begin_[h + 1]; ++i) {
      const int v = members_[i], block = s.block_of[v], last = v - s.blocks[block].first;
      const double r = ratio_[v].hi;
      const Span2 to{column(h) + row_of_[block], column2(h).lo + row_of_[block]};
      for (int j = 0; j <= last; ++j) {
        const Double2 sum = Double2{to.hi[j], to.lo[j]} + ratio_[v] * Double2{s.column[v][j], 0.0};
        to.hi[j] = sum.hi, to.lo[j] = sum.lo;
      }
      ridge += r * r * s.ridge[v];
      size_[h] += std::abs(r) * s.norm[v] * (1.0 + 4.0 * kEps);
      most_[h] = std::min(most_[h], s.limit[v] / std::abs(r));
    }
    ridge_[h] = ridge * (1.0 - (4.0 * size(h) + 4.0) * kEps);
  }
  for (std::size_t b = 0; b < s.blocks.size(); ++b)
    std::copy_n(s.z.data() + s.blocks[b].row, s.blocks[b].count, column(count_) + row_of_[b]);
  rounding_ = 2.0 * (rows_ / kLane + 8.0 + 4.0 * longest) * kEps;
  omega_.reset(rows_), omega_lo_.reset(rows_), zeros_.reset(rows_), gradient_.reset(stride_);
}

// The root of the tree by one sweep for each column.
bool TiedColumns::factor() {
  const int n = count_ + 1;
  gram_.reset(static_cast<std::size_t>(n) * stride_);
  const Rows all{columns_.data(), rows_, n};
  kernels_.dots(all, all, rows_, gram_.data(), stride_, false);
  std::array<double, kMost> diagonal;
  for (int h = 0; h < count_; ++h) diagonal[h] = gram_[static_cast<std::size_t>(h) * stride_ + h] += ridge_[h];
  root_.reset(static_cast<std::size_t>(n) * stride_);
  std::copy_n(gram_.data(), static_cast<std::size_t>(n) * stride_, root_.data());
  Array own(stride_);
  for (int k = 0; k < count_; ++k) {
    double* row = root_.data() + static_cast<std::size_t>(k) * stride_;
    const double pivot = row[k];
    if (!(pivot > kSeparate * diagonal[k])) return false;
    const double inverse = 1.0 / pivot, root = std::sqrt(inverse);
    for (int j = 0; j < n; ++j) own[j] = row[j] * root;
    kernels_.include(root_.data(), root_.data(), stride_, n, own.data());
    for (int j = 0; j < n; ++j) row[j] = root_[static_cast<std::size_t>(j) * stride_ + k] = own[j] * root;
    row[k] = -inverse;
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(n) * stride_; ++i) root_[i] = -root_[i];
  const double least = *std::min_element(ridge_.begin(), ridge_.begin() + count_);
  const double lambda = least >= kEnoughRidge ? least : least_eigenvalue(gram_);
  by_lambda_ = 1.0 / std::sqrt(lambda) * (1.0 + 8.0 * kEps);
  return lambda > 0.0;
}

// If the Cholesky factor of a symmetric matrix exists in doubles, the matrix plus something no larger than its trace
// times a few units of rounding is positive.
double TiedColumns::least_eigenvalue(const Array& gram) const {
  double inverse = 0.0, trace = 0.0, sizes = 0.0;
  for (int h = 0; h < count_; ++h) {
    inverse += root_[static_cast<std::size_t>(h) * stride_ + h];
    trace += gram[static_cast<std::size_t>(h) * stride_ + h];
    sizes += size_[h] * size_[h];
  }
  const double shift = 0.25 / inverse;
  Array left(static_cast<std::size_t>(count_) * stride_), own(stride_);
  for (int h = 0; h < count_; ++h) {
    std::copy_n(gram.data() + static_cast<std::size_t>(h) * stride_, count_,
                left.data() + static_cast<std::size_t>(h) * stride_);
    left[static_cast<std::size_t>(h) * stride_ + h] -= shift;
  }
  for (int k = 0; k < count_; ++k) {
    const double* row = left.data() + static_cast<std::size_t>(k) * stride_;
    if (!(row[k] > 0.0)) return 0.0;
    const double root = 1.0 / std::sqrt(row[k]);
    for (int j = 0; j < count_; ++j) own[j] = j < k ? 0.0 : row[j] * root;
    kernels_.include(left.data(), left.data(), stride_, count_, own.data());
  }
  return shift * (1.0 - 4.0 * kEps) - 4.0 * (count_ + 8.0) * kEps * trace - rounding_ * sizes;
}

double TiedColumns::reach(int h, double cut) const {
  const double most = most_[h] * (1.0 + 2e-6);
  return std::min(most, (system_.z_norm + std::sqrt(std::max(cut, 0.0))) * by_lambda_ * (1.0 + 8.0 * kEps));
}

TiedColumns::Value TiedColumns::value(const double* minus_y, std::uint32_t columns, double cut) {
  const double* z = column(count_);
  double* omega = omega_.data();
  std::copy_n(z, rows_, omega);
  kernels_.combine({minus_y, stride_, 1}, {columns_.data(), rows_, count_}, omega, rows_, rows_);
  kernels_.dots({omega, rows_, 1}, {columns_.data(), rows_, count_ + 1}, rows_, gradient_.data(), stride_, false);
  const double square = kernels_.dot(omega, omega, rows_), cross = gradient_[count_];
  const double norm = std::sqrt(square) * (1.0 + 64.0 * kEps);
  double value = square, gains = 0.0;
  each(columns, [&](int h) {
    const double slope = std::abs(gradient_[h]) + error(h, norm);
    double gain = slope * slope / ridge_[h];  // (inf: no ridge)
    if (!(ridge_[h] >= kEnoughRidge)) gain = std::min(gain, 2.0 * slope * reach(h, cut));
    gains += gain;
    value += ridge_[h] * minus_y[h] * minus_y[h];
    gradient_[h] += ridge_[h] * minus_y[h];
  });
  const double sizes = 2.0 * norm * system_.z_norm + square + gains;
  return {value, 2.0 * cross - square - gains - (rounding_ + 4.0 * (count_ + 8.0) * kEps) * sizes};
}

bool TiedColumns::within_limits(const double* minus_y, std::uint32_t columns) const {
  bool within = true;
  each(columns, [&](int h) { within &= std::abs(minus_y[h]) < kClear * most_[h]; });
  return within;
}

std::vector<int> TiedColumns::support(std::uint32_t columns) const {
  std::vector<int> found;
  found.reserve(system_.variables);
  for (int v = 0; v < system_.variables; ++v)
    if (column_of_[v] >= 0 && columns >> column_of_[v] & 1) found.push_back(v);
  return found;
}

// (A'A + diag R)^-1 of some columns, row by row; nothing if their volume is too small.
std::vector<double> TiedColumns::inverse(std::span<const int> chosen) const {
  const std::size_t n = chosen.size();
  std::vector<double> p(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) p[i * n + j] = gram_[static_cast<std::size_t>(chosen[i]) * stride_ + chosen[j]];
  double volume = 1.0;
  std::array<double, kMost> row;
  for (std::size_t k = 0; k < n; ++k) {
    const double pivot = p[k * n + k], size = size_[chosen[k]];
    volume *= pivot / (size * size);
    if (!(volume > kVolume * kVolume)) return {};
    for (std::size_t j = 0; j < n; ++j) row[j] = p[k * n + j] / pivot;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = p[i * n + k];
      for (std::size_t j = 0; j < n; ++j) p[i * n + j] -= factor * row[j];
      p[i * n + k] = -factor / pivot;
    }
    std::copy_n(row.begin(), n, p.begin() + k * n);
    p[k * n + k] = 1.0 / pivot;
  }
  return p;
}

// Least squares by corrections from residuals in double-double. The residual is left in omega2(), half of the slopes of
// the value (but for the ridge) in slope_, the ridges in ridge2_.
bool TiedColumns::refine(std::span<const int> chosen, std::span<Double2> y) {
  const int n = static_cast<int>(chosen.size());
  const std::vector<double> p = inverse(chosen);
  if (n > 0 && p.empty()) return false;
  const auto corrections = [&](const double* slope) {
    double most = 0.0;
    for (int k = 0; k < n; ++k) {
      double by = 0.0;
      for (int l = 0; l < n; ++l) by += p[static_cast<std::size_t>(k) * n + l] * slope[l];
      correction_[k] = by, most = std::max(most, std::abs(by));
    }
    return most;
  };
  std::array<double, kMost> slope;
  const double* target = gram_.data() + static_cast<std::size_t>(count_) * stride_;
  for (int k = 0; k < n; ++k) slope[k] = target[chosen[k]], ridge2_[k] = ridge2(chosen[k]);
  const double top = corrections(slope.data());
  double before = kInf;
  for (int step = 0; step < kMostSteps; ++step) {
    std::copy_n(column(count_), rows_, omega_.data());
    std::fill_n(omega_lo_.data(), rows_, 0.0);
    for (int k = 0; k < n; ++k) {
      y[k] = y[k] + Double2{correction_[k], 0.0};
      kernels_.axpy2(-y[k], column2(chosen[k]), omega2(), rows_);
    }
    for (int k = 0; k < n; ++k) {
      slope_[k] = kernels_.dot2(column2(chosen[k]), omega2(), rows_);
      slope[k] = (slope_[k] - ridge2_[k] * y[k]).hi;
    }
    const double change = corrections(slope.data());
    const bool shows = kernels_.dot(omega_.data(), omega_.data(), rows_) > kShows * system_.z_norm * system_.z_norm;
    if (change <= (shows ? kSettled : kExact) * top) return true;
    if (!(change < 0.1 * before)) return change <= kNearlySettled * top;
    before = change;
  }
  return false;
}

Double2 TiedColumns::ridge2(int h) const {
  Double2 sum{};
  for (int i = begin_[h]; i < begin_[h + 1]; ++i) {
    const double ridge = system_.ridge[members_[i]];
    if (ridge > 0.0) sum = sum + ratio_[members_[i]] * ratio_[members_[i]] * Double2{ridge, 0.0};
  }
  return sum;
}

bool TiedColumns::fit(std::uint32_t columns, Fit& out) {
  const System& s = system_;
  std::array<int, kMost> list;
  int n = 0;
  each(columns, [&](int h) { list[n++] = h; });
  const std::span<const int> chosen(list.data(), n);
  std::array<Double2, kMost> y{};
  if (!refine(chosen, {y.data(), static_cast<std::size_t>(n)})) return false;
  out.support = support(columns);
  out.x.clear(), out.coef.clear();
  out.feasible = out.counts = out.known = true;
  out.dependent = false;
  const Double2 square = kernels_.dot2(omega2(), omega2(), rows_);
  Double2 value = square;
  double scale = s.z_norm;
  for (int v : out.support) {
    const Double2 x = ratio_[v] * y[std::popcount(columns & ((std::uint32_t{1} << column_of_[v]) - 1))];
    out.x.push_back(x), out.coef.push_back(x.hi);
    out.counts = out.counts && s.within_limit(v, x.hi);
    if (s.ridge[v] > 0.0) value = value + x * x * Double2{s.ridge[v], 0.0};
    scale += std::abs(x.hi) * s.norm[v];
  }
  double floor = std::ldexp(scale, -96);
  floor *= floor;
  out.error = value.hi <= floor ? Double2{} : quantise(value);
  // The bound of value(), in double-double.
  const Span2 z{column(count_), zeros_.data()};
  const Double2 cross = kernels_.dot2(omega2(), z, rows_);
  const double norm = std::sqrt(square.hi), cut = out.error.hi * (1.0 + 1e-9) + floor;
  Double2 sum = cross + cross - square;
  double sizes = 2.0 * norm * s.z_norm + square.hi;
  for (int k = 0; k < n; ++k) {
    const int h = list[k];
    const Double2 slope = slope_[k], ridge = ridge2_[k];
    const double off = (rows_ + 16.0) * kUnit * size_[h] * norm, far = std::abs(slope.hi) + off;
    const double most = 2.0 * far * reach(h, cut), by_ridge = far / ridge.hi * far;  // (inf: no ridge)
    if (!(by_ridge < most)) {
      sum = sum - Double2{most * (1.0 + 8.0 * kEps), 0.0}, sizes += most;
      continue;
    }
    sum = sum - slope * slope / ridge - Double2{3.0 * off / ridge.hi * far, 0.0};
    sizes += by_ridge;
  }
  const double lower = (sum - Double2{(rows_ + count_ + 32.0) * kUnit * sizes, 0.0}).hi;
  out.lower = std::isnan(lower) ? 0.0 : std::clamp(lower - std::abs(lower) * 2.0 * kEps, 0.0, out.error.hi);
  return true;
}

}  // namespace exactsindy::constrained
