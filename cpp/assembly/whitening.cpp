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

constexpr std::size_t kTogether = 8;  // columns whose recurrences hide each other's latency

// int over the interval of row i of one column; weights of samples that do not exist are left out.
inline double integral(const Increments& in, const double* x, std::size_t i) {
  const double* w = in.weights + 4 * i;
  const std::size_t at = i + in.before;
  double sum = w[1] * x[at] + w[2] * x[at + 1];
  if (at > 0) sum += w[0] * x[at - 1];
  if (at + 2 < in.samples) sum += w[3] * x[at + 2];
  return sum;
}

template <std::size_t kCount>
void whiten_columns(const Increments& in, std::size_t first, double* previous, double* out) {
  double last[kCount];
  const double* x[kCount];
  double* to[kCount];
  for (std::size_t q = 0; q < kCount; ++q) {
    last[q] = previous[first + q];
    x[q] = in.values + (first + q) * in.samples;
    to[q] = out + (first + q) * in.rows;
  }
  const auto step = [&](std::size_t i, auto value) {
    const double link = in.below[i], inverse = 1.0 / in.diagonal[i];
    for (std::size_t q = 0; q < kCount; ++q) to[q][i] = last[q] = (value(q) - link * last[q]) * inverse;
  };
  const auto careful = [&](std::size_t i) { step(i, [&](std::size_t q) { return integral(in, x[q], i); }); };
  const std::size_t inner = in.before > 0 ? 0 : 1;
  const std::size_t end = std::min(in.rows, in.samples - std::min(in.samples, in.before + 2));
  std::size_t i = 0;
  for (; i < std::min(inner, in.rows); ++i) careful(i);
  for (; i < end; ++i) {
    const double* w = in.weights + 4 * i;
    const std::size_t at = i + in.before;
    step(i, [&](std::size_t q) {
      return (w[1] * x[q][at] + w[2] * x[q][at + 1]) + (w[0] * x[q][at - 1] + w[3] * x[q][at + 2]);
    });
  }
  for (; i < in.rows; ++i) careful(i);
  for (std::size_t q = 0; q < kCount; ++q) previous[first + q] = last[q];
}

}  // namespace

void whiten(const Increments& in, double* previous, double* out) {
  std::size_t q = 0;
  for (; q + kTogether <= in.columns; q += kTogether) whiten_columns<kTogether>(in, q, previous, out);
  for (; q < in.columns; ++q) whiten_columns<1>(in, q, previous, out);
  double last = previous[in.columns];
  double* to = out + in.columns * in.rows;
  for (std::size_t i = 0; i < in.rows; ++i) to[i] = last = (in.change[i] - in.below[i] * last) * (1.0 / in.diagonal[i]);
  previous[in.columns] = last;
}

}  // namespace exactsindy
