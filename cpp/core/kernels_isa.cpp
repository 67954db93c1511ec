// The hot loops in plain doubles, compiled once per instruction set. Contraction (a * b + c in one rounding) is allowed
// here: it only lowers the rounding errors, which the bounds of the search take at their largest.
#include <cstddef>

#include "core/isa.hpp"
#include "core/kernels.hpp"
#include "core/vec.hpp"
#ifdef _MSC_VER
#pragma fp_contract(on)  // (dd.hpp turned it off)
#endif

namespace exactsindy {
namespace {

// Rows on either side of a tile of dot products: as many sums as there are registers for (16 of four doubles, or 32 of
// eight).
#ifdef __AVX512F__
constexpr int kTileA = 4, kTileB = 4;
#else
constexpr int kTileA = 2, kTileB = 3;
#endif

double dot(const double* a, const double* b, int n) {
  Vec sum = fill(0.0);
  for (int i = 0; i < n; i += kLane) sum += vec(a + i) * vec(b + i);
  return total(sum);
}

void axpy(double alpha, const double* x, double* y, int n) {
  const Vec scale = fill(alpha);
  for (int i = 0; i < n; i += kLane) vec(y + i) = vec(y + i) + scale * vec(x + i);
}

// Dot products of kA rows with kB rows: each entry loaded serves several products, and the sums do not wait for each
// other.
template <int kA, int kB>
inline void dots_tile(const double* a, int a_stride, const double* b, int b_stride, int n, double* out, int stride,
                      bool add) {
  Vec sum[kA][kB];
  for (int i = 0; i < kA; ++i)
    for (int j = 0; j < kB; ++j) sum[i][j] = fill(0.0);
  for (int l = 0; l < n; l += kLane) {
    Vec x[kB];
    for (int j = 0; j < kB; ++j) x[j] = vec(b + j * static_cast<std::ptrdiff_t>(b_stride) + l);
    for (int i = 0; i < kA; ++i) {
      const Vec y = vec(a + i * static_cast<std::ptrdiff_t>(a_stride) + l);
      for (int j = 0; j < kB; ++j) sum[i][j] += y * x[j];
    }
  }
  for (int i = 0; i < kA; ++i)
    for (int j = 0; j < kB; ++j) {
      double& to = out[i * static_cast<std::ptrdiff_t>(stride) + j];
      to = add ? to + total(sum[i][j]) : total(sum[i][j]);
    }
}

template <int kA>
inline void dots_rows(const double* a, int a_stride, Rows b, int n, double* out, int stride, bool add) {
  int j = 0;
  for (; j + kTileB <= b.count; j += kTileB)
    dots_tile<kA, kTileB>(a, a_stride, b.row(j), b.stride, n, out + j, stride, add);
  for (; j < b.count; ++j) dots_tile<kA, 1>(a, a_stride, b.row(j), b.stride, n, out + j, stride, add);
}

void dots(Rows a, Rows b, int n, double* out, int stride, bool add) {
  int i = 0;
  for (; i + kTileA <= a.count; i += kTileA)
    dots_rows<kTileA>(a.row(i), a.stride, b, n, out + static_cast<std::ptrdiff_t>(i) * stride, stride, add);
  for (; i < a.count; ++i)
    dots_rows<1>(a.row(i), a.stride, b, n, out + static_cast<std::ptrdiff_t>(i) * stride, stride, add);
}

template <int kRows>
inline void combine_rows(const double* coef, int coef_stride, Rows from, double* to, int stride, int n) {
  for (int i = 0; i < n; i += kLane) {
    Vec sum[kRows];
    for (int r = 0; r < kRows; ++r) sum[r] = vec(to + r * static_cast<std::ptrdiff_t>(stride) + i);
    for (int p = 0; p < from.count; ++p) {
      const Vec x = vec(from.row(p) + i);
      for (int r = 0; r < kRows; ++r) sum[r] += coef[r * static_cast<std::ptrdiff_t>(coef_stride) + p] * x;
    }
    for (int r = 0; r < kRows; ++r) vec(to + r * static_cast<std::ptrdiff_t>(stride) + i) = sum[r];
  }
}

void combine(Rows coef, Rows from, double* to, int stride, int n) {
  int i = 0;
  for (; i + 4 <= coef.count; i += 4)
    combine_rows<4>(coef.row(i), coef.stride, from, to + static_cast<std::ptrdiff_t>(i) * stride, stride, n);
  for (; i < coef.count; ++i)
    combine_rows<1>(coef.row(i), coef.stride, from, to + static_cast<std::ptrdiff_t>(i) * stride, stride, n);
}

// Project `count` rows off the pivot, four at a time: the pivot is loaded once and the sums do not wait for each other.
template <int kRows>
inline void exclude_rows(double* rows, int stride, int dims, const double* pivot, double scale, double pivot_beta,
                         double* beta, double* norm2) {
  Vec sum[kRows];
  for (int r = 0; r < kRows; ++r) sum[r] = fill(0.0);
  for (int i = 0; i < dims; i += kLane) {
    const Vec p = vec(pivot + i);
    for (int r = 0; r < kRows; ++r) sum[r] += vec(rows + r * static_cast<std::ptrdiff_t>(stride) + i) * p;
  }
  Vec minus[kRows];
  bool any = false;
  for (int r = 0; r < kRows; ++r) {
    const double share = total(sum[r]), factor = share * scale;
    any |= share != 0.0;
    minus[r] = fill(-factor);
    beta[r] -= factor * pivot_beta;
    norm2[r] -= factor * share;
  }
  if (!any) return;  // (vectors of other equations)
  for (int i = 0; i < stride; i += kLane) {
    const Vec p = vec(pivot + i);
    for (int r = 0; r < kRows; ++r) {
      double* at = rows + r * static_cast<std::ptrdiff_t>(stride) + i;
      vec(at) = vec(at) + minus[r] * p;
    }
  }
}

void exclude(double* rows, int stride, int dims, int count, const double* pivot, double scale, double pivot_beta,
             double* beta, double* norm2) {
  int j = 0;
  for (; j + 4 <= count; j += 4)
    exclude_rows<4>(rows + static_cast<std::ptrdiff_t>(j) * stride, stride, dims, pivot, scale, pivot_beta, beta + j,
                    norm2 + j);
  for (; j < count; ++j)
    exclude_rows<1>(rows + static_cast<std::ptrdiff_t>(j) * stride, stride, dims, pivot, scale, pivot_beta, beta + j,
                    norm2 + j);
}

void include(const double* s, double* out, int stride, int m, const double* u) {
  for (int a = 0; a < m; ++a) {
    const Vec minus = fill(-u[a]);
    const double* from = s + static_cast<std::ptrdiff_t>(a) * stride;
    double* to = out + static_cast<std::ptrdiff_t>(a) * stride;
    for (int b = 0; b < m; b += kLane) vec(to + b) = vec(from + b) + minus * vec(u + b);
  }
}

int scan(const double* s, int stride, int first, int m, const double* u, const double* c, const double* square,
         const double* d, double gap, double kappa) {
  const Vec lane = {0, 1, 2, 3, 4, 5, 6, 7};
  const Vec zero = fill(0.0), none = fill(-1.0), gaps = fill(gap), kappas = fill(kappa);
  for (int a = first; a < m; ++a) {
    const double* row = s + static_cast<std::ptrdiff_t>(a) * stride;
    const Vec minus_u = fill(-u[a]), minus_2c = fill(-2.0 * c[a]), da = fill(d[a]);
    const Vec weight = fill(c[a] * c[a] - gap * d[a]);
    Mask hit = {};
    int b = 0;
    for (; b + kLane <= a; b += kLane) {
      const Vec schur = vec(row + b) + minus_u * vec(u + b);
      const Vec slope = gaps * schur + minus_2c * vec(c + b);
      const Vec test = schur * slope + (weight * vec(d + b) + (da * vec(square + b) + kappas));
      hit |= ~(test < zero);  // not (< 0): NaN counts as a hit
    }
    if (b < a) {
      const Vec schur = vec(row + b) + minus_u * vec(u + b);
      const Vec slope = gaps * schur + minus_2c * vec(c + b);
      const Vec test = schur * slope + (weight * vec(d + b) + (da * vec(square + b) + kappas));
      hit |= ~(select(lane < fill(a - b), test, none) < zero);
    }
    long long any = 0;
    for (int i = 0; i < kLane; ++i) any |= hit[i];
    if (any) return a;
  }
  return m;
}

}  // namespace

// In kernels_dd_isa.cpp.
Double2 EXACTSINDY_ISA_NAME(dot2)(Span2 a, Span2 b, int n);
void EXACTSINDY_ISA_NAME(axpy2)(Double2 alpha, Span2 x, Span2 y, int n);

const Kernels EXACTSINDY_ISA_NAME(kernels) = {
    EXACTSINDY_ISA_TEXT,        dot,     axpy,    dots, combine, EXACTSINDY_ISA_NAME(dot2),
    EXACTSINDY_ISA_NAME(axpy2), exclude, include, scan};

}  // namespace exactsindy
