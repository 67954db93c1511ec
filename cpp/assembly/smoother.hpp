// Penalised least squares along a line, (G + lam D3'D3) c = B'y, for many pairs (lam, column of y) at once.
#pragma once
#include <cstdint>
#include <span>

namespace exactsindy {

// A curve sampled at n points: its m coefficients c are the samples themselves, or those of splines of which each
// sample sees four, starting with start[i], with weights[4 i + k]. All arrays belong to the caller.
struct Line {
  std::size_t samples = 0, coefficients = 0;
  const double* values = nullptr;   // y, one column of `samples` after the other
  const double* moments = nullptr;  // B'y, one column of `coefficients` after the other; y itself without splines
  // With splines only:
  const double* gram = nullptr;  // the lower bands of G, 4 x m: entry (j + k, j) at k m + j
  const std::int64_t* start = nullptr;
  const double* weights = nullptr;
  // A part of a longer line: how far apart its columns are, and which of its samples count (0: all of them).
  std::size_t stride = 0, first = 0, last = 0;

  std::size_t apart() const { return stride ? stride : samples; }
  std::size_t end() const { return last ? last : samples; }
};

// What the fits are wanted for: fit i smooths column[i] with lam[i].
struct Fits {
  std::span<const double> lam;
  std::span<const std::int64_t> column;
};

// Sums of squares and traces of the fits; `fitted`, if not null, takes the smooth values, fit after fit. The trace is
// that of the hat matrix with splines, and without them its approximation sum_i 1 / (1 + lam (2 - 2 cos(pi i/n))^3).
// A fit whose matrix is singular to working precision has an infinite sum of squares.
// Long lines without splines are fitted in parts that overlap so far that their ends do not matter to working
// precision.
void penalised_fits(const Line& line, const Fits& fits, double* rss, double* trace, double* fitted);

}  // namespace exactsindy
