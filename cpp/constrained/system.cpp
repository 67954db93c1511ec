#include "constrained/system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace exactsindy::constrained {

namespace {

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
    for (int v = 0; v < n; ++v) out[i * n + v] = std::ldexp(rows[i * n + v], -s.exponent[v] - top - 1);
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
  z.reset(std::max(rows, 1));
  zeros.reset(std::max(rows, 1));
  double square = 0.0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Block& b = blocks[i];
    const EquationData& e = equations[i];
    for (int r = 0; r < b.count; ++r) {
      z[b.row + r] = std::ldexp(e.target[r], -target_exponent);
      square += b.weight * z[b.row + r] * z[b.row + r];
    }
    for (double x : e.rest) {
      const double y = std::ldexp(x, -target_exponent);
      rest = rest + Double2{b.weight, 0.0} * two_prod(y, y);
    }
    for (int j = 0; j < b.count; ++j) {
      std::vector<double> entries(b.count + 1);
      for (int r = 0; r <= j; ++r) entries[r] = e.factor[static_cast<std::size_t>(r) * b.count + j];
      const bool zero = std::all_of(entries.begin(), entries.end(), [](double x) { return x == 0.0; });
      entries[b.count] = std::sqrt(e.ridge[j] / b.weight);
      const int shift = norm_exponent(entries);
      exponent.push_back(shift);
      block_of.push_back(static_cast<int>(i));
      ridge.push_back(std::ldexp(e.ridge[j], -2 * shift));
      has_ridge |= e.ridge[j] > 0.0;
      column.emplace_back(b.rows);
      double sum = 0.0;
      for (int r = 0; r <= j; ++r) {
        column.back()[r] = std::ldexp(entries[r], -shift);
        sum += b.weight * column.back()[r] * column.back()[r];
      }
      norm.push_back(std::sqrt(sum + ridge.back()) * (1.0 + 1e-12));
      inert.push_back(zero);
    }
  }
  z_norm = std::sqrt(square) * (1.0 + 1e-12);
  equal_count = static_cast<int>(given.equal_rhs.size());
  below_count = static_cast<int>(given.below_rhs.size());
  scale_rows(given.equal, given.equal_rhs, *this, equal, equal_rhs);
  scale_rows(given.below, given.below_rhs, *this, below, below_rhs);
  double largest = 1.0;
  for (double x : equal_rhs) largest = std::max(largest, std::abs(x));
  for (int v = 0; v < variables; ++v) {
    const int shift = exponent[v] - target_exponent;
    lower.push_back(std::ldexp(given.lower[v], shift));
    upper.push_back(std::ldexp(given.upper[v], shift));
    least.push_back(std::ldexp(given.least[v], shift));
    most.push_back(std::ldexp(given.most[v], shift));
    for (double x : {lower.back(), upper.back(), least.back()})
      if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
    for (int i = 0; i < equal_count; ++i) inert[v] = inert[v] && equal_row(i)[v] == 0.0;
    for (int i = 0; i < below_count; ++i) inert[v] = inert[v] && below_row(i)[v] == 0.0;
    inert[v] = inert[v] && lower[v] <= 0.0 && upper[v] >= 0.0 && least[v] == 0.0;
  }
  presence = given.presence;
  reach_limit = std::ldexp(largest, 50);
}

Units System::units() const {
  std::vector<int> same(variables);
  std::iota(same.begin(), same.end(), 0);
  return {rest, target_exponent, exponent, std::move(same)};
}

}  // namespace exactsindy::constrained
