// The perspective bound: stronger than the residual of all terms where columns are nearly independent and noise is
// large.
#pragma once
#include <vector>

#include "search/factor.hpp"

namespace exactsindy {

// For delta >= 0 such that A'A - diag(delta) is positive semidefinite, any v, w = z - A v and h = A'w + delta v, every
// support that contains I and at most q of F has, with p_j = h_j^2 / delta_j,
//   f >= 2 w'z - |w|^2 + sum_{I u F} delta_j v_j^2 - sum_I p_j - (sum of the q largest p_j of F).
// Proof: |z - A x|^2 - sum delta_j x_j^2 is convex, so it is at least its linearisation at v; what is left is
// separable. (Without ridge.)
class Perspective {
 public:
  // `usable` is false where no delta that helps could be certified.
  Perspective(const Instance& instance, const Guide& guide);
  bool usable() const { return usable_; }
  const std::vector<double>& delta() const { return delta_; }

  // Terms in, then free ones.
  struct Terms {
    const int* in;
    int in_count;
    const int* free;
    int free_count;
    int slots;
  };
  // Improve v (over all columns, of normalised columns; zero off the terms) by at most `steps` steps, until the bound
  // exceeds the cut; return the last bound, in plain doubles.
  double ascend(const Terms& terms, double cut, int steps, double* v);
  // The certified bound at v, rounded to single precision: `rounded` takes those numbers, for the instance's columns.
  double certified(const Terms& terms, const double* v, std::vector<float>& rounded);

 private:
  const Instance& instance_;
  const Guide& guide_;
  const Kernels& kernels_;
  bool usable_ = false;
  std::vector<double> delta_, share_;  // for the instance's columns, and for normalised ones
  Array product_, direction_, image_, w_;
  std::vector<double> gain_, sorted_;
};

}  // namespace exactsindy
