#include "search/instance.hpp"

#include <algorithm>
#include <cmath>

namespace exactsindy {

namespace {

constexpr double kTiny = 1e-120;  // squares have 80 bits to spare above the smallest double

// v *= 2^e, exact but for underflow; plain products where the power itself is a normal number.
void shift(std::span<double> v, int e) {
  if (std::abs(e) >= 1000) {
    for (double& x : v) x = std::ldexp(x, e);
    return;
  }
  const double factor = std::ldexp(1.0, e);
  for (double& x : v) x *= factor;
}

// Columns first..last-1 of the factor, as rows of `a`, in tiles that fill whole cache lines.
void transpose(const Factor& factor, int first, int last, int rows, double* a, int stride) {
  for (int top = 0; top < std::min(last, rows); top += kLane)
    for (int j = std::max(first, top); j < last; ++j) {
      double* column = a + static_cast<std::size_t>(j) * stride;
      const int end = std::min({top + kLane, j + 1, rows});
      for (int i = top; i < end; ++i) column[i] = factor.entries[i * factor.row + j];
    }
}

}  // namespace

Instance Instance::from_factor(const Factor& factor, const Crew& crew) {
  Instance out;
  const int n = static_cast<int>(factor.target.size());
  const auto empty = [&](int i) {  // row i of the factor
    const double* row = factor.entries + i * factor.row;
    return std::all_of(row + i, row + n, [](double x) { return x == 0.0; });
  };
  out.rows = n;  // fewer samples than terms leave empty rows at the end: there the target lies outside all columns
  while (out.rows > 0 && empty(out.rows - 1)) --out.rows;
  out.stride = padded(std::max(out.rows, 1));
  out.take_target(factor);
  out.a.reset(static_cast<std::size_t>(n) * out.stride);
  std::vector<int> exponent(n);
  std::vector<double> square(n, -1.0);  // of the scaled column; < 0: it is zero
  const auto load = [&](int first, int last) {
    transpose(factor, first, last, out.rows, out.a.data(), out.stride);
    for (int j = first; j < last; ++j) {
      const std::span<double> column(out.a.data() + static_cast<std::size_t>(j) * out.stride,
                                     std::min(j + 1, out.rows));
      if (std::all_of(column.begin(), column.end(), [](double x) { return x == 0.0; })) continue;
      exponent[j] = norm_exponent(column, std::sqrt(factor.ridge[j]));
      shift(column, -exponent[j]);
      square[j] = 0.0;
      for (double x : column) square[j] += x * x;
    }
  };
  if (!in_blocks(crew, n, load)) return out;
  out.whole = true;
  for (int j = 0; j < n; ++j) {
    if (square[j] < 0.0) continue;
    const double ridge = std::ldexp(factor.ridge[j], -2 * exponent[j]);
    if (out.columns < j)
      std::copy(out.column(j), out.column(j) + out.stride,
                out.a.data() + static_cast<std::size_t>(out.columns) * out.stride);
    out.original.push_back(j);
    out.exponent.push_back(exponent[j]);
    out.length.push_back(std::min(padded(j + 1), out.stride));
    out.ridge.push_back(ridge);
    out.has_ridge |= factor.ridge[j] > 0.0;
    out.square_.push_back(square[j]);
    out.norm.push_back(std::sqrt(square[j] + ridge) * (1.0 + (n + 8) * kEps));
    ++out.columns;
  }
  out.take_limits(factor);
  return out;
}

Instance Instance::with_target(const Factor& factor) const {
  Instance out;
  out.whole = whole, out.rows = rows, out.stride = stride, out.columns = columns;
  out.a = a.view();
  out.length = length, out.original = original, out.exponent = exponent;
  out.ridge = ridge, out.norm = norm, out.has_ridge = has_ridge, out.square_ = square_;
  out.take_target(factor);
  out.take_limits(factor);
  return out;
}

void Instance::take_limits(const Factor& factor) {
  const double size = std::sqrt(z_square + rest.hi);
  for (double square : square_) {
    const double inverse = square > 0.0 ? 1.0 / std::sqrt(square) : kInf;
    limit.push_back(size > 0.0 ? inverse * factor.coefficient_limit * size : 0.0);
  }
}

void Instance::take_target(const Factor& factor) {
  std::vector<double> all(factor.target.begin(), factor.target.end());
  all.insert(all.end(), factor.rest.begin(), factor.rest.end());
  target_exponent = norm_exponent(all);
  z.reset(stride);
  for (int i = 0; i < rows; ++i) {
    z[i] = std::ldexp(factor.target[i], -target_exponent);
    z_square += z[i] * z[i];
  }
  // Products of what is left of the target would underflow, and the objective could not show it: it counts as nothing.
  if (z_square < kTiny * kTiny) {
    std::fill(z.data(), z.data() + stride, 0.0);
    z_square = 0.0;
  }
  z_norm = std::sqrt(z_square) * (1.0 + (static_cast<int>(factor.target.size()) + 8) * kEps);
  if (z_square > 0.0) {
    grain = std::ldexp(1.0, std::ilogb(z_norm) - 79);
    zero = std::ldexp(z_square, -144);
  }
  for (std::size_t i = rows; i < all.size(); ++i) {
    const double y = std::ldexp(all[i], -target_exponent);
    rest = rest + two_prod(y, y);
  }
  tail.assign(stride / kLane + 1, Double2{});
  for (int block = stride / kLane - 1; block >= 0; --block) {
    tail[block] = tail[block + 1];
    for (int i = 0; i < kLane; ++i) {
      const double y = z[block * kLane + i];
      tail[block] = tail[block] + two_prod(y, y);
    }
  }
}

}  // namespace exactsindy
