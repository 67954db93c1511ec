// Eight doubles side by side. GCC and Clang map their vector types to whatever registers there are; elsewhere (MSVC) a
// plain record with loops stands in, which the optimiser may turn into vectors. Each instruction set compiles its own
// copy, so everything here is local to a source file.
#pragma once
#include <cmath>
#if defined(__GNUC__) && defined(__FMA__)
#include <immintrin.h>
#endif

#include "core/memory.hpp"

namespace exactsindy {
namespace {

#if defined(__GNUC__) && !defined(EXACTSINDY_PLAIN_VECTORS)

typedef double Vec __attribute__((vector_size(64)));
typedef long long Mask __attribute__((vector_size(64)));

inline Vec fill(double x) { return Vec{x, x, x, x, x, x, x, x}; }
inline Vec select(Mask mask, Vec yes, Vec no) { return mask ? yes : no; }

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

#else

template <class Entry>
struct alignas(64) Eight {
  Entry entry[kLane];
  Entry& operator[](int i) { return entry[i]; }
  Entry operator[](int i) const { return entry[i]; }
};
using Vec = Eight<double>;
using Mask = Eight<long long>;  // 0 or -1: all bits

template <class Result, class Function>
inline Result each(Function of) {
  Result r;
  for (int i = 0; i < kLane; ++i) r[i] = of(i);
  return r;
}

inline Vec fill(double x) {
  return each<Vec>([&](int) { return x; });
}
inline Vec operator+(const Vec& a, const Vec& b) {
  return each<Vec>([&](int i) { return a[i] + b[i]; });
}
inline Vec operator-(const Vec& a, const Vec& b) {
  return each<Vec>([&](int i) { return a[i] - b[i]; });
}
inline Vec operator*(const Vec& a, const Vec& b) {
  return each<Vec>([&](int i) { return a[i] * b[i]; });
}
inline Vec operator-(const Vec& a) {
  return each<Vec>([&](int i) { return -a[i]; });
}
inline Vec operator+(double a, const Vec& b) { return fill(a) + b; }
inline Vec operator*(double a, const Vec& b) { return fill(a) * b; }
inline Vec operator*(const Vec& a, double b) { return a * fill(b); }
inline Vec operator/(double a, const Vec& b) {
  return each<Vec>([&](int i) { return a / b[i]; });
}
inline Vec& operator+=(Vec& a, const Vec& b) { return a = a + b; }
inline Vec& operator*=(Vec& a, double b) { return a = a * b; }
inline Mask operator<(const Vec& a, const Vec& b) {
  return each<Mask>([&](int i) { return a[i] < b[i] ? -1 : 0; });
}
inline Mask operator~(const Mask& a) {
  return each<Mask>([&](int i) { return ~a[i]; });
}
inline Mask& operator|=(Mask& a, const Mask& b) {
  return a = each<Mask>([&](int i) { return a[i] | b[i]; });
}
inline Vec select(const Mask& mask, const Vec& yes, const Vec& no) {
  return each<Vec>([&](int i) { return mask[i] ? yes[i] : no[i]; });
}
inline Vec fused(const Vec& a, const Vec& b, const Vec& c) {
  return each<Vec>([&](int i) { return std::fma(a[i], b[i], c[i]); });
}

#endif

// a * b + c in one rounding where the processor has an instruction for it, and in two where it has not: for terms in
// which both are as good.
inline Vec multiply_add(const Vec& a, const Vec& b, const Vec& c) {
#if defined(__FMA__) || defined(__AVX2__)
  return fused(a, b, c);
#else
  return a * b + c;
#endif
}

inline const Vec& vec(const double* p) { return *reinterpret_cast<const Vec*>(p); }
inline Vec& vec(double* p) { return *reinterpret_cast<Vec*>(p); }
inline double total(const Vec& v) { return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7])); }

}  // namespace
}  // namespace exactsindy
