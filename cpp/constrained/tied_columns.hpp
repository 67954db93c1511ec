// Equations whose coefficients are bound by nothing but ties c x_v + d x_w = 0: with x_v = r_v y for the variables of a
// tie there is one column sum_v r_v a_v and one number y for each, and no constraint is left but how many terms there
// may be. Everything here is small: a few dozen columns.
//
// For any vector omega over the data rows
//
//   |z - A y|^2 + sum_h R_h y_h^2  >=  2 omega'z - |omega|^2 - sum_h max_y (2 delta_h y - R_h y^2),  delta = A'omega,
//
// which is evaluated in doubles, less a bound of its rounding. R_h y_h^2 is the ridge. Where that is too small to bound
// y_h, no y with a value up to the cut is longer than (|z| + sqrt(cut)) / sqrt(lambda): lambda is a lower bound of the
// least eigenvalue of A'A + diag(R), proved by a Cholesky factor of that matrix less a multiple of the identity.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "constrained/fitter.hpp"
#include "constrained/logic.hpp"

namespace exactsindy::constrained {

class TiedColumns {
 public:
  static constexpr int kMost = 24, kMostVariables = 96, kMostBudgets = 8, kMostBlocks = 16;

  explicit TiedColumns(const System& system) : system_(system), kernels_(kernels()) {}
  // False: there are other constraints, too many columns, or columns that doubles cannot tell apart.
  bool take(const LogicRows& rows);

  // What is known of the best coefficients on some columns: the value of those tried, and a safe lower bound of all.
  struct Value {
    double value, lower;
  };

  int count() const { return count_; }
  int stride() const { return stride_; }  // of rows with one entry per column, and one more
  int budgets() const { return budgets_; }
  int limit(int budget) const { return limit_[budget]; }
  int terms(int budget, int h) const { return terms_[budget][h]; }
  int size(int h) const { return begin_[h + 1] - begin_[h]; }
  std::vector<int> support(std::uint32_t columns) const;
  // The root of the tree: [P, -y; -y', -f] with P = (A'A + diag R)^-1, the best y and its value f. (Guidance only.)
  const double* root() const { return root_.data(); }

  // Of y on these columns, the others 0, given as -y; for points with a value up to `cut`. Afterwards `gradient` says
  // half of how much the value falls as y grows.
  Value value(const double* minus_y, std::uint32_t columns, double cut);
  const double* gradient() const { return gradient_.data(); }
  // Whether all coefficients are far from their limits.
  bool within_limits(const double* minus_y, std::uint32_t columns) const;
  // The canonical fit of these columns in double-double. False: they are too near dependence.
  bool fit(std::uint32_t columns, Fit& out);

 private:
  bool tie();
  bool count_terms(const LogicRows& rows);
  void merge();
  bool factor();
  double least_eigenvalue(const Array& gram) const;
  double reach(int h, double cut) const;
  double error(int h, double norm) const { return rounding_ * size_[h] * norm; }
  std::vector<double> inverse(std::span<const int> chosen) const;
  bool refine(std::span<const int> chosen, std::span<Double2> y);
  Double2 ridge2(int h) const;
  Span2 omega2() { return {omega_.data(), omega_lo_.data()}; }
  double* column(int h) { return columns_.data() + static_cast<std::size_t>(h) * rows_; }
  Span2 column2(int h) { return {column(h), columns_lo_.data() + static_cast<std::size_t>(h) * rows_}; }

  const System& system_;
  const Kernels& kernels_;
  int count_ = 0, stride_ = 0, rows_ = 0, budgets_ = 0;
  std::array<int, kMostVariables> column_of_;      // -1: not there
  std::array<Double2, kMostVariables> ratio_;      // x_v = ratio_v y
  std::array<int, kMost + 1> begin_;               // of the variables of each column in `members_`
  std::array<int, kMostVariables> members_;        // increasing within a column
  std::array<double, kMost> ridge_, size_, most_;  // R_h from below; norm of the column from above; limit of y_h
  std::array<std::array<int, kMost>, kMostBudgets> terms_;
  std::array<int, kMostBudgets> limit_;
  std::array<int, kMostBlocks> row_of_;  // of each block among the packed rows
  Array columns_, columns_lo_;           // each over the packed rows of all blocks; the target comes last
  Array gram_, root_;
  Array omega_, omega_lo_, zeros_, gradient_;
  std::array<double, kMost> correction_;
  std::array<Double2, kMost> slope_, ridge2_;
  double rounding_ = 0.0, by_lambda_ = kInf;  // 1 / sqrt(lambda)
};

}  // namespace exactsindy::constrained
