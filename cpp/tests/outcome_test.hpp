// The nouns that both searches share: the order of answers, their bounds, units, the clock.
#pragma once
#include <cmath>

#include "core/clock.hpp"
#include "core/units.hpp"
#include "tests/check.hpp"

namespace exactsindy::tests {

TEST(better_is_a_strict_order) {
  Answer a, b;
  a.error = b.error = Double2{1.0, 0.0};
  a.support = {1, 5};
  b.support = {1, 6};
  CHECK(better(a, b) && !better(b, a) && !better(a, a));
  b.support = {6};
  CHECK(better(b, a) && !better(a, b));
  a.error.lo = -1e-20;
  CHECK(better(a, b) && !better(b, a));
}

// Noise of the residual norm below the grain makes no difference, whatever the size of the error; more does.
TEST(ties_are_decided_on_the_scale_of_the_noise) {
  const double grain = 0x1p-80;
  for (int power = -1; power > -70; --power) {
    const double root = std::ldexp(1.2345, power);
    Answer a{{1, 5}, {}, two_prod(root, root), 0.0, grain}, b = a, c = a;
    b.support = {1, 6};
    b.error = b.error + Double2{-0x1p-24 * grain * root, 0.0};
    c.error = c.error + Double2{-4.0 * grain * root, 0.0} + Double2{-std::ldexp(root * root, -76), 0.0};
    CHECK(better(a, b) && !better(b, a));
    CHECK(better(c, a) && !better(a, c));
  }
}

TEST(answers_bound_their_true_error) {
  for (const double blur : {0.0, 1e-40, 1e-9, 0.1}) {
    const Answer answer{{0}, {1.0}, {2.0, 0.0}, blur};
    const double root = std::sqrt(2.0);
    CHECK_OP(answer.upper(), >=, (root + blur) * (root + blur));
    CHECK_OP(answer.lower(), <=, (root - blur) * (root - blur));
    CHECK_OP(answer.upper(), <=, (root + blur) * (root + blur) * (1.0 + 1e-14));
    CHECK_OP(answer.lower(), >=, (root - blur) * (root - blur) * (1.0 - 1e-14));
  }
  const Answer vague{{0}, {1.0}, {1e-30, 0.0}, 1.0};
  CHECK_OP(vague.lower(), ==, 0.0);
}

TEST(units_scale_exactly_and_round_bounds_down) {
  const Units units{{3.0, 0.0}, 2, {1, -4}, {5, 7}};
  CHECK_OP(units.objective({0.5, 0.0}), ==, 3.5 * 16.0);
  CHECK(std::isinf(units.objective({kInf, 0.0})));
  CHECK_OP(units.lower(0.5), <, 3.5 * 16.0);
  CHECK_OP(units.lower(0.5), ==, std::nextafter(3.5, 0.0) * 16.0);
  CHECK(std::isinf(units.lower(kInf)));
  // Below the normal doubles, where scaling rounds.
  for (int e = -540; e < -500; ++e) {
    const Units tiny{{}, e, {}, {}};
    for (double x = 1.0; x < 4.0; x += 0.0137) {
      const double scaled = tiny.lower(x);
      CHECK(scaled == 0.0 || std::ldexp(scaled, -2 * e) < x);
    }
  }
  const Answer answer{{0, 1}, {1.5, -1.0}, {0.0, 0.0}};
  CHECK(units.support(answer.support) == (std::vector<int>{5, 7}));
  CHECK(units.coefficients(answer) == (std::vector<double>{3.0, -64.0}));
  for (const std::vector<double>& v : {std::vector{3.0, 4.0}, std::vector{0x1p-1040}, std::vector{0x1p1000, 1.0}}) {
    double sum = 0.0;
    for (double x : v) sum += std::ldexp(x, -norm_exponent(v)) * std::ldexp(x, -norm_exponent(v));
    CHECK(sum >= 0.25 && sum < 1.0);
  }
  CHECK_OP(norm_exponent(std::vector<double>{0.0, 0.0}), ==, 0);
}

TEST(clock_is_due_once_per_interval) {
  Clock clock(0.5, 2.0);
  CHECK(!clock.due(0.4));
  CHECK(clock.due(0.5));
  CHECK(!clock.due(2.4));
  CHECK(clock.due(3.0));
  CHECK(!clock.due(4.9));
  CHECK_OP(clock.elapsed(), >=, 0.0);
}

}  // namespace exactsindy::tests
