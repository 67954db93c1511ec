// Rows of increments made independent: their errors have a tridiagonal covariance C = L L', L bidiagonal.
#pragma once
#include <cstddef>
#include <span>

namespace exactsindy {

// Overwrites the diagonal of C (n) and what stands below it (n - 1) by those of L; false if C is not positive definite.
bool tridiagonal_cholesky(std::span<double> diagonal, std::span<double> below);

// Rows `first`..`first + rows - 1` of [int columns, change] and of L.
struct Increments {
  std::size_t rows = 0, columns = 0, samples = 0;
  // The library, one term of `samples` values after the other; sample 0 is `before` samples (0 or 1) ahead of row 0.
  const double* values = nullptr;
  std::size_t before = 0;
  const double* weights = nullptr;   // rows x 4: the integral over interval i from samples i-1 .. i+2
  const double* change = nullptr;    // the target, increments of the measured state
  const double* diagonal = nullptr;  // of L, rows
  const double* below = nullptr;     // below[i] links row i to the row before it; below[0] to `previous`
};

// out (columns + 1 times rows, the target last) = L^-1 rows. `previous` holds the whitened row before these (zeros if
// there is none) and takes the last of them.
void whiten(const Increments& increments, double* previous, double* out);

}  // namespace exactsindy
