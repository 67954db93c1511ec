// The target projected off columns one by one, in plain doubles.
#pragma once
#include "search/refit.hpp"

namespace exactsindy {

// Orthonormal directions of columns (ridge rows included), and what they leave of the target. Every column is
// projected until it loses no more digits, so that directions are orthogonal to rounding, and the residual to all
// columns that were added. Nothing here is trusted without a bound of its rounding errors.
class Projector {
 public:
  explicit Projector(const Instance& instance);

  // Forget all directions: the residual is the whole target.
  void clear();
  // Add a column. False if it is as good as dependent on those before: it adds no direction.
  bool add(int column);
  // Write a column projected off all directions to `out` (`length` doubles); return its squared norm.
  double project(int column, double* out) const;
  // Project a vector off all directions once.
  void leave(double* v) const;
  int count() const { return count_; }
  int length() const { return length_; }
  const double* direction(int i) const { return basis_.data() + static_cast<std::size_t>(i) * length_; }
  double* residual() { return residual_.data(); }  // rows of the instance first
  double square() const;                           // of the residual, ridge rows included
  // Product of the squared distances of the columns from those before, relative to their squared norms.
  double det() const { return det_; }

  // Keep the present state, and go back to it as often as wanted.
  void mark();
  void reset();

 private:
  const Instance& instance_;
  const Kernels& kernels_;
  const int length_;
  int count_ = 0, marked_count_ = 0;
  double det_ = 1.0, marked_det_ = 1.0;
  Array basis_, residual_, marked_;
};

}  // namespace exactsindy
