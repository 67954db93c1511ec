#pragma once
#include <vector>

#include "search/refit.hpp"

namespace exactsindy {

// Below this determinant the Gram elimination has lost too much: start again from orthonormal vectors.
constexpr double kSmallDet = 1e-6;

inline std::size_t offset(int row, int stride) { return static_cast<std::size_t>(row) * stride; }

// State of a node: terms in, terms free (positions 0..m-1), and both sides of the elimination.
struct Frame {
  int m = 0, in_count = 0;
  int in[kMaxSize];
  std::vector<int> free;
  Array s, c;                  // forward: free columns and target projected off the terms in (normalised columns)
  double value = 0.0;          // |target projected off the terms in|^2
  double det = 1.0;            // determinant of the normalised Gram matrix of the terms in
  bool fresh = false;          // just projected off orthonormal vectors: the terms in add no conditioning of their own
  double gamma = 0.0;          // bound of the error of an entry of the normalised Gram matrix this frame stands for
  double slack = 0.0;          // fresh frames: the projected target itself may be this far off
  Array dual, beta, norm2, r;  // backward: dual vectors of the free terms, residual of the fit of all terms in and free
  double base = 0.0;           // its squared norm
};

}  // namespace exactsindy
