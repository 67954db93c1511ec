// The stored regression of one equation.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/crew.hpp"
#include "core/memory.hpp"
#include "core/units.hpp"

namespace exactsindy {

// What the caller has. It must outlive what is made from it.
struct Factor {
  const double* entries;  // D x D upper triangular: entry (i, j) is entries[i * row + j]
  std::size_t row;
  std::span<const double> target, rest, ridge;   // D entries; the target's entries below the factor; D weights
  double coefficient_limit = kCoefficientLimit;  // a support counts if |x_j| |a_j| <= coefficient_limit |y| in it
};

// min |z - A x|^2 + sum_j ridge_j x_j^2 + rest: the stored doubles, columns and target scaled by powers of two
// (exact), zero columns left out. All rounding claims of the search are about these numbers.
struct Instance {
  bool whole = false;  // false: the crew was told to stop, and the columns are missing
  int rows = 0, stride = 0, columns = 0;
  Array a;                    // columns x stride
  std::vector<int> length;    // entries beyond length[j] of column j are zero
  std::vector<int> original;  // column index in the caller's numbering
  std::vector<int> exponent;  // coefficient in the caller's units = x * 2^(target_exponent - exponent)
  std::vector<double> ridge;  // in scaled units
  std::vector<double> norm;   // upper bounds of sqrt(|a_j|^2 + ridge_j), in [1/2, 1]
  Array z;
  double z_square = 0.0, z_norm = 0.0;  // |z|^2 to rounding; upper bound of |z|
  std::vector<double> limit;  // a support counts only if its least-squares coefficients satisfy |x_j| <= limit[j]
  double grain = 0.0;         // residual norms closer than this (2^-80 |z|, a power of two) are a tie
  double zero = 0.0;          // an error of at most this, (2^-72 |z|)^2, counts as 0
  int target_exponent = 0;
  Double2 rest;  // squared norm of the target outside all columns
  bool has_ridge = false;
  std::vector<Double2> tail;  // tail[i] = sum of z_j^2 for j >= 8 i

  const double* column(int j) const { return a.data() + static_cast<std::size_t>(j) * stride; }
  Units units() const { return {rest, target_exponent, exponent, original}; }

  static Instance from_factor(const Factor& factor, const Crew& crew = alone);
  // Another target of the same columns, to the bit that of from_factor; the columns stay those of this instance, which
  // must outlive it.
  Instance with_target(const Factor& factor) const;

 private:
  void take_target(const Factor& factor);
  void take_limits(const Factor& factor);

  std::vector<double> square_;  // squared norms of the columns
};

}  // namespace exactsindy
