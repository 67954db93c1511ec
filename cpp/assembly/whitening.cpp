#include "assembly/whitening.hpp"

#include <algorithm>
#include <cmath>

namespace exactsindy {

bool tridiagonal_cholesky(std::span<double> diagonal, std::span<double> below) {
  double link = 0.0;
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    const double square = diagonal[i] - link * link;
    if (!(square > 0.0) || !std::isfinite(square)) return false;
    diagonal[i] = std::sqrt(square);
    if (i < below.size()) link = below[i] /= diagonal[i];
  }
  return true;
}

namespace {

constexpr std::size_t kColumns = 8;  // recurrences that go side by side and hide each other's latency
constexpr std::size_t kRows = 256;   // of a tile, which stays in the first-level cache

// Row i of L^-1 r is r_i / diagonal_i - link_i times the row before.
struct Tile {
  std::size_t start, rows;
  double weights[4][kRows], scale[kRows], link[kRows];

  Tile(const Increments& in, std::size_t first) : start(first), rows(std::min(kRows, in.rows - first)) {
    for (std::size_t i = 0; i < rows; ++i) {
      scale[i] = 1.0 / in.diagonal[start + i];
      link[i] = in.below[start + i] * scale[i];
      for (std::size_t k = 0; k < 4; ++k) weights[k][i] = in.weights[4 * (start + i) + k] * scale[i];
    }
  }

  // The scaled integrals of one column, along time; samples that do not exist are left out.
  void integrate(const Increments& in, std::size_t column, double* to) const {
    const double* x = in.values + column * in.samples + start + in.before;
    const bool begins = start + in.before == 0, ends = start + in.before + rows + 2 > in.samples;
    const std::size_t low = begins ? 1 : 0, high = ends ? rows - 1 : rows;
    for (std::size_t i = 0; i < rows; ++i) to[i] = weights[1][i] * x[i] + weights[2][i] * x[i + 1];
    for (std::size_t i = low; i < rows; ++i) to[i] += weights[0][i] * x[static_cast<std::ptrdiff_t>(i) - 1];
    for (std::size_t i = 0; i < high; ++i) to[i] += weights[3][i] * x[i + 2];
  }

  template <std::size_t kCount>
  void substitute(double* out, std::size_t stride, double* previous) const {
    double last[kCount];
    for (std::size_t q = 0; q < kCount; ++q) last[q] = previous[q];
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t q = 0; q < kCount; ++q) out[q * stride + i] = last[q] = out[q * stride + i] - link[i] * last[q];
    for (std::size_t q = 0; q < kCount; ++q) previous[q] = last[q];
  }
};

}  // namespace

void whiten(const Increments& in, double* previous, double* out) {
  for (std::size_t start = 0; start < in.rows; start += kRows) {
    const Tile tile(in, start);
    for (std::size_t q = 0; q < in.columns; ++q) tile.integrate(in, q, out + q * in.rows + start);
    double* target = out + in.columns * in.rows + start;
    for (std::size_t i = 0; i < tile.rows; ++i) target[i] = in.change[start + i] * tile.scale[i];
    std::size_t q = 0;
    for (; q + kColumns <= in.columns + 1; q += kColumns)
      tile.substitute<kColumns>(out + q * in.rows + start, in.rows, previous + q);
    for (; q < in.columns + 1; ++q) tile.substitute<1>(out + q * in.rows + start, in.rows, previous + q);
  }
}

}  // namespace exactsindy
