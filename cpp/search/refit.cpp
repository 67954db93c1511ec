#include "search/refit.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace exactsindy {

Refitter::Refitter(const Instance& instance)
    : instance_(instance), kernels_(kernels()), length_(instance.stride + padded(kMaxSize)) {
  const std::size_t vectors = std::min(kMaxSize, instance.columns) + 1;
  hi_.reset(vectors * length_);
  lo_.reset(vectors * length_);
}

// Modified Gram-Schmidt with reorthogonalisation on the ridge-augmented columns. Vector i < kept_count_ is the
// i-th orthonormal direction; the vector after them is scratch for the target.
int Refitter::orthogonalise(std::span<const int> support) {
  used_ = 0;
  for (int j : support) used_ = std::max(used_, instance_.length[j]);
  const int ridge_rows = instance_.has_ridge ? padded(static_cast<int>(support.size())) : 0;
  const int n = used_ + ridge_rows;
  kept_count_ = 0;
  double volume = 1.0;
  for (std::size_t s = 0; s < support.size(); ++s) {
    const int j = support[s];
    const Span2 q = vector(kept_count_);
    std::memcpy(q.hi, instance_.column(j), used_ * sizeof(double));
    std::memset(q.lo, 0, n * sizeof(double));
    if (ridge_rows) {
      std::memset(q.hi + used_, 0, ridge_rows * sizeof(double));
      const Double2 root = sqrt(Double2{instance_.ridge[j], 0.0});
      q.hi[used_ + s] = root.hi;
      q.lo[used_ + s] = root.lo;
    }
    for (int i = 0; i < kept_count_; ++i) r_[i][kept_count_] = Double2{};
    for (int pass = 0; pass < 2; ++pass)
      for (int i = 0; i < kept_count_; ++i) {
        const Double2 h = kernels_.dot2(vector(i), q, n);
        kernels_.axpy2(-h, vector(i), q, n);
        r_[i][kept_count_] = r_[i][kept_count_] + h;
      }
    const Double2 norm = sqrt(kernels_.dot2(q, q, n));
    const double distance = norm.hi / instance_.norm[j];
    if (distance <= kDependent || distance * volume <= kLeastVolume) continue;
    volume *= distance;
    const Double2 inverse = Double2{1.0, 0.0} / norm;
    for (int i = 0; i < n; ++i) {
      const Double2 x = Double2{q.hi[i], q.lo[i]} * inverse;
      q.hi[i] = x.hi;
      q.lo[i] = x.lo;
    }
    r_[kept_count_][kept_count_] = norm;
    kept_[kept_count_++] = j;
  }
  return n;
}

void Refitter::fit(std::span<const int> support, Fit& result) {
  const int n = orthogonalise(support);
  const int size = kept_count_;
  result.size = size;
  result.independent = size == static_cast<int>(support.size());
  result.within = true;
  const Span2 residual = vector(size);
  std::memcpy(residual.hi, instance_.z.data(), used_ * sizeof(double));
  std::memset(residual.hi + used_, 0, (n - used_) * sizeof(double));
  std::memset(residual.lo, 0, n * sizeof(double));
  Double2 x[kMaxSize];
  for (int i = 0; i < size; ++i) x[i] = Double2{};
  for (int pass = 0; pass < 2; ++pass)
    for (int i = 0; i < size; ++i) {
      const Double2 h = kernels_.dot2(vector(i), residual, n);
      kernels_.axpy2(-h, vector(i), residual, n);
      x[i] = x[i] + h;
    }
  Double2 error = kernels_.dot2(residual, residual, n) + instance_.tail[used_ / kLane];
  // Back substitution, and the rows of the inverse for the cost of dropping a term.
  double scale = instance_.z_norm;
  for (int i = size - 1; i >= 0; --i) {
    for (int l = i + 1; l < size; ++l) x[i] = x[i] - r_[i][l] * x[l];
    x[i] = x[i] / r_[i][i];
    scale += std::abs(x[i].hi) * instance_.norm[kept_[i]];
  }
  result.floor = std::ldexp(scale, -96);
  result.floor *= result.floor;
  double inverse[kMaxSize][kMaxSize];
  for (int i = size - 1; i >= 0; --i) {
    double square = 0.0;
    for (int l = i; l < size; ++l) {
      double sum = l == i ? 1.0 : 0.0;
      for (int p = i + 1; p <= l; ++p) sum -= r_[i][p].hi * inverse[p][l];
      inverse[i][l] = sum / r_[i][i].hi;
      square += inverse[i][l] * inverse[i][l];
    }
    result.support[i] = kept_[i];
    result.coef[i] = x[i].hi;
    result.within = result.within && std::abs(x[i].hi) <= instance_.limit[kept_[i]];
    result.drop[i] = x[i].hi / square * x[i].hi;
  }
  result.grain = instance_.grain;
  result.error = quantise(error);
  if (error.hi <= std::max(result.floor, instance_.zero)) {
    result.error = Double2{};
    result.floor = std::max(result.floor, instance_.zero);
  }
}

void Refitter::projection(double* basis, double* residual, int stride) {
  for (int i = 0; i < kept_count_; ++i) {
    std::memset(basis + static_cast<std::size_t>(i) * stride, 0, stride * sizeof(double));
    std::memcpy(basis + static_cast<std::size_t>(i) * stride, vector(i).hi, used_ * sizeof(double));
  }
  std::memcpy(residual, instance_.z.data(), stride * sizeof(double));
  std::memcpy(residual, vector(kept_count_).hi, used_ * sizeof(double));
}

}  // namespace exactsindy
