// Cholesky factor of a band matrix that carries a border along; part of loops_isa.cpp.
#include <algorithm>
#include <cmath>

#include "assembly/loops.hpp"

namespace exactsindy {
namespace {

inline void subtract(double* __restrict to, const double* __restrict from, double factor, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] -= factor * from[i];
}

bool eliminate(const Bordered& a, double* curvature, double* slope) {
  const std::size_t p = a.width - 1;
  for (std::size_t v = 0; v < a.unknowns; ++v) {
    double* column = a.band + v * a.reach;
    if (!(column[0] > 0.0) || !std::isfinite(column[0])) return false;
    const double scale = 1.0 / std::sqrt(column[0]);
    const std::size_t count = std::min(a.reach, a.unknowns - v);
    for (std::size_t k = 0; k < count; ++k) column[k] *= scale;
    double* row = a.rows + v * a.width;
    for (std::size_t q = 0; q < a.width; ++q) row[q] *= scale;
    for (std::size_t k = 1; k < count; ++k) {
      if (column[k] == 0.0) continue;
      subtract(column + k * a.reach, column + k, column[k], count - k);
      subtract(row + k * a.width, row, column[k], a.width);
    }
    for (std::size_t q = 0; q < p; ++q) {
      if (row[q] == 0.0) continue;
      subtract(curvature + q * p, row, row[q], q + 1);
      slope[q] -= row[q] * row[p];
    }
  }
  return true;
}

}  // namespace
}  // namespace exactsindy
