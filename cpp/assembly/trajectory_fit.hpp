// One Gauss-Newton step of the trajectory fit: states and coefficients of a model together.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assembly/loops.hpp"

namespace exactsindy {

// In units of the noise: minimise |e - dx|^2 + tight |r + R dx - B dp|^2 over changes dx of the states and dp of the
// coefficients; a state that is not measured does not count in the first sum. Row (i, j) of R is d(state_of[j]) at
// sample i + 1 less that at sample i, less the integral over interval i of the slopes of right-hand side j; row (i, j)
// of B holds the integrals of its terms.
struct TrajectoryFit {
  std::size_t samples = 0, states = 0, equations = 0, coefficients = 0;
  const std::int64_t* state_of = nullptr;  // the state whose rate equation j gives
  const std::int64_t* first = nullptr;     // equations + 1: coefficients first[j] .. first[j + 1] belong to equation j
  const double* weights = nullptr;         // intervals x 4: the integral over interval i from samples i-1 .. i+2;
                                           // all 0 where a gap parts two pieces: no row then
  const double* slopes = nullptr;          // samples x equations x states
  const double* columns = nullptr;         // intervals x coefficients: B
  const double* misfit = nullptr;          // samples x states: e, measured less current states
  const double* defect = nullptr;          // intervals x equations: r, what the current states leave of the equations
  double tight = 1.0;
  double damping = 0.0;              // share by which diagonals are raised (Levenberg, Marquardt)
  const double* measured = nullptr;  // states: 1 if a state was measured, 0 if it has no samples; none: all were
};

// The same for equations that were integrated over each interval, one for every state:
// minimise |e - dx|^2 + tight |r + dx(i + 1) - A dx(i) - B dp|^2, i the sample at which an interval begins.
struct IntegratedFit {
  std::size_t samples = 0, states = 0, intervals = 0, coefficients = 0;
  const std::int64_t* starts = nullptr;  // intervals: the samples at which they begin, increasing
  const double* forward = nullptr;       // intervals x states x states: A, the end of an interval by its beginning
  const double* columns = nullptr;       // intervals x states x coefficients: B, the end by the coefficients
  const double* misfit = nullptr;        // samples x states: e
  const double* defect = nullptr;        // intervals x states: r, the state at the end less the integrated one
  double tight = 1.0;
  double damping = 0.0;
  const double* measured = nullptr;  // states
};

// `curvature` and `slope` are those of the minimum over dx as a function of dp, without damping of dp:
// constant - 2 slope' dp + dp' curvature dp.
struct TrajectoryStep {
  std::vector<double> states, coefficients, curvature, slope;
  bool profiled = false;  // whether the system of the states was positive definite: curvature and slope hold
  bool positive = false;  // whether that of the coefficients was, too: the changes hold
};

TrajectoryStep trajectory_step(const TrajectoryFit& fit, const Loops& with = loops());
TrajectoryStep trajectory_step(const IntegratedFit& fit, const Loops& with = loops());

}  // namespace exactsindy
