// The stored regression of one equation, and the canonical value of a support.
#pragma once
#include <span>
#include <vector>

#include "core/kernels.hpp"
#include "core/memory.hpp"
#include "core/units.hpp"

namespace exactsindy {

constexpr int kMaxSize = 64;  // largest support

// min |z - A x|^2 + sum_j ridge_j x_j^2 + rest: the stored doubles, columns and target scaled by powers of two
// (exact), zero columns left out. All rounding claims of the search are about these numbers.
struct Instance {
  int rows = 0, stride = 0, columns = 0;
  Array a;                    // columns x stride
  std::vector<int> length;    // entries beyond length[j] of column j are zero
  std::vector<int> original;  // column index in the caller's numbering
  std::vector<int> exponent;  // coefficient in the caller's units = x * 2^(target_exponent - exponent)
  std::vector<double> ridge;  // in scaled units
  std::vector<double> norm;   // upper bounds of sqrt(|a_j|^2 + ridge_j), in [1/2, 1]
  Array z;
  double z_norm = 0.0;        // upper bound of |z|
  std::vector<double> limit;  // a support counts only if its least-squares coefficients satisfy |x_j| <= limit[j]
  double grain = 0.0;         // residual norms closer than this (2^-80 |z|, a power of two) are a tie
  double zero = 0.0;          // an error of at most this, (2^-72 |z|)^2, counts as 0
  int target_exponent = 0;
  Double2 rest;  // squared norm of the target outside all columns
  bool has_ridge = false;
  std::vector<Double2> tail;  // tail[i] = sum of z_j^2 for j >= 8 i

  const double* column(int j) const { return a.data() + static_cast<std::size_t>(j) * stride; }
  Units units() const { return {rest, target_exponent, exponent, original}; }

  // factor: D x D upper triangular, row-major; z, ridge: D; rest: the target's entries below the factor;
  // limit[j] |a_j| = coefficient_limit |y|.
  static Instance from_factor(std::span<const double> factor, std::span<const double> target,
                              std::span<const double> rest, std::span<const double> ridge,
                              double coefficient_limit = kCoefficientLimit);
};

// A support with its least-squares fit in double-double. `error` is |z - A x|^2 + ridge, without `rest`,
// rounded to 80 bits (0 where it cannot be told from 0). Values are compared by this number only, so they do not
// depend on how a support was reached.
struct Fit {
  int size = 0;
  int support[kMaxSize];
  double coef[kMaxSize];
  double drop[kMaxSize];  // rise of the error when this term is dropped
  Double2 error;
  double grain = 0.0;       // of the instance
  double floor = 0.0;       // below this the error cannot be told from 0
  bool independent = true;  // false: dependent columns were left out
  bool within = true;       // every coefficient is within its limit
  bool admissible() const { return independent && within; }
};

class Refitter {
 public:
  explicit Refitter(const Instance& instance);
  // support must be increasing.
  void fit(std::span<const int> support, Fit& result);
  // Of the last fit (whose columns must have been independent), rounded to double: the data rows of its orthonormal
  // basis, one vector per `stride` doubles, and of the residual of the target.
  void projection(double* basis, double* residual, int stride);

 private:
  int orthogonalise(std::span<const int> support);
  Span2 vector(int i) { return {hi_.data() + i * length_, lo_.data() + i * length_}; }

  const Instance& instance_;
  const Kernels& kernels_;
  int length_;  // rows, then one row per ridge term
  Array hi_, lo_;
  Double2 r_[kMaxSize][kMaxSize];
  int kept_[kMaxSize];
  int kept_count_ = 0, used_ = 0;
};

}  // namespace exactsindy
