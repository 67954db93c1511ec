// Double-double arithmetic (about 106 bits): values are unevaluated sums hi + lo with |lo| <= ulp(hi)/2.
// The error-free steps below must not be contracted (a * b + c in one rounding): CMakeLists.txt compiles every file
// that includes this with contraction off; older versions of MSVC contract under /fp:precise and take it from here.
#pragma once
#include <algorithm>
#include <cmath>
#ifdef _MSC_VER
#pragma fp_contract(off)
#endif

namespace exactsindy {

struct Double2 {
  double hi = 0.0, lo = 0.0;
};

inline Double2 two_sum(double a, double b) {
  const double s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

inline Double2 quick_two_sum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}

inline Double2 two_prod(double a, double b) {
  const double p = a * b;
  return {p, std::fma(a, b, -p)};
}

inline Double2 operator+(Double2 a, Double2 b) {
  Double2 s = two_sum(a.hi, b.hi), t = two_sum(a.lo, b.lo);
  s = quick_two_sum(s.hi, s.lo + t.hi);
  return quick_two_sum(s.hi, s.lo + t.lo);
}

inline Double2 operator-(Double2 a) { return {-a.hi, -a.lo}; }
inline Double2 operator-(Double2 a, Double2 b) { return a + (-b); }

inline Double2 operator*(Double2 a, Double2 b) {
  Double2 p = two_prod(a.hi, b.hi);
  p.lo += a.hi * b.lo + a.lo * b.hi;
  return quick_two_sum(p.hi, p.lo);
}

inline Double2 operator/(Double2 a, Double2 b) {
  const double q1 = a.hi / b.hi;
  Double2 r = a - b * Double2{q1, 0.0};
  const double q2 = r.hi / b.hi;
  r = r - b * Double2{q2, 0.0};
  return quick_two_sum(q1, q2) + Double2{r.hi / b.hi, 0.0};
}

inline Double2 sqrt(Double2 a) {
  if (!(a.hi > 0.0)) return {};
  const double root = std::sqrt(a.hi);
  const Double2 rest = a - two_prod(root, root);
  return quick_two_sum(root, rest.hi / (2.0 * root));
}

inline bool operator<(Double2 a, Double2 b) { return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo); }
inline bool operator==(Double2 a, Double2 b) { return a.hi == b.hi && a.lo == b.lo; }

// Round the value to 80 significant bits, so that values equal in exact arithmetic compare equal although
// their last bits carry rounding noise. (The spacing is relative to hi: a power of two times 2^-80.)
inline Double2 quantise(Double2 a, double least = 0.0) {
  if (a.hi == 0.0 || !std::isfinite(a.hi)) return {a.hi, 0.0};
  const int top = std::ilogb(a.hi), power = least > 0.0 ? std::max(top - 79, std::ilogb(least)) : top - 79;
  const double spacing = std::ldexp(1.0, power);
  if (power >= top - 52) return {std::nearbyint(a.hi / spacing) * spacing, 0.0};
  if (spacing == 0.0) return {a.hi, 0.0};
  // (Half way between two doubles noise decides which of them is hi: the sum settles it.)
  return quick_two_sum(a.hi, std::nearbyint(a.lo / spacing) * spacing);
}

}  // namespace exactsindy
