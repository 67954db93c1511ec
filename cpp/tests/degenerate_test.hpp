// The search where terms depend on each other or fit exactly.
#pragma once
#include "tests/reference.hpp"

namespace exactsindy::tests {

// Whether a column counts as dependent changes from support to support: what is best of a size need not be better than
// what is best of a smaller one.
TEST(threshold_of_dependence) {
  for (std::uint64_t seed = 18000; seed < 18000 + static_cast<std::uint64_t>(repeats(1500)); ++seed) {
    Rng rng = seeded(seed);
    const int n = integer(rng, 3, 9);
    Data data = random_triangle(rng, n);
    make_collinear(rng, data, -15.5, -11.0);
    if (chance(rng, 0.5)) make_collinear(rng, data, -14.0, -12.0);
    if (chance(rng, 0.7))
      sparse_target(rng, data, integer(rng, 1, 4), chance(rng, 0.3) ? 0.0 : power_of_ten(rng, -16.0, 0.0));
    const int size = integer(rng, 1, std::min(n, 5));
    state().note = "n=" + text(n) + " size=" + text(size);
    check_everything(rng, data, size);
  }
}

// More terms wanted than independent columns exist: known at once, not after trying all of them.
TEST(more_terms_than_rank) {
  for (double distance : {0.0, 3e-15}) {
    Rng rng = seeded(32);
    Data data = random_triangle(rng, 18);
    for (int j = 6; j < 18; ++j) {
      data.copy_column(j % 6, j);
      for (int i = 0; i <= j; ++i) data.at(i, j) += distance * normal(rng);
    }
    const Outcome out = solve_one(data, 12).front();
    CHECK(out.stop == Stop::kNone);
    CHECK_OP(out.answers.front().support.size(), <=, std::size_t{6});
    CHECK_OP(out.nodes, <, 20'000);
  }
  Rng rng = seeded(33);
  Data data = random_triangle(rng, 40);
  for (int i = 4; i < 40; ++i) {
    for (int j = i; j < 40; ++j) data.at(i, j) = 0.0;
    data.target[i] = 0.0;
  }
  CHECK_OP(solve_one(data, 9).front().answers.front().support.size(), ==, std::size_t{4});
}

// What is left of the target after the rest is so small that its square is hardly a number.
TEST(tiny_targets) {
  for (std::uint64_t seed = 24000; seed < 24000 + static_cast<std::uint64_t>(repeats(100)); ++seed) {
    Rng rng = seeded(seed);
    Data data = random_triangle(rng, 7);
    const double size = chance(rng, 0.5) ? power_of_ten(rng, -300.0, -125.0) : power_of_ten(rng, -117.0, -90.0);
    for (double& z : data.target) z *= size;
    state().note = "target " + text(size);
    check_everything(rng, data, 4);
    // The same target, larger: the same support, unless it is too small to show in the objective at all.
    Data large = data;
    const int shift = static_cast<int>(-std::log2(size)) - 20;
    for (double& z : large.target) z = std::ldexp(z, shift);
    const Support expected = solve_one(large, 3).front().answers.front().support;
    CHECK_OP(solve_one(data, 3).front().answers.front().support, ==, size < 1e-120 ? Support{} : expected);
    data.rest.clear();  // alone it is as good as any
    CHECK_OP(solve_one(data, 3).front().answers.front().support, ==, expected);
  }
}

// Terms in that almost depend on each other are projected from scratch; many answers in doubt take the same way.
TEST(ill_conditioned_terms_with_ridge) {
  for (std::uint64_t seed = 20000; seed < 20000 + static_cast<std::uint64_t>(repeats(200)); ++seed) {
    Rng rng = seeded(seed);
    const int n = integer(rng, 7, 10), size = integer(rng, 4, 5);
    Data data = random_triangle(rng, n);
    make_collinear(rng, data, -5.0, -2.0);
    ridge_of_columns(rng, data, -10.0, -1.0, 1.0);
    state().note = "n=" + text(n) + " size=" + text(size);
    check_everything(rng, data, size);
  }
}

// A good fit leaves little of the target: differences between supports are then far below its rounding errors.
TEST(little_left_of_the_target) {
  for (std::uint64_t seed = 21000; seed < 21000 + static_cast<std::uint64_t>(repeats(300)); ++seed) {
    Rng rng = seeded(seed);
    const int n = integer(rng, 8, 10), size = integer(rng, 4, 5);
    Data data = random_triangle(rng, n);
    make_collinear(rng, data, -6.0, -2.0);
    sparse_target(rng, data, integer(rng, 1, size - 2), power_of_ten(rng, -16.0, -3.0));
    if (chance(rng, 0.3)) ridge_of_columns(rng, data, -14.0, -6.0, 1.0);
    state().note = "n=" + text(n) + " size=" + text(size);
    check_everything(rng, data, size);
  }
}

TEST(singular_instances) {
  Rng rng = seeded(30);
  Data zero_target = random_triangle(rng, 6);
  std::fill(zero_target.target.begin(), zero_target.target.end(), 0.0);
  state().note = "zero target";
  check_everything(rng, zero_target, 4);

  Data nothing(5);
  state().note = "no columns at all";
  CHECK(solve_one(nothing, 3).front().answers.front().support.empty());
  nothing.target[0] = 1.0;
  CHECK(solve_one(nothing, 3).front().answers.front().support.empty());
  CHECK(solve_one(nothing, 3, pool_options(3)).front().answers.empty());

  Data one = random_triangle(rng, 1);
  state().note = "one column";
  check_everything(rng, one, 1);
  CHECK_OP(solve_one(one, 5).front().answers.front().support, ==, Support{0});

  Data twins = random_triangle(rng, 9);
  for (int j = 1; j < 9; ++j) twins.copy_column(0, j);
  state().note = "nine equal columns";
  check_everything(rng, twins, 4);
  CHECK_OP(solve_one(twins, 4).front().answers.front().support, ==, Support{0});

  Data holes = random_triangle(rng, 10);
  for (int j : {0, 3, 9})
    for (int i = 0; i <= j; ++i) holes.at(i, j) = 0.0;
  state().note = "zero columns";
  check_everything(rng, holes, 4);

  Data empty(0);
  state().note = "no rows";
  CHECK(solve_one(empty, 2).front().answers.front().support.empty());
}

// Two exact fits of three terms each, and one of two terms that a search for three terms must not overlook.
TEST(smaller_exact_fit_wins) {
  Rng rng = seeded(31);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const int n = 10;
    Data data(n);
    for (int j = 0; j < 6; ++j) data.at(j, j) = 1.0;
    // 0 + 1 + 2 + 3 = 4' + 5' where the last columns are halves of that sum plus and minus something else.
    for (int i = 0; i < 4; ++i) data.target[i] = 1.0;
    for (int i = 0; i < 4; ++i) data.at(i, 8) = data.at(i, 9) = 0.5;
    const double other = integer(rng, 3, 50);
    data.at(4, 8) = other, data.at(4, 9) = -other;
    for (int i = 0; i < 3; ++i) data.at(i, 6) = 1.0;  // 3 + 6 fits, too
    data.at(5, 6) = repeat % 2;                       // (or not)
    for (int j = 4; j < 6; ++j) data.at(j, j) = 1.0;
    data.at(2, 7) = 1.0, data.at(3, 7) = 1.0, data.at(5, 7) = repeat % 3 == 0 ? 1.0 : 0.0;
    state().note = "variant " + text(repeat);
    for (int size = 2; size <= 5; ++size) {
      const Reference reference(data.instance(), size);
      check_outcome(solve_one(data, size).front(), reference, size);
    }
  }
}

// The search starts from exact fits of three terms, which come first in order: ties at zero end it, and an exact fit of
// two other terms is found only by looking for it.
TEST(smaller_exact_fit_is_looked_for) {
  Data data(10);
  for (int j : {0, 1, 2}) data.at(j, j) = data.target[j] = 1.0;
  data.at(2, 3) = 1.0, data.at(1, 3) = 2.0;
  for (int j : {8, 9})
    for (int i : {0, 1, 2}) data.at(i, j) = 0.5;
  data.at(5, 8) = 50.0, data.at(5, 9) = -50.0;
  const Reference reference(data.instance(), 3);
  check_outcome(solve_one(data, 3, {}, {}, {{0, 1, 2}, {0, 1, 3}}).front(), reference, 3);
}

// Terms that are not needed must not make the search try all of their subsets.
TEST(superfluous_terms_are_dropped_at_once) {
  for (double noise : {0.0, 1.0}) {
    Data data(40);
    for (int j = 0; j < 40; ++j) data.at(j, j) = 1.0;
    data.target[3] = 2.0;
    data.rest = {noise};
    const Outcome out = solve_one(data, 16).front();
    CHECK_OP(out.answers.front().support, ==, Support{3});
    CHECK_OP(out.nodes, <, 100'000);
  }
}

}  // namespace exactsindy::tests
