#include "search/projector.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace exactsindy {

Projector::Projector(const Instance& instance)
    : instance_(instance),
      kernels_(kernels()),
      length_(instance.stride + (instance.has_ridge ? padded(instance.columns) : 0)) {
  // No more directions than rows, and one to try the next column.
  const std::size_t most = std::min<std::size_t>(instance.columns, instance.has_ridge ? length_ : instance.rows) + 1;
  basis_.reset(most * length_);
  residual_.reset(length_);
  marked_.reset(length_);
  clear();
}

void Projector::clear() {
  count_ = 0;
  det_ = 1.0;
  std::memset(residual_.data(), 0, length_ * sizeof(double));
  std::memcpy(residual_.data(), instance_.z.data(), instance_.stride * sizeof(double));
}

void Projector::leave(double* v) const {
  for (int i = 0; i < count_; ++i) kernels_.axpy(-kernels_.dot(direction(i), v, length_), direction(i), v, length_);
}

double Projector::project(int column, double* out) const {
  std::memset(out, 0, length_ * sizeof(double));
  std::memcpy(out, instance_.column(column), instance_.stride * sizeof(double));
  if (instance_.has_ridge) out[instance_.stride + column] = std::sqrt(instance_.ridge[column]);
  double norm2 = instance_.norm[column] * instance_.norm[column], before = 0.0;
  const double least = kDependent * kDependent * norm2;
  do {  // a vector that lost digits is projected again
    before = norm2;
    leave(out);
    norm2 = kernels_.dot(out, out, length_);
  } while (norm2 < 0.01 * before && norm2 > least);
  return norm2;
}

bool Projector::add(int column) {
  double* q = basis_.data() + static_cast<std::size_t>(count_) * length_;
  const double norm2 = project(column, q), share = norm2 / (instance_.norm[column] * instance_.norm[column]);
  det_ *= share;
  if (!(share > kDependent * kDependent)) return false;
  const double scale = 1.0 / std::sqrt(norm2);
  for (int i = 0; i < length_; ++i) q[i] *= scale;
  ++count_;
  // Twice: the second time removes what rounding left.
  for (int pass = 0; pass < 2; ++pass) kernels_.axpy(-kernels_.dot(q, residual(), length_), q, residual(), length_);
  return true;
}

double Projector::square() const { return kernels_.dot(residual_.data(), residual_.data(), length_); }

void Projector::mark() {
  marked_count_ = count_;
  marked_det_ = det_;
  std::memcpy(marked_.data(), residual_.data(), length_ * sizeof(double));
}

void Projector::reset() {
  count_ = marked_count_;
  det_ = marked_det_;
  std::memcpy(residual_.data(), marked_.data(), length_ * sizeof(double));
}

}  // namespace exactsindy
