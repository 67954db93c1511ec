// Householder reflections that clear rows below a triangular factor; part of loops_isa.cpp.
#include <algorithm>
#include <cmath>

#include "assembly/loops.hpp"
#include "core/vec.hpp"

namespace exactsindy {
namespace {

constexpr int kPanel = 8;                             // reflections applied to a few columns while these stay in cache
constexpr double kSmall = 0x1p-800, kLift = 0x1p600;  // squared norms below kSmall lose digits to underflow

// I - scale v v' with v = (top, a column of the rows).
struct Reflection {
  double top = 0.0, scale = 0.0;
  const double* tail = nullptr;
  int length = 0;  // of the tail, a multiple of 8
};

double square(const double* x, int length) {
  Vec sum = fill(0.0);
  for (int i = 0; i < length; i += kLane) sum += vec(x + i) * vec(x + i);
  return total(sum);
}

// The reflection that takes (diagonal, column) to (new diagonal, 0).
Reflection eliminate(double& diagonal, double* column, int length) {
  double below = square(column, length), lift = 1.0;
  if (below < kSmall) {
    // Powers of two: the direction, all that is used of the column from now on, stays the same.
    lift = kLift;
    for (int i = 0; i < length; ++i) column[i] *= lift;
    below = square(column, length);
  }
  if (below == 0.0) return {};
  // A column far below its diagonal leaves this as it is; lifting the diagonal as well could overflow.
  if (lift != 1.0 && std::fabs(diagonal) > 0x1p-300) return {};
  const double top = diagonal * lift, norm = std::sqrt(top * top + below);
  diagonal = (top < 0.0 ? norm : -norm) / lift;
  const double size = norm + std::fabs(top);
  return {top < 0.0 ? -size : size, 1.0 / (norm * size), column, length};
}

template <int kColumns>
inline void apply(const Reflection& h, double* const* heads, double* const* columns) {
  Vec sum[kColumns];
  for (int c = 0; c < kColumns; ++c) sum[c] = fill(0.0);
  for (int i = 0; i < h.length; i += kLane) {
    const Vec v = vec(h.tail + i);
    for (int c = 0; c < kColumns; ++c) sum[c] += v * vec(columns[c] + i);
  }
  Vec minus[kColumns];
  for (int c = 0; c < kColumns; ++c) {
    const double share = (h.top * *heads[c] + total(sum[c])) * h.scale;
    *heads[c] -= share * h.top;
    minus[c] = fill(-share);
  }
  for (int i = 0; i < h.length; i += kLane) {
    const Vec v = vec(h.tail + i);
    for (int c = 0; c < kColumns; ++c) vec(columns[c] + i) += minus[c] * v;
  }
}

// Apply reflections of the columns first.. to the columns from `from` to `to`.
template <int kColumns>
inline void apply_all(const Reflection* h, int count, int first, double* factor, int width, double* rows, int stride,
                      int from) {
  double *heads[kColumns], *columns[kColumns];
  for (int c = 0; c < kColumns; ++c) columns[c] = rows + static_cast<std::size_t>(from + c) * stride;
  for (int k = 0; k < count; ++k) {
    if (!h[k].tail) continue;
    for (int c = 0; c < kColumns; ++c) heads[c] = factor + static_cast<std::size_t>(from + c) * width + first + k;
    apply<kColumns>(h[k], heads, columns);
  }
}

void reflect(double* factor, int width, double* rows, int count, int stride, bool trapezoid) {
  Reflection h[kPanel];
  for (int first = 0; first < width; first += kPanel) {
    const int panel = std::min(kPanel, width - first);
    for (int k = 0; k < panel; ++k) {
      const int j = first + k;
      // In a trapezoid the reflections of a panel reach as far as its last column.
      const int height = padded(trapezoid ? std::min(count, first + panel) : count);
      if (k > 0) apply_all<1>(h, k, first, factor, width, rows, stride, j);
      h[k] = eliminate(factor[static_cast<std::size_t>(j) * width + j], rows + static_cast<std::size_t>(j) * stride,
                       height);
    }
    int j = first + panel;
    for (; j + 4 <= width; j += 4) apply_all<4>(h, panel, first, factor, width, rows, stride, j);
    for (; j < width; ++j) apply_all<1>(h, panel, first, factor, width, rows, stride, j);
  }
}

}  // namespace
}  // namespace exactsindy
