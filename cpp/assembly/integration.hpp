// Equations with polynomial right-hand sides, integrated over many intervals, with derivatives of the ends.
#pragma once
#include <cstddef>
#include <cstdint>

#include "assembly/loops.hpp"

namespace exactsindy {

// Registers hold the states, the controls, the time, and then products of two registers each. The rate of a state is a
// sum of coefficients times registers; its slope by another state a sum of weights times registers.
struct Integration {
  std::size_t intervals = 0, states = 0, controls = 0, coefficients = 0, products = 0, slopes = 0, stages = 0;
  const double* start = nullptr;           // intervals x states: where they begin
  const double* begin = nullptr;           // intervals: times
  const double* length = nullptr;          // intervals
  const double* cubics = nullptr;          // 4 x controls x intervals: in the share of the interval that has passed
  const std::int64_t* substeps = nullptr;  // intervals
  const std::int64_t* factors = nullptr;   // products x 2 registers; -1 in the first: the number one
  const std::int64_t* term = nullptr;      // coefficients: the register of each
  const std::int64_t* rate = nullptr;      // coefficients: the state in whose rate it is
  const double* coefficient = nullptr;     // coefficients
  const std::int64_t* slope = nullptr;  // slopes x 3: the state of the rate, the state it is derived by, the register
  const double* weight = nullptr;       // slopes
  const double* nodes = nullptr;        // stages of an explicit Runge-Kutta method
  const double* rows = nullptr;         // stages x stages, below the diagonal
  const double* weights = nullptr;      // stages
  bool derivatives = false;             // by the states at the start and by the coefficients
  double* ends = nullptr;               // intervals x states x width()

  std::size_t width() const { return derivatives ? 1 + states + coefficients : 1; }
  std::size_t registers() const { return states + controls + 1 + products; }
  // Doubles of work space for eight intervals side by side.
  std::size_t work() const {
    return kLane * ((stages + 2) * states * width() + registers() + states * states + controls + 2);
  }
};

void integrate(const Integration& task, const Loops& with = loops());

}  // namespace exactsindy
