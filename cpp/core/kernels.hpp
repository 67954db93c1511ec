// The hot loops, compiled once per instruction set and chosen at run time (see kernels.cpp).
#pragma once
#include <cstddef>

#include "core/dd.hpp"

namespace exactsindy {

// A vector in double-double: two parallel arrays.
struct Span2 {
  double* hi;
  double* lo;
};

// `count` rows, `stride` doubles apart.
struct Rows {
  const double* data;
  int stride, count;
  const double* row(int i) const { return data + static_cast<std::ptrdiff_t>(i) * stride; }
};

// All arrays are 64-byte aligned and padded with zeros to a multiple of 8 doubles.
struct Kernels {
  const char* name;

  // sum_i a_i b_i over n (a multiple of 8) entries, in 8 interleaved partial sums: at most n/8 + 3 roundings per term.
  double (*dot)(const double* a, const double* b, int n);

  // y += alpha * x over n (a multiple of 8) entries.
  void (*axpy)(double alpha, const double* x, double* y, int n);

  // out_ij = (or +=, with `add`) the dot product of row i of a and row j of b over n entries, each to the bit as `dot`.
  void (*dots)(Rows a, Rows b, int n, double* out, int stride, bool add);

  // Row i of `to` += sum_p coef_ip (row p of `from`), over n entries, i < coef.count, p < from.count.
  void (*combine)(Rows coef, Rows from, double* to, int stride, int n);

  // The same two in double-double.
  Double2 (*dot2)(Span2 a, Span2 b, int n);
  void (*axpy2)(Double2 alpha, Span2 x, Span2 y, int n);

  // Backward step. Rows are dual vectors t_j; project all `count` rows off `pivot`, update the coefficients
  // beta_j and, by Pythagoras, the squared norms. `scale` is 1/|pivot|^2. Products are those of the first `dims`
  // entries; what stands behind them in a row takes part in the sums.
  void (*exclude)(double* rows, int stride, int dims, int count, const double* pivot, double scale, double pivot_beta,
                  double* beta, double* norm2);

  // Forward step. out = s - u u' for the leading m x m block of the symmetric matrix s.
  void (*include)(const double* s, double* out, int stride, int m, const double* u);

  // Look for pairs (a, b), first <= a < m, b < a, whose two-term extension may reach the cut: with
  // s = S_ab - u_a u_b it tests  c_a^2 d_b - 2 c_a c_b s + c_b^2 d_a + kappa >= gap (d_a d_b - s^2).
  // Returns the first row a with such a pair, or m. `square` holds c_b^2.
  int (*scan)(const double* s, int stride, int first, int m, const double* u, const double* c, const double* square,
              const double* d, double gap, double kappa);
};

// The best kernels this processor can run.
const Kernels& kernels();

extern const Kernels kernels_generic;
extern const Kernels kernels_avx2;  // the last two on x86 only
extern const Kernels kernels_avx512;

}  // namespace exactsindy
