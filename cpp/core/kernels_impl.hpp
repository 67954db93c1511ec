// Body of the kernels; included by one source file per instruction set, which defines EXACTSINDY_KERNELS.
// Vector types are a GCC/Clang extension: the compiler maps 8 doubles to whatever registers there are.
#include <cmath>
#ifdef __FMA__
#include <immintrin.h>
#endif

#include "core/kernels.hpp"
#include "core/memory.hpp"

namespace exactsindy {
namespace {

typedef double Vec __attribute__((vector_size(64)));
typedef long long Mask __attribute__((vector_size(64)));

inline Vec load(const double* p) { return *reinterpret_cast<const Vec*>(p); }
inline void store(double* p, Vec v) { *reinterpret_cast<Vec*>(p) = v; }
inline Vec fill(double x) { return Vec{x, x, x, x, x, x, x, x}; }
inline double total(Vec v) { return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7])); }

// Exactly rounded a * b + c, whatever the compiler's contraction setting.
inline Vec fused(Vec a, Vec b, Vec c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_pd(a, b, c);
#elif defined(__FMA__)
  union {
    Vec whole;
    __m256d half[2];
  } x{a}, y{b}, z{c};
  z.half[0] = _mm256_fmadd_pd(x.half[0], y.half[0], z.half[0]);
  z.half[1] = _mm256_fmadd_pd(x.half[1], y.half[1], z.half[1]);
  return z.whole;
#else
  Vec r;
  for (int i = 0; i < kLane; ++i) r[i] = std::fma(a[i], b[i], c[i]);
  return r;
#endif
}

struct Vec2 {
  Vec hi, lo;
};

inline Vec2 quick_two_sum(Vec a, Vec b) {
  const Vec s = a + b;
  return {s, b - (s - a)};
}

inline Vec2 two_sum(Vec a, Vec b) {
  const Vec s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

inline Vec2 add(Vec2 a, Vec2 b) {
  Vec2 s = two_sum(a.hi, b.hi), t = two_sum(a.lo, b.lo);
  s = quick_two_sum(s.hi, s.lo + t.hi);
  return quick_two_sum(s.hi, s.lo + t.lo);
}

inline Vec2 multiply(Vec2 a, Vec2 b) {
  const Vec p = a.hi * b.hi;
  const Vec e = fused(a.hi, b.hi, -p);
  return quick_two_sum(p, e + (a.hi * b.lo + a.lo * b.hi));
}

Double2 dot2(Span2 a, Span2 b, int n) {
  Vec2 sum = {fill(0.0), fill(0.0)};
  for (int i = 0; i < n; i += kLane)
    sum = add(sum, multiply({load(a.hi + i), load(a.lo + i)}, {load(b.hi + i), load(b.lo + i)}));
  Double2 result;
  for (int i = 0; i < kLane; ++i) result = result + Double2{sum.hi[i], sum.lo[i]};
  return result;
}

void axpy2(Double2 alpha, Span2 x, Span2 y, int n) {
  const Vec2 scale = {fill(alpha.hi), fill(alpha.lo)};
  for (int i = 0; i < n; i += kLane) {
    const Vec2 v = add({load(y.hi + i), load(y.lo + i)}, multiply(scale, {load(x.hi + i), load(x.lo + i)}));
    store(y.hi + i, v.hi);
    store(y.lo + i, v.lo);
  }
}

double dot(const double* a, const double* b, int n) {
  Vec sum = fill(0.0);
  for (int i = 0; i < n; i += kLane) sum += load(a + i) * load(b + i);
  return total(sum);
}

void axpy(double alpha, const double* x, double* y, int n) {
  const Vec scale = fill(alpha);
  for (int i = 0; i < n; i += kLane) store(y + i, load(y + i) + scale * load(x + i));
}

// Project `count` rows off the pivot, four at a time: the pivot is loaded once and the sums do not wait for each other.
template <int kRows>
inline void exclude_rows(double* rows, int stride, const double* pivot, double scale, double pivot_beta, double* beta,
                         double* norm2) {
  Vec sum[kRows];
  for (int r = 0; r < kRows; ++r) sum[r] = fill(0.0);
  for (int i = 0; i < stride; i += kLane) {
    const Vec p = load(pivot + i);
    for (int r = 0; r < kRows; ++r) sum[r] += load(rows + r * static_cast<long>(stride) + i) * p;
  }
  Vec minus[kRows];
  for (int r = 0; r < kRows; ++r) {
    const double share = total(sum[r]), factor = share * scale;
    minus[r] = fill(-factor);
    beta[r] -= factor * pivot_beta;
    norm2[r] -= factor * share;
  }
  for (int i = 0; i < stride; i += kLane) {
    const Vec p = load(pivot + i);
    for (int r = 0; r < kRows; ++r) {
      double* at = rows + r * static_cast<long>(stride) + i;
      store(at, load(at) + minus[r] * p);
    }
  }
}

void exclude(double* rows, int stride, int count, const double* pivot, double scale, double pivot_beta, double* beta,
             double* norm2) {
  int j = 0;
  for (; j + 4 <= count; j += 4)
    exclude_rows<4>(rows + static_cast<long>(j) * stride, stride, pivot, scale, pivot_beta, beta + j, norm2 + j);
  for (; j < count; ++j)
    exclude_rows<1>(rows + static_cast<long>(j) * stride, stride, pivot, scale, pivot_beta, beta + j, norm2 + j);
}

void include(const double* s, double* out, int stride, int m, const double* u) {
  for (int a = 0; a < m; ++a) {
    const Vec minus = fill(-u[a]);
    const double* from = s + static_cast<long>(a) * stride;
    double* to = out + static_cast<long>(a) * stride;
    for (int b = 0; b < m; b += kLane) store(to + b, load(from + b) + minus * load(u + b));
  }
}

int scan(const double* s, int stride, int first, int m, const double* u, const double* c, const double* square,
         const double* d, double gap, double kappa) {
  const Vec lane = {0, 1, 2, 3, 4, 5, 6, 7};
  const Vec zero = fill(0.0), none = fill(-1.0), gaps = fill(gap), kappas = fill(kappa);
  for (int a = first; a < m; ++a) {
    const double* row = s + static_cast<long>(a) * stride;
    const Vec minus_u = fill(-u[a]), minus_2c = fill(-2.0 * c[a]), da = fill(d[a]);
    const Vec weight = fill(c[a] * c[a] - gap * d[a]);
    Mask hit = {};
    int b = 0;
    for (; b + kLane <= a; b += kLane) {
      const Vec schur = load(row + b) + minus_u * load(u + b);
      const Vec slope = gaps * schur + minus_2c * load(c + b);
      const Vec test = schur * slope + (weight * load(d + b) + (da * load(square + b) + kappas));
      hit |= ~(test < zero);  // not (< 0): NaN counts as a hit
    }
    if (b < a) {
      const Vec schur = load(row + b) + minus_u * load(u + b);
      const Vec slope = gaps * schur + minus_2c * load(c + b);
      const Vec test = schur * slope + (weight * load(d + b) + (da * load(square + b) + kappas));
      hit |= ~((lane < fill(a - b) ? test : none) < zero);
    }
    long long any = 0;
    for (int i = 0; i < kLane; ++i) any |= hit[i];
    if (any) return a;
  }
  return m;
}

}  // namespace

const Kernels EXACTSINDY_KERNELS = {EXACTSINDY_KERNELS_NAME, dot, axpy, dot2, axpy2, exclude, include, scan};

}  // namespace exactsindy
