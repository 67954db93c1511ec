#include "search/perspective.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

namespace exactsindy {

namespace {

constexpr int kMostColumns = 600;     // a factorisation of the library has to pay
constexpr double kShare = 0.999;      // of the largest delta that would do
constexpr double kLeastShare = 1e-7;  // below this the bound cannot help

// True if the symmetric matrix g - diag(shift) is positive semidefinite, rounding included. A Cholesky factorisation
// that ends is exact for a matrix changed by at most (n + 2) eps trace (Rump); `slack` is what entries of g may be off.
bool positive(const Array& g, int n, int stride, const std::vector<double>& shift, double slack) {
  const Kernels& k = kernels();
  Array l(static_cast<std::size_t>(n) * stride);
  const double lost = n * slack + 4.0 * (n + 2) * kEps * n;
  for (int i = 0; i < n; ++i) {
    double* row = l.data() + static_cast<std::size_t>(i) * stride;
    for (int j = 0; j <= i; ++j) {
      const double* other = l.data() + static_cast<std::size_t>(j) * stride;
      double s = g[static_cast<std::size_t>(i) * stride + j] - k.dot(row, other, padded(j + 1));
      if (i == j) {
        s -= shift[i] + lost;
        if (!(s > 0.0)) return false;
        row[i] = std::sqrt(s);
      } else {
        row[j] = s / other[j];
      }
    }
  }
  return true;
}

}  // namespace

Perspective::Perspective(const Instance& instance, const Guide& guide)
    : instance_(instance), guide_(guide), kernels_(kernels()) {
  const int n = instance.columns, stride = guide.stride;
  if (instance.has_ridge || !guide.invertible || guide.regular > 0.0 || n > kMostColumns) return;
  // With P the inverse of the normalised Gram matrix and C its correlation matrix, diag(1 / P_jj) / lambda_max(C) is a
  // delta. The largest eigenvalue comes from the dual vectors by the power method.
  std::vector<double> length(n);
  for (int j = 0; j < n; ++j) {
    const double* row = guide.dual.data() + static_cast<std::size_t>(j) * stride;
    length[j] = std::sqrt(kernels_.dot(row, row, stride));
    if (!(length[j] > 0.0) || !std::isfinite(length[j])) return;
  }
  Array x(stride), y(stride);
  for (int i = 0; i < n; ++i) x[i] = 1.0 + 0.01 * (i % 7);
  double top = 0.0;
  for (int round = 0; round < 60; ++round) {
    std::fill(y.data(), y.data() + stride, 0.0);
    for (int j = 0; j < n; ++j) {
      const double* row = guide.dual.data() + static_cast<std::size_t>(j) * stride;
      const double u = kernels_.dot(row, x.data(), stride) / (length[j] * length[j]);
      kernels_.axpy(u, row, y.data(), stride);
    }
    const double norm = std::sqrt(kernels_.dot(y.data(), y.data(), stride));
    top = norm / std::sqrt(kernels_.dot(x.data(), x.data(), stride));
    for (int i = 0; i < stride; ++i) x[i] = y[i] / norm;
  }
  share_.resize(n);
  const double slack = 2.0 * kEps * (instance.stride / kLane + 16);
  bool certain = false;
  for (double factor : {1.02, 1.2, 2.0}) {  // (the power method ends below the largest eigenvalue)
    for (int j = 0; j < n; ++j) {
      const double p = length[j] * guide.scale[j];
      share_[j] = kShare / (factor * top * p * p);
    }
    if (*std::max_element(share_.begin(), share_.end()) < kLeastShare) return;
    if ((certain = positive(guide.gram, n, stride, share_, slack))) break;
  }
  if (!certain) return;
  delta_.resize(n);
  for (int j = 0; j < n; ++j) {
    // (Normalisation is known to rounding: a little less is safe.)
    delta_[j] = share_[j] * guide.scale[j] * guide.scale[j] * (1.0 - 1e-9);
    share_[j] *= 1.0 - 1e-9;
  }
  for (Array* a : {&product_, &direction_, &image_}) a->reset(stride);
  w_.reset(instance.stride);
  gain_.resize(n);
  usable_ = true;
}

double Perspective::ascend(const Terms& t, double cut, int steps, double* v) {
  const int stride = guide_.stride, terms = t.in_count + t.free_count;
  const auto column = [&](int i) { return i < t.in_count ? t.in[i] : t.free[i - t.in_count]; };
  const auto times_gram = [&](const double* x, Array& out) {
    for (int i = 0; i < terms; ++i)
      out[column(i)] = kernels_.dot(guide_.gram.data() + static_cast<std::size_t>(column(i)) * stride, x, stride);
  };
  times_gram(v, product_);
  double bound = -kInf, first = -kInf;
  for (int step = 0;; ++step) {
    double value = guide_.square, all = 0.0;
    sorted_.clear();
    for (int i = 0; i < terms; ++i) {
      const int j = column(i);
      const double h = guide_.moment[j] - product_[j] + share_[j] * v[j], p = h * h / share_[j];
      value += v[j] * (share_[j] * v[j] - product_[j]);
      gain_[j] = h / share_[j];
      if (i < t.in_count)
        all += p;
      else
        sorted_.push_back(p);
    }
    double least = 0.0;  // gain of the last term that counts
    if (t.slots < t.free_count) {
      std::nth_element(sorted_.begin(), sorted_.begin() + t.slots, sorted_.end(), std::greater<>());
      least = sorted_[t.slots];
      sorted_.resize(t.slots);
    }
    for (double p : sorted_) all += p;
    bound = value - all;
    if (step == 0) first = bound;
    if (bound > cut || step == steps) return bound;
    if (step == 8 && bound - first < 0.25 * (cut - first)) return bound;  // too slow to get there
    // Towards the minimiser of the linearised problem.
    std::fill(direction_.data(), direction_.data() + stride, 0.0);
    for (int i = 0; i < terms; ++i) {
      const int j = column(i);
      const bool counts = i < t.in_count || gain_[j] * gain_[j] * share_[j] > least;
      direction_[j] = (counts ? gain_[j] : 0.0) - v[j];
    }
    times_gram(direction_.data(), image_);
    double curvature = 0.0;
    for (int i = 0; i < terms; ++i) {
      const int j = column(i);
      curvature += direction_[j] * (image_[j] - share_[j] * direction_[j]);
    }
    if (!(curvature > 0.0)) return bound;
    const double length = std::min(1.0, (1.0001 * cut - bound) / (2.0 * curvature));
    for (int i = 0; i < terms; ++i) {
      const int j = column(i);
      v[j] += length * direction_[j];
      product_[j] += length * image_[j];
    }
  }
}

double Perspective::certified(const Terms& t, const double* v, std::vector<float>& rounded) {
  const int rows = instance_.stride, terms = t.in_count + t.free_count;
  const auto column = [&](int i) { return i < t.in_count ? t.in[i] : t.free[i - t.in_count]; };
  const double gamma = (rows / kLane + 8) * 2.0 * kEps;
  rounded.assign(instance_.columns, 0.0f);
  std::memcpy(w_.data(), instance_.z.data(), rows * sizeof(double));
  double size = instance_.z_norm, squares = 0.0;
  for (int i = 0; i < terms; ++i) {
    const int j = column(i);
    rounded[j] = static_cast<float>(v[j] / guide_.scale[j]);
    const double x = rounded[j];
    kernels_.axpy(-x, instance_.column(j), w_.data(), rows);
    size += std::abs(x) * instance_.norm[j];
    squares += delta_[j] * x * x;
  }
  // One product and one sum for each term: w is off by at most this, in norm.
  const double off = (terms + 2) * 2.0 * kEps * size;
  const double w_square = kernels_.dot(w_.data(), w_.data(), rows),
               wz = kernels_.dot(w_.data(), instance_.z.data(), rows);
  if (!(w_square > 1e-280)) return -kInf;
  const double w_norm = std::sqrt(w_square) * (1.0 + gamma);
  double all = 0.0;
  sorted_.clear();
  for (int i = 0; i < terms; ++i) {
    const int j = column(i);
    const double g = kernels_.dot(w_.data(), instance_.column(j), instance_.length[j]), own = delta_[j] * rounded[j];
    const double h =
        std::abs(g + own) + (off + gamma * w_norm) * instance_.norm[j] + 2.0 * kEps * (std::abs(g) + std::abs(own));
    const double p = h / delta_[j] * h * (1.0 + 8.0 * kEps);
    if (i < t.in_count)
      all += p;
    else
      sorted_.push_back(p);
  }
  if (t.slots < t.free_count) {
    std::nth_element(sorted_.begin(), sorted_.begin() + t.slots, sorted_.end(), std::greater<>());
    sorted_.resize(t.slots);
  }
  for (double p : sorted_) all += p;
  const double magnitude = 2.0 * std::abs(wz) + w_square + squares + all;
  const double result = 2.0 * wz - w_square + squares - all - 2.0 * off * (instance_.z_norm + w_norm + off) -
                        gamma * (2.0 * w_norm * instance_.z_norm + w_square) - (2.0 * terms + 16.0) * kEps * magnitude;
  return std::isnan(result) ? -kInf : result;
}

}  // namespace exactsindy
