// Several equations with constraints on their coefficients, as the constrained search sees them.
#pragma once
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "core/constants.hpp"
#include "core/memory.hpp"
#include "core/units.hpp"

namespace exactsindy::constrained {

// The entries of each variable, in two arrays for all of them: small problems feel the time that memory takes.
template <class Entry>
class ByVariable {
 public:
  // `all(add)` calls add(v, entry) for every entry, the same each time.
  template <class All>
  ByVariable(int variables, All&& all) : end_(variables, 0) {
    int count = 0;
    all([&](int v, const Entry&) { ++end_[v], ++count; });
    int first = 0;
    for (int& end : end_) first += std::exchange(end, first);
    entries_.resize(count);
    all([&](int v, const Entry& entry) { entries_[end_[v]++] = entry; });
  }
  std::span<const Entry> operator[](int v) const {
    const int first = v > 0 ? end_[v - 1] : 0;
    return {entries_.data() + first, static_cast<std::size_t>(end_[v] - first)};
  }

 private:
  std::vector<int> end_;  // of the entries of each variable
  std::vector<Entry> entries_;
};

// One equation as the caller has it: factor is D x D upper triangular, row-major.
struct EquationData {
  std::span<const double> factor, target, rest, ridge;
  double weight = 1.0;
};

// sum coef_v present_v <= limit, whole numbers.
struct PresenceRow {
  std::vector<int> variables, coefs;
  int limit = 0;
};

// Constraints in the caller's units, over all variables (equation after equation).
struct Constraints {
  std::vector<double> equal, equal_rhs;  // rows x variables; == rhs
  std::vector<double> below, below_rhs;  // rows x variables; <= rhs
  std::vector<double> lower, upper;      // of each coefficient
  std::vector<double> least, most;       // of |coefficient| where the term is present
  std::vector<PresenceRow> presence;
  double coefficient_limit = kCoefficientLimit;  // see System::limit
};

// Consecutive variables that share their rows.
struct Block {
  int first = 0, count = 0;         // variables
  int row = 0, rows = 0;            // data rows, padded
  double weight = 1.0, root = 1.0;  // root^2 <= weight, to rounding
};

// sum_b weight_b |z_b - A_b x_b|^2 + sum_v ridge_v x_v^2 + rest, subject to linear rows, intervals and presence rows:
// the stored doubles, columns and targets scaled by powers of two (exact). Every claim is about these numbers.
struct System {
  int variables = 0, rows = 0;  // rows: of all blocks, each padded to whole vectors
  std::vector<Block> blocks;
  std::vector<int> block_of;
  Array z, zeros;
  Array columns;
  std::vector<const double*> column;  // per variable, over the rows of its block: into `columns`
  std::vector<double> ridge;          // scaled
  std::vector<double> norm;           // upper bounds of sqrt(weight |a_v|^2 + ridge_v), about 1
  std::vector<int> exponent;          // coefficient in the caller's units = x * 2^(target_exponent - exponent)
  std::vector<char> inert;            // a zero column in no linear row: its coefficient is 0
  int target_exponent = 0;
  double z_norm = 0.0;  // upper bound of the weighted norm of z
  Double2 rest;
  bool has_ridge = false;

  int equal_count = 0, below_count = 0;
  std::vector<double> equal, equal_rhs, below, below_rhs;  // rows scaled to a largest entry in [1/2, 1)
  std::vector<double> lower, upper, least, most;
  std::vector<PresenceRow> presence;
  // A support counts if every |x_v| of its fit is at most this: sqrt(weight) |x_v| |a_v| is at most the coefficient
  // limit times the norm of the target (see set_limits).
  std::vector<double> limit;

  System(std::span<const EquationData> equations, const Constraints& constraints);
  bool within_limit(int v, double x) const { return std::abs(x) <= limit[v]; }
  const double* equal_row(int i) const { return equal.data() + static_cast<std::size_t>(i) * variables; }
  const double* below_row(int i) const { return below.data() + static_cast<std::size_t>(i) * variables; }
  Units units() const;

 private:
  void set_limits(double coefficient_limit, const std::vector<double>& data_norm, std::vector<double> target_square);
};

}  // namespace exactsindy::constrained
