// The canonical value of a support against exact arithmetic.
#pragma once
#include "tests/exact.hpp"
#include "tests/instances.hpp"

namespace exactsindy::tests {

// What double-double rounding may do to an error: relative to it, relative to its root, and the floor.
inline double canonical_noise(const Instance& in, const Fit& fit) {
  double scale = in.z_norm;
  for (int i = 0; i < fit.size; ++i) scale += std::abs(fit.coef[i]) * in.norm[fit.support[i]];
  return std::ldexp(fit.error.hi, -79) + std::ldexp(scale * std::sqrt(fit.error.hi), -96) + fit.floor;
}

TEST(fit_equals_exact_value) {
  for (std::uint64_t seed = 100; seed < 100 + static_cast<std::uint64_t>(repeats(300)); ++seed) {
    Rng rng = seeded(seed);
    std::string kind;
    const Data data = any_data(rng, integer(rng, 2, 9), kind);
    state().note = kind;
    const Instance in = data.instance();
    if (in.columns == 0) continue;
    Refitter refitter(in);
    Fit fit;
    for (int size = 1; size <= std::min(3, in.columns); ++size)
      for (int repeat = 0; repeat < 4; ++repeat) {
        const auto all = supports_of(in.columns, size);
        const Support support = all[rng() % all.size()];
        refitter.fit(support, fit);
        if (!fit.admissible()) continue;
        const ExactValue value(in, support);
        CHECK_OP(std::abs(value.excess(fit.error)), <=, canonical_noise(in, fit));
        CHECK_OP(fit.error.hi, >=, 0.0);
        CHECK(Support(fit.support, fit.support + fit.size) == support);
        for (int i = 0; i < size; ++i) {
          // The cost of dropping a term is the rise of the error.
          Support fewer = support;
          fewer.erase(fewer.begin() + i);
          const ExactValue after(in, fewer);
          const double rise = ((after.above * value.below) - (value.above * after.below)).rounded() /
                              (after.below * value.below).rounded();
          const double tolerance = 1e-2 * rise + 16.0 * fit.floor + std::ldexp(after.rounded(), -70);
          CHECK_OP(std::abs(fit.drop[i] - rise), <=, tolerance);
        }
      }
  }
}

// Cramer's rule for the coefficients of a pair.
TEST(fit_coefficients) {
  for (std::uint64_t seed = 500; seed < 700; ++seed) {
    Rng rng = seeded(seed);
    std::string kind;
    const Data data = any_data(rng, integer(rng, 2, 9), kind);
    state().note = kind;
    const Instance in = data.instance();
    if (in.columns < 2) continue;
    Refitter refitter(in);
    Fit fit;
    const int b = integer(rng, 1, in.columns - 1), a = integer(rng, 0, b - 1);
    refitter.fit(Support{a, b}, fit);
    if (!fit.admissible()) continue;
    const auto dot = [&](const double* x, const double* y) {
      Exact sum;
      for (int i = 0; i < in.rows; ++i) sum = sum + Exact(x[i]) * Exact(y[i]);
      return sum;
    };
    const Exact aa = dot(in.column(a), in.column(a)) + Exact(in.ridge[a]), ab = dot(in.column(a), in.column(b)),
                bb = dot(in.column(b), in.column(b)) + Exact(in.ridge[b]), az = dot(in.column(a), in.z.data()),
                bz = dot(in.column(b), in.z.data());
    const Exact det = aa * bb - ab * ab;
    const double x = (az * bb - bz * ab).rounded() / det.rounded(), y = (bz * aa - az * ab).rounded() / det.rounded();
    const double size = std::abs(x) + std::abs(y) + in.z_norm;
    CHECK_OP(std::abs(fit.coef[0] - x), <=, 1e-14 * std::abs(x) + 1e-17 * size);
    CHECK_OP(std::abs(fit.coef[1] - y), <=, 1e-14 * std::abs(y) + 1e-17 * size);
  }
}

TEST(dependent_columns_are_left_out) {
  for (std::uint64_t seed = 700; seed < 800; ++seed) {
    Rng rng = seeded(seed);
    const int n = integer(rng, 4, 12);
    Data data = random_triangle(rng, n);
    data.copy_column(0, 2);
    for (int i = 0; i < n; ++i) data.at(i, 3) = 0.5 * data.at(i, 0) - 4.0 * data.at(i, 1);  // exact in binary or nearly
    for (int i = 2; i < n; ++i) data.at(i, 3) = 0.0;
    const Instance in = data.instance();
    Refitter refitter(in);
    Fit all, two;
    refitter.fit(Support{0, 1, 2, 3}, all);
    refitter.fit(Support{0, 1}, two);
    CHECK(!all.admissible());
    CHECK_OP(all.size, ==, 2);
    CHECK(all.error == two.error);
    CHECK(two.admissible());
    for (int i = 0; i < 2; ++i) CHECK_OP(all.coef[i], ==, two.coef[i]);
    // A ridge makes even equal columns independent.
    data.ridge.assign(n, 1e-3);
    const Instance ridged = data.instance();
    Refitter other(ridged);
    other.fit(Support{0, 1, 2, 3}, all);
    CHECK(all.admissible());
    CHECK_OP(std::abs(all.coef[0] * std::ldexp(1.0, -ridged.exponent[0]) -
                      all.coef[2] * std::ldexp(1.0, -ridged.exponent[2])),
             <=, 1e-12 * std::abs(all.coef[0]));
  }
}

TEST(nearly_dependent_columns_stay) {
  for (std::uint64_t seed = 800; seed < 900; ++seed) {
    Rng rng = seeded(seed);
    Data data = random_triangle(rng, 5);
    data.copy_column(0, 2);
    data.at(1, 2) += 1e-11 * data.at(0, 0);
    const Instance in = data.instance();
    Refitter refitter(in);
    Fit fit;
    refitter.fit(Support{0, 2}, fit);
    CHECK(fit.independent);
    const ExactValue value(in, {0, 2});
    CHECK_OP(std::abs(value.excess(fit.error)), <=, canonical_noise(in, fit));
  }
}

TEST(exact_fits_have_error_zero) {
  for (std::uint64_t seed = 900; seed < 1000; ++seed) {
    Rng rng = seeded(seed);
    const int n = integer(rng, 3, 12);
    Data data = integer_triangle(rng, n, 8);
    for (int j = 0; j < n; ++j) data.at(j, j) = 9.0;
    const int a = integer(rng, 0, n - 2), b = integer(rng, a + 1, n - 1);
    std::fill(data.target.begin(), data.target.end(), 0.0);
    data.add_to_target(integer(rng, 1, 5), a);
    data.add_to_target(-7.0, b);
    const Instance in = data.instance();
    Refitter refitter(in);
    Fit fit;
    for (const Support& support : supports_of(n, std::min(n, 4))) {
      const bool both =
          std::count(support.begin(), support.end(), a) + std::count(support.begin(), support.end(), b) == 2;
      refitter.fit(support, fit);
      CHECK((fit.error == Double2{}) == both);
      if (!both) continue;
      for (int i = 0; i < fit.size; ++i) {
        const bool part = fit.support[i] == a || fit.support[i] == b;
        CHECK((fit.drop[i] <= 4.0 * fit.floor) == !part);
        const double coef = std::ldexp(fit.coef[i], in.target_exponent - in.exponent[fit.support[i]]);
        if (fit.support[i] == b) CHECK_OP(std::abs(coef + 7.0), <=, 1e-14);
      }
    }
    refitter.fit(Support{}, fit);
    CHECK_OP(fit.size, ==, 0);
    CHECK_OP(std::abs(ExactValue(in, {}).excess(fit.error)), <=, std::ldexp(fit.error.hi, -79));
  }
}

// Powers of two as units change nothing at all; any units change the numbers but not the geometry.
TEST(fit_does_not_depend_on_units) {
  for (std::uint64_t seed = 1000; seed < 1100; ++seed) {
    Rng rng = seeded(seed);
    std::string kind;
    const Data data = any_data(rng, 8, kind);
    state().note = kind;
    Data scaled = data;
    // Column j in units 2^e: with its ridge in 2^2e.
    for (int j = 0; j < 8; ++j) {
      const int e = integer(rng, -150, 150);
      for (int i = 0; i <= j; ++i) scaled.at(i, j) = std::ldexp(data.at(i, j), e);
      scaled.ridge[j] = std::ldexp(data.ridge[j], 2 * e);
    }
    const int e = integer(rng, -150, 150);
    for (double& z : scaled.target) z = std::ldexp(z, e);
    for (double& y : scaled.rest) y = std::ldexp(y, e);
    const Instance in = data.instance(), other = scaled.instance();
    CHECK_OP(in.columns, ==, other.columns);
    CHECK_OP(other.target_exponent - in.target_exponent, ==, (in.z_norm + in.rest.hi > 0.0 ? e : 0));
    CHECK(in.rest == other.rest);
    Refitter one(in), two(other);
    Fit first, second;
    for (int size = 1; size <= std::min(3, in.columns); ++size)
      for (const Support& support : supports_of(in.columns, size)) {
        one.fit(support, first);
        two.fit(support, second);
        CHECK(first.error == second.error);
        CHECK_OP(first.size, ==, second.size);
      }
  }
}

TEST(instance_is_normalised) {
  for (std::uint64_t seed = 1100; seed < 1200; ++seed) {
    Rng rng = seeded(seed);
    std::string kind;
    Data data = any_data(rng, integer(rng, 1, 20), kind);
    if (chance(rng, 0.5)) rescale(rng, data, -140.0, 140.0);
    if (chance(rng, 0.3))
      for (int i = 0; i < data.n; ++i) data.at(i, data.n - 1) = 0.0;
    state().note = kind;
    const Instance in = data.instance();
    for (int j = 0; j < in.columns; ++j) {
      CHECK_OP(in.norm[j], >=, 0.5);
      CHECK_OP(in.norm[j], <=, 1.0 + 1e-11);
      Exact square(in.ridge[j]);
      for (int i = 0; i < in.stride; ++i) square = square + Exact(in.column(j)[i]) * Exact(in.column(j)[i]);
      CHECK(square <= Exact(in.norm[j]) * Exact(in.norm[j]));
      for (int i = in.length[j]; i < in.stride; ++i) CHECK_OP(in.column(j)[i], ==, 0.0);
      for (int i = 0; i <= in.original[j] && i < in.rows; ++i)
        CHECK_OP(std::ldexp(in.column(j)[i], in.exponent[j]), ==, data.at(i, in.original[j]));
      CHECK_OP(std::ldexp(in.ridge[j], 2 * in.exponent[j]), ==, data.ridge[in.original[j]]);
    }
    Exact tail;
    for (int i = in.stride - 1; i >= 0; --i) {
      tail = tail + Exact(in.z[i]) * Exact(in.z[i]);
      if (i % kLane == 0) CHECK_OP(std::abs((Exact(in.tail[i / kLane]) - tail).rounded()), <=, 1e-30 * tail.rounded());
    }
    CHECK(tail <= Exact(in.z_norm) * Exact(in.z_norm));
  }
}

// Equal columns at different places take different routes through the arithmetic: their values must not differ.
TEST(equal_supports_have_equal_errors) {
  long compared = 0;
  for (std::uint64_t seed = 1200; seed < 1200 + static_cast<std::uint64_t>(repeats(400)); ++seed) {
    Rng rng = seeded(seed);
    const int n = integer(rng, 6, 30);
    Data data = chance(rng, 0.5) ? random_triangle(rng, n) : integer_triangle(rng, n, 9);
    for (int j = 0; j < 3; ++j) data.at(j, j) += 12.0;
    data.copy_column(0, n - 3);
    data.copy_column(1, n - 2);
    data.copy_column(2, n - 1);
    const Instance in = data.instance();
    if (in.columns != n) continue;
    Refitter refitter(in);
    Fit fit;
    refitter.fit(Support{0, 1, 2}, fit);
    for (const Support& same :
         {Support{0, 1, n - 1}, Support{0, 2, n - 2}, Support{n - 3, n - 2, n - 1}, Support{1, n - 3, n - 1}}) {
      const Double2 first = fit.error;
      Fit other;
      refitter.fit(same, other);
      CHECK_OP(first.hi, ==, other.error.hi);
      CHECK_OP(first.lo, ==, other.error.lo);
      ++compared;
    }
  }
  CHECK_OP(compared, >, 200);
}

}  // namespace exactsindy::tests
