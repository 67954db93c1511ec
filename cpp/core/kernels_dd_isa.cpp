// The hot loops in double-double, compiled once per instruction set and never contracted: a two_sum or a product whose
// steps were fused would no longer be free of error.
#include "core/isa.hpp"
#include "core/kernels.hpp"
#include "core/vec.hpp"

namespace exactsindy {
namespace {

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
  return quick_two_sum(p, e + multiply_add(a.hi, b.lo, a.lo * b.hi));
}

}  // namespace

Double2 EXACTSINDY_ISA_NAME(dot2)(Span2 a, Span2 b, int n) {
  Vec2 sum = {fill(0.0), fill(0.0)};
  for (int i = 0; i < n; i += kLane)
    sum = add(sum, multiply({vec(a.hi + i), vec(a.lo + i)}, {vec(b.hi + i), vec(b.lo + i)}));
  Double2 result;
  for (int i = 0; i < kLane; ++i) result = result + Double2{sum.hi[i], sum.lo[i]};
  return result;
}

void EXACTSINDY_ISA_NAME(axpy2)(Double2 alpha, Span2 x, Span2 y, int n) {
  const Vec2 scale = {fill(alpha.hi), fill(alpha.lo)};
  for (int i = 0; i < n; i += kLane) {
    const Vec2 v = add({vec(y.hi + i), vec(y.lo + i)}, multiply(scale, {vec(x.hi + i), vec(x.lo + i)}));
    vec(y.hi + i) = v.hi;
    vec(y.lo + i) = v.lo;
  }
}

}  // namespace exactsindy
