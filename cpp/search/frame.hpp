#pragma once
#include <vector>

#include "search/refit.hpp"

namespace exactsindy {

// Below these determinants the Gram elimination has lost too much: start again from orthonormal vectors. For a frame
// that serves many scans this pays earlier than for a single scan.
constexpr double kSmallDet = 1e-6, kSmallInnerDet = 1e-3;

inline std::size_t offset(int row, int stride) { return static_cast<std::size_t>(row) * stride; }

// State of a node: terms in, terms free (positions 0..m-1), and both sides of the elimination.
struct alignas(kLine) Frame {  // one that was handed over stands in the memory of the worker that gave it
  int m = 0, in_count = 0;
  int in[kMaxSize];
  std::vector<int> free;
  Array s, c;          // forward: free columns and target projected off the terms in (normalised columns)
  double value = 0.0;  // |target projected off the terms in|^2
  double gamma = 0.0;  // bound of the error of an entry of the normalised Gram matrix this frame stands for
  // Since everything was last projected off orthonormal vectors (a frame is fresh if no term came in since):
  int since = 0;               // terms that came in
  double det = 1.0;            // determinant of their normalised and projected Gram matrix
  double start = 0.0;          // squared norm of the target projected then
  double slack = 0.0;          // the projected target itself may be this far off
  double basis = 0.0;          // see Worker::basis_error
  Array dual, beta, norm2, r;  // backward: dual vectors of the free terms, residual of the fit of all terms in and free
  double base = 0.0;           // its squared norm
  bool backward = false;       // the backward side is kept up
  double bound = 0.0;          // certified lower bound of everything below, as far as it is known
};

}  // namespace exactsindy
