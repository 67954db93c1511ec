#include "constrained/system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace exactsindy::constrained {

namespace {

// Multiplies by a power of two; ldexp where that power is no double.
class Power {
 public:
  explicit Power(int exponent)
      : exponent_(exponent), factor_(std::abs(exponent) < 1000 ? std::ldexp(1.0, exponent) : 0.0) {}
  double operator()(double x) const { return factor_ != 0.0 ? x * factor_ : std::ldexp(x, exponent_); }

 private:
  int exponent_;
  double factor_;
};

// Linear rows in scaled variables, each with its largest entry in [1/2, 1).
void scale_rows(const std::vector<double>& rows, const std::vector<double>& rhs, const System& s,
                std::vector<double>& out, std::vector<double>& out_rhs) {
  const int n = s.variables;
  out.assign(rows.size(), 0.0);
  for (std::size_t i = 0; i < rhs.size(); ++i) {
    int top = std::numeric_limits<int>::min();
    for (int v = 0; v < n; ++v) {
      const double c = rows[i * n + v];
      if (c != 0.0) top = std::max(top, std::ilogb(c) - s.exponent[v]);
    }
    if (top == std::numeric_limits<int>::min()) top = 0;
    for (int v = 0; v < n; ++v)
      if (rows[i * n + v] != 0.0) out[i * n + v] = std::ldexp(rows[i * n + v], -s.exponent[v] - top - 1);
    out_rhs.push_back(std::ldexp(rhs[i], -s.target_exponent - top - 1));
  }
}

}  // namespace

System::System(std::span<const EquationData> equations, const Constraints& given) {
  std::vector<std::vector<double>> targets;
  target_exponent = std::numeric_limits<int>::min();
  for (const EquationData& e : equations) {
    std::vector<double> whole(e.target.begin(), e.target.end());
    whole.insert(whole.end(), e.rest.begin(), e.rest.end());
    for (double& x : whole) x *= std::sqrt(e.weight);
    if (std::any_of(whole.begin(), whole.end(), [](double x) { return x != 0.0; }))
      target_exponent = std::max(target_exponent, norm_exponent(whole));
  }
  if (target_exponent == std::numeric_limits<int>::min()) target_exponent = 0;
  for (const EquationData& e : equations) {
    Block b;
    b.first = variables;
    b.count = static_cast<int>(e.target.size());
    b.row = rows;
    b.rows = padded(std::max(b.count, 1));
    b.weight = e.weight;
    b.root = std::sqrt(e.weight);
    blocks.push_back(b);
    variables += b.count;
    rows += b.rows;
  }
  for (std::vector<int>* list : {&block_of, &exponent}) list->reserve(variables);
  for (std::vector<double>* list : {&ridge, &norm, &lower, &upper, &least, &most, &limit}) list->reserve(variables);
  column.reserve(variables), inert.reserve(variables);
  const Power of_target(-target_exponent);
  z.reset(std::max(rows, 1));
  zeros.reset(std::max(rows, 1));
  std::size_t whole_size = 0;
  for (const Block& b : blocks) whole_size += static_cast<std::size_t>(b.count) * b.rows;
  columns.reset(std::max<std::size_t>(whole_size, 1));
  double* next = columns.data();
  double square = 0.0;
  std::vector<double> data_norm, entries;  // data_norm: sqrt(weight) |a_v|
  data_norm.reserve(variables);
  std::vector<double> target_square(blocks.size(), 0.0);  // weight |y|^2
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Block& b = blocks[i];
    const EquationData& e = equations[i];
    for (int r = 0; r < b.count; ++r) {
      z[b.row + r] = of_target(e.target[r]);
      square += b.weight * z[b.row + r] * z[b.row + r];
      target_square[i] += b.weight * z[b.row + r] * z[b.row + r];
    }
    for (double x : e.rest) {
      const double y = of_target(x);
      rest = rest + Double2{b.weight, 0.0} * two_prod(y, y);
      target_square[i] += b.weight * y * y;
    }
    entries.resize(b.count + 1);
    for (int j = 0; j < b.count; ++j) {
      std::fill(entries.begin(), entries.end(), 0.0);
      for (int r = 0; r <= j; ++r) entries[r] = e.factor[static_cast<std::size_t>(r) * b.count + j];
      const bool zero = std::all_of(entries.begin(), entries.end(), [](double x) { return x == 0.0; });
      entries[b.count] = std::sqrt(e.ridge[j] / b.weight);
      const int shift = norm_exponent(entries);
      exponent.push_back(shift);
      block_of.push_back(static_cast<int>(i));
      ridge.push_back(std::ldexp(e.ridge[j], -2 * shift));
      has_ridge |= e.ridge[j] > 0.0;
      column.push_back(next);
      double sum = 0.0;
      const Power of_column(-shift);
      for (int r = 0; r <= j; ++r) {
        next[r] = of_column(entries[r]);
        sum += b.weight * next[r] * next[r];
      }
      next += b.rows;
      data_norm.push_back(std::sqrt(sum));
      norm.push_back(std::sqrt(sum + ridge.back()) * (1.0 + 1e-12));
      inert.push_back(zero);
    }
  }
  z_norm = std::sqrt(square) * (1.0 + 1e-12);
  equal_count = static_cast<int>(given.equal_rhs.size());
  below_count = static_cast<int>(given.below_rhs.size());
  scale_rows(given.equal, given.equal_rhs, *this, equal, equal_rhs);
  scale_rows(given.below, given.below_rhs, *this, below, below_rhs);
  for (int v = 0; v < variables; ++v) {
    const int shift = exponent[v] - target_exponent;
    lower.push_back(std::ldexp(given.lower[v], shift));
    upper.push_back(std::ldexp(given.upper[v], shift));
    least.push_back(std::ldexp(given.least[v], shift));
    most.push_back(std::ldexp(given.most[v], shift));
    for (int i = 0; i < equal_count; ++i) inert[v] = inert[v] && equal_row(i)[v] == 0.0;
    for (int i = 0; i < below_count; ++i) inert[v] = inert[v] && below_row(i)[v] == 0.0;
    inert[v] = inert[v] && lower[v] <= 0.0 && upper[v] >= 0.0 && least[v] == 0.0;
  }
  presence = given.presence;
  set_limits(given.coefficient_limit, data_norm, std::move(target_square));
}

