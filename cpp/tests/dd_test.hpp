// Double-double arithmetic against exact integers and exact expansions.
#pragma once
#include <cstdint>

#include "tests/exact.hpp"
#include "tests/instances.hpp"

namespace exactsindy::tests {

__extension__ typedef __int128 Wide;

inline Double2 random_double2(Rng& rng, double low, double high) {
  const double hi = normal(rng) * power_of_ten(rng, low, high);
  return two_sum(hi, std::ldexp(hi, -53) * uniform(rng, -0.9, 0.9));
}

// |approximate - exact| / |exact|, for a quotient above / below.
inline double relative_error(Double2 approximate, const Exact& above, const Exact& below) {
  return std::abs((Exact(approximate) * below - above).rounded() / above.rounded());
}

TEST(two_sum_and_two_prod_are_exact) {
  Rng rng = seeded(1);
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t a = static_cast<std::int64_t>(rng() >> 11) * (chance(rng, 0.5) ? 1 : -1);
    const std::int64_t b = static_cast<std::int64_t>(rng() >> integer(rng, 11, 50)) * (chance(rng, 0.5) ? 1 : -1);
    const int up = integer(rng, 0, 40);  // |a| 2^up: up to 93 bits
    const Double2 sum = two_sum(std::ldexp(static_cast<double>(a), up), static_cast<double>(b));
    CHECK(static_cast<Wide>(sum.hi) + static_cast<Wide>(sum.lo) == (static_cast<Wide>(a) << up) + b);
    CHECK_OP(std::abs(sum.lo), <=, std::ldexp(std::abs(sum.hi), -53));
    const Double2 product = two_prod(static_cast<double>(a), static_cast<double>(b));
    CHECK(static_cast<Wide>(product.hi) + static_cast<Wide>(product.lo) == static_cast<Wide>(a) * b);
    const double big = static_cast<double>(std::max(std::abs(a), std::abs(b)));
    const double small = static_cast<double>(std::min(std::abs(a), std::abs(b)));
    const Double2 quick = quick_two_sum(big, -small);
    CHECK(static_cast<Wide>(quick.hi) + static_cast<Wide>(quick.lo) ==
          static_cast<Wide>(big) - static_cast<Wide>(small));
  }
}

TEST(exact_oracle_agrees_with_integers) {
  Rng rng = seeded(2);
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t a = static_cast<std::int64_t>(rng() >> 34), b = -static_cast<std::int64_t>(rng() >> 34),
                       c = static_cast<std::int64_t>(rng() >> 34);
    const Exact value = Exact(static_cast<double>(a)) * Exact(static_cast<double>(b)) * Exact(static_cast<double>(c)) +
                        Exact(static_cast<double>(a));
    const Wide expected = static_cast<Wide>(a) * b * c + a;
    const double high = static_cast<double>(expected >> 60) * 0x1p60;
    const Wide low = expected - (expected >> 60 << 60);
    CHECK((value - Exact(high) - Exact(static_cast<double>(low >> 10 << 10)) - Exact(static_cast<double>(low & 1023)))
              .sign() == 0);
  }
}

TEST(double2_operations_are_accurate) {
  Rng rng = seeded(3);
  const double tolerance = 0x1p-100;
  for (int i = 0; i < 20000; ++i) {
    const Double2 a = random_double2(rng, -20.0, 20.0), b = random_double2(rng, -20.0, 20.0);
    const Exact x(a), y(b), one(1.0);
    CHECK_OP(relative_error(a + b, x + y, one), <, tolerance);
    CHECK_OP(relative_error(a - b, x - y, one), <, tolerance);
    CHECK_OP(relative_error(a * b, x * y, one), <, tolerance);
    CHECK_OP(relative_error(a / b, x, y), <, tolerance);
    const Double2 square = a.hi < 0.0 ? -a : a;
    const Double2 root = sqrt(square);
    // (root^2 - a) / a is twice the relative error of the root.
    CHECK_OP(std::abs((Exact(root) * Exact(root) - Exact(square)).rounded() / square.hi), <, 2.0 * tolerance);
    for (Double2 r : {a + b, a * b, a / b, root}) CHECK_OP(std::abs(r.lo), <=, std::ldexp(std::abs(r.hi), -53));
    CHECK((a < b) == ((x - y).sign() < 0));
  }
}

TEST(double2_cancellation_keeps_the_low_part) {
  Rng rng = seeded(4);
  for (int i = 0; i < 5000; ++i) {
    const Double2 a = random_double2(rng, -3.0, 3.0);
    const Double2 b = {a.hi, a.lo * uniform(rng, 0.0, 1.0)};
    const Exact difference = Exact(a) - Exact(b);
    CHECK((Exact(a - b) - difference).sign() == 0);
    CHECK((a - a) == Double2{});
  }
}

TEST(double2_special_values) {
  CHECK(sqrt(Double2{}) == Double2{});
  CHECK(sqrt(Double2{-1.0, 0.0}) == Double2{});
  CHECK(sqrt(Double2{4.0, 0.0}) == (Double2{2.0, 0.0}));
  CHECK((Double2{1.0, 0.0} / Double2{4.0, 0.0}) == (Double2{0.25, 0.0}));
  CHECK(quantise(Double2{}) == Double2{});
  CHECK(std::isinf(quantise(Double2{INFINITY, 0.0}).hi));
  CHECK(quantise(Double2{5e-324, 0.0}) == (Double2{5e-324, 0.0}));
}

TEST(quantise_keeps_80_bits) {
  Rng rng = seeded(5);
  for (int i = 0; i < 20000; ++i) {
    const Double2 a = random_double2(rng, -30.0, 30.0), q = quantise(a);
    CHECK(quantise(q) == q);
    CHECK_OP(std::abs((Exact(q) - Exact(a)).rounded()), <=, std::ldexp(std::abs(a.hi), -79));
    const double spacing = std::ldexp(1.0, std::ilogb(a.hi) - 79);
    const double steps = q.lo / spacing;
    CHECK_OP(steps, ==, std::nearbyint(steps));
  }
}

// Numbers that are equal but for noise far below the spacing must become equal, also where the noise decides to which
// neighbour hi is rounded, and at powers of two.
TEST(quantise_removes_noise) {
  Rng rng = seeded(6);
  for (int i = 0; i < 20000; ++i) {
    const double e = std::ldexp(1.0, integer(rng, -40, 40));
    const int kind = integer(rng, 0, 2);
    double hi = kind == 0 ? e : e * (1.0 + std::ldexp(static_cast<double>(rng() >> 12), -52));
    // kind 1: half way between two doubles; others: a few of the 80 bits.
    const double lo = kind == 1 ? std::ldexp(e, -53) : std::ldexp(e, -79) * integer(rng, -1000, 1000);
    const double noise = std::ldexp(e, -98);
    const Double2 below = two_sum(hi, lo) + Double2{-noise, 0.0}, above = two_sum(hi, lo) + Double2{noise, 0.0};
    const Double2 p = quantise(below), q = quantise(above);
    CHECK_OP(p.hi, ==, q.hi);
    CHECK_OP(p.lo, ==, q.lo);
  }
}

}  // namespace exactsindy::tests
