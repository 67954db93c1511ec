// Scaling by powers of two, which rounds nothing: into the units of a search and back into the caller's.
#pragma once
#include <span>
#include <vector>

#include "core/outcome.hpp"

namespace exactsindy {

// The exponent e with norm * 2^-e in [1/2, 1), for any finite entries; 0 for a zero vector. `extra` is one more entry.
int norm_exponent(std::span<const double> v, double extra = 0.0);

struct Units {
  Double2 rest;               // squared norm of the target outside all columns, scaled
  int target_exponent = 0;    // the target was divided by 2^target_exponent,
  std::vector<int> exponent;  // each column by 2^exponent
  std::vector<int> original;  // column -> index in the caller's numbering

  double objective(Double2 error) const;
  // What the double of the objective leaves out.
  double remainder(Double2 error) const;
  // A safe lower bound of the error stays one: rounded down for the sum.
  double lower(double error) const;
  // The largest error of an objective of at most `limit`, rounded up; 0 where there is none.
  double error(double limit) const;
  std::vector<int> support(const std::vector<int>& columns) const;
  std::vector<double> coefficients(const Answer& answer) const;
};

// A snapshot in the caller's columns and units.
Snapshot in_units(const Snapshot& snapshot, const Units& units);

}  // namespace exactsindy