// Rows bind the coefficients of equations together: those have one limit, from the norm of all their targets, or from
// what a condition asks for, if that is larger. (c'x = d has no solution with all sqrt(weight) |x_v| |a_v| small
// against |d| / max_v (|c_v| / (sqrt(weight) |a_v|)).) A column of zeros meets any row, and the data say nothing about
// its size.
void System::set_limits(double coefficient_limit, const std::vector<double>& data_norm,
                        std::vector<double> target_square) {
  std::vector<int> group(blocks.size());
  std::iota(group.begin(), group.end(), 0);
  const auto bind = [&](const double* row) {
    int first = -1;
    for (int v = 0; v < variables; ++v) {
      if (row[v] == 0.0) continue;
      const int mine = group[block_of[v]];
      if (first < 0) first = mine;
      if (mine != first) std::replace(group.begin(), group.end(), mine, first);
    }
  };
  for (int i = 0; i < equal_count; ++i) bind(equal_row(i));
  for (int i = 0; i < below_count; ++i) bind(below_row(i));
  std::vector<double> size(blocks.size(), 0.0);  // of each group
  for (std::size_t b = 0; b < blocks.size(); ++b) size[group[b]] += target_square[b];
  for (double& x : size) x = std::sqrt(x);
  const auto asked = [&](const double* row, double rhs) {
    double top = 0.0;
    int last = -1;
    for (int v = 0; v < variables; ++v)
      if (row[v] != 0.0) top = std::max(top, std::abs(row[v]) / data_norm[v]), last = v;
    if (last >= 0) size[group[block_of[last]]] = std::max(size[group[block_of[last]]], std::abs(rhs) / top);
  };
  for (int i = 0; i < equal_count; ++i) asked(equal_row(i), equal_rhs[i]);
  for (int i = 0; i < below_count; ++i)
    if (below_rhs[i] < 0.0) asked(below_row(i), below_rhs[i]);
  for (int v = 0; v < variables; ++v)
    for (double x : {lower[v], -upper[v], least[v]})
      if (x > 0.0 && std::isfinite(x)) size[group[block_of[v]]] = std::max(size[group[block_of[v]]], x * data_norm[v]);
  for (int v = 0; v < variables; ++v) {
    const double own = size[group[block_of[v]]];
    limit.push_back(data_norm[v] > 0.0 ? own * coefficient_limit / data_norm[v] : std::ldexp(std::max(own, 1.0), 50));
  }
}

Units System::units() const {
  std::vector<int> same(variables);
  std::iota(same.begin(), same.end(), 0);
  return {rest, target_exponent, exponent, std::move(same)};
}

}  // namespace exactsindy::constrained
