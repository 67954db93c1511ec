// The hot loops of this folder, compiled once per instruction set and chosen at run time (see loops.cpp).
#pragma once
#include "assembly/smoother.hpp"
#include "core/memory.hpp"

namespace exactsindy {

// Work space of eight fits side by side: entry 8 i + lane belongs to coefficient or sample i of one of them.
struct Lanes {
  explicit Lanes(const Line& line);

  Array curve;                   // c, with three zeros in front and behind
  Array right;                   // a right-hand side, solved in place
  Array below1, below2, below3;  // L(i, i-1), L(i, i-2), L(i, i-3) of the factor L D L'
  Array pivot;                   // 1 / D
  Array sampled;                 // y
  Array penalty, gram;           // lower bands, 4 x m, one line after the other
};

// A symmetric band matrix, beside columns it is coupled to.
struct Bordered {
  std::size_t unknowns, reach, width;
  double* band;  // column after column of the lower half, `reach` entries from the diagonal on
  double* rows;  // unknowns x width; the last column is the right-hand side
};

struct Integration;

struct Loops {
  // Fits eight pairs (lam, column); `trace` is filled with splines only.
  void (*fit)(const Line& line, Lanes& lanes, const double* lam, const std::int64_t* column, double* rss,
              double* trace);

  // sum_i 1 / (1 + lam roughness_i), for eight lam.
  void (*traces)(const double* roughness, std::size_t count, const double* lam, double* trace);

  // Overwrites the upper triangular factor (columns of `width`) by that of [factor; rows]. Column j of the rows
  // starts at j stride, a multiple of 8; entries from `count` on are zero. `trapezoid` says that rows below the
  // diagonal of `rows` are zero, too.
  void (*reflect)(double* factor, int width, double* rows, int count, int stride, bool trapezoid);

  // Overwrites the band by its Cholesky factor L and the rows Z | g by L^-1 Z | L^-1 g; takes Z' A^-1 Z off the lower
  // half of `curvature` (width - 1 squared) and Z' A^-1 g off `slope`. False if the matrix is not positive definite.
  bool (*eliminate)(const Bordered& matrix, double* curvature, double* slope);

  // Integrates at most eight intervals with equally many steps.
  void (*integrate)(const Integration& task, const std::int64_t* members, std::size_t count, double* work);
};

const Loops& loops();

extern const Loops loops_generic;
extern const Loops loops_avx2;  // the last two on x86 only
extern const Loops loops_avx512;

}  // namespace exactsindy
