// The best supports that several equations have in common, each equation with its own coefficients: one search over
// supports, in which the values and the safe bounds of the equations add up.
#pragma once
#include <vector>

#include "core/outcome.hpp"
#include "search/search.hpp"

namespace exactsindy {

struct SharedRequest {
  std::vector<Factor> factors;           // of the equations; all have the same columns
  int size = 0;                          // terms of a support, exactly
  int keep = 2;                          // supports wanted, the best ones
  std::vector<std::vector<int>> starts;  // supports to look at first
  Limits limits;
};

// A support with its coefficients in all equations, one equation after the other.
struct SharedAnswer {
  std::vector<int> support;
  std::vector<double> coef;
  Double2 error;  // sum over the equations, without what no coefficient can change
  double upper = 0.0, lower = 0.0;
};

// Supports, coefficients and objectives are in the caller's columns and units; errors are in units of 4^exponent.
struct SharedOutcome {
  std::vector<SharedAnswer> answers;  // best first
  Double2 rest;                       // sum of what no coefficient can change
  int exponent = 0;
  double lower = 0.0;  // lower bound of the error; inf: no support counts
  Stop stop = Stop::kNone;
  bool dependent = false;  // supports that are not admissible in some equation were passed over
  std::int64_t nodes = 0;
  double seconds = 0.0;

  double objective(Double2 error) const;
  double remainder(Double2 error) const;
  double lower_objective(double error) const;  // rounded down
};

// Columns that are zero in some equation are in no support. The watch gets one snapshot.
SharedOutcome solve_shared(const SharedRequest& request, const Watch& watch);

}  // namespace exactsindy
