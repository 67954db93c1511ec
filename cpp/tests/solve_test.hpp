// The whole search against enumeration.
#pragma once
#include "tests/exact.hpp"
#include "tests/instances.hpp"

namespace exactsindy::tests {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What solve, path and pool must return, from all fits.
struct Reference {
  std::vector<std::vector<Answer>> by_size;  // by_size[s]: supports of exactly s independent columns, best first
  double rest = 0.0;

  Reference(const Instance& instance, int top) : rest(instance.rest.hi) {
    for (int size = 0; size <= top; ++size) by_size.push_back(enumerate(instance, size));
  }
  const Answer& best(int size) const {
    const Answer* found = &by_size[0].front();
    for (int s = 1; s <= size; ++s)
      if (!by_size[s].empty() && better(by_size[s].front(), *found)) found = &by_size[s].front();
    return *found;
  }
  double runner_up(const Answer& answer) const {
    const auto& same = by_size[answer.support.size()];
    return same.size() > 1 ? same[1].error.hi : kInfinity;
  }
};

inline void check_answer(const Answer& found, const Answer& expected) {
  CHECK_OP(found.support, ==, expected.support);
  CHECK_OP(found.error.hi, ==, expected.error.hi);
  CHECK_OP(found.error.lo, ==, expected.error.lo);
  CHECK_OP(found.coef, ==, expected.coef);
}

// The bound of a completed search: the best error but for the last bits and the noise of the fit.
inline void check_lower(double lower, const Answer& best) {
  const double root = std::max(0.0, std::sqrt(best.error.hi) - 4.0 * best.blur);
  CHECK_OP(lower, <=, best.error.hi);
  CHECK_OP(lower, >=, root * root * (1.0 - 32.0 * kEps));
}

inline void check_outcome(const Outcome& out, const Reference& reference, int size) {
  const Answer& expected = reference.best(size);
  CHECK(out.stop == Stop::kNone);
  CHECK_OP(out.answers.size(), ==, std::size_t{1});
  if (out.answers.empty()) return;
  check_answer(out.answers.front(), expected);
  check_lower(out.lower, expected);
  CHECK_OP(out.runner_up, ==, reference.runner_up(expected));
}

inline void check_pool(const std::vector<Outcome>& outs, const std::vector<Answer>& expected) {
  CHECK_OP(outs.size(), ==, std::size_t{1});
  CHECK(outs.front().complete);
  const auto& found = outs.front().answers;
  CHECK_OP(found.size(), ==, expected.size());
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) check_answer(found[i], expected[i]);
}

inline Options pool_options(int keep) {
  Options options;
  options.pool = true;
  options.keep = keep;
  return options;
}

// Solve, path and both kinds of pool for one instance.
inline void check_everything(Rng& rng, const Data& data, int size) {
  const std::string note = state().note;
  const Instance instance = data.instance();
  const Reference reference(instance, size);
  state().note = note + ", solve";
  check_outcome(solve_one(data, size).front(), reference, size);

  state().note = note + ", path";
  Options path;
  path.path = true;
  const std::vector<Outcome> all = solve_one(data, size, path);
  CHECK_OP(all.size(), ==, static_cast<std::size_t>(size + 1));
  for (std::size_t s = 0; s < all.size(); ++s) check_outcome(all[s], reference, static_cast<int>(s));

  const auto& exactly = reference.by_size[size];
  const int keep = integer(rng, 1, 12);
  state().note = note + ", pool of " + text(keep);
  std::vector<Answer> expected(exactly.begin(), exactly.begin() + std::min<std::size_t>(keep, exactly.size()));
  check_pool(solve_one(data, size, pool_options(keep)), expected);

  if (exactly.empty()) return;
  // A limit away from all values, so that it does not matter on which side of a rounding error they are.
  Options within = pool_options(1);
  within.within = chance(rng, 0.2) ? 0.0 : power_of_ten(rng, -6.0, 2.0);
  state().note = note + ", pool within " + text(within.within);
  const Double2 best = exactly.front().error, limit = best + Double2{within.within, 0.0} * (best + instance.rest);
  if (within.within > 0.0)
    for (const Answer& a : exactly)
      if (std::abs((a.error - limit).hi) <= 1e-14 * limit.hi) return;
  expected.clear();
  for (const Answer& a : exactly)
    if (!(limit < a.error)) expected.push_back(a);
  check_pool(solve_one(data, size, within), expected);
}

TEST(solve_path_and_pool_equal_enumeration) {
  for (std::uint64_t seed = 10000; seed < 10000 + static_cast<std::uint64_t>(repeats(1000)); ++seed) {
    Rng rng = seeded(seed);
    std::string kind;
    const int n = integer(rng, 1, 10);
    const Data data = any_data(rng, n, kind);
    const int size = integer(rng, 1, std::min(n, n <= 8 ? 6 : 5));
    state().note = kind + " n=" + text(n) + " size=" + text(size);
    check_everything(rng, data, size);
  }
}

// The bound is about the stored numbers, not about the arithmetic of the fit: compare it with the exact optimum.
TEST(lower_bound_is_below_the_exact_optimum) {
  for (std::uint64_t seed = 19000; seed < 19000 + static_cast<std::uint64_t>(repeats(200)); ++seed) {
    Rng rng = seeded(seed);
    std::string kind;
    const Data data = any_data(rng, integer(rng, 3, 6), kind);
    state().note = kind;
    const Instance instance = data.instance();
    Refitter refitter(instance);
    const Outcome out = solve_one(data, 3).front();
    if (out.lower == 0.0) continue;
    for (int size = 0; size <= std::min(3, instance.columns); ++size)
      for (const Support& support : supports_of(instance.columns, size)) {
        if (canonical(refitter, support).support != support) continue;  // dependent
        const ExactValue value(instance, support);
        CHECK((Exact(out.lower) * value.below - value.above).sign() <= 0);
      }
  }
}

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

// Pools with a wide limit hold pairs of almost equal columns as well.
TEST(wide_pools_are_complete) {
  for (std::uint64_t seed = 22000; seed < 22000 + static_cast<std::uint64_t>(repeats(200)); ++seed) {
    Rng rng = seeded(seed);
    const int n = integer(rng, 5, 9), size = integer(rng, 2, 5);
    Data data = random_triangle(rng, n);
    make_collinear(rng, data, -11.0, -7.0);
    // Hardly anything of the target can be explained, or everything by a few terms.
    if (chance(rng, 0.5))
      for (double& z : data.target) z *= 1e-4;
    else
      sparse_target(rng, data, 1, chance(rng, 0.5) ? 0.0 : 1e-10);
    data.rest = {1.0};
    state().note = "n=" + text(n) + " size=" + text(size);
    const Instance instance = data.instance();
    Options options = pool_options(1);
    options.within = 1e3;
    check_pool(solve_one(data, size, options), enumerate(instance, size));
    check_pool(solve_one(data, size, pool_options(1000)), enumerate(instance, size));
  }
}

// Most columns zero: the others are long, and the factor no longer serves as its own basis.
TEST(few_columns_of_many_rows) {
  for (std::uint64_t seed = 23000; seed < 23000 + static_cast<std::uint64_t>(repeats(100)); ++seed) {
    Rng rng = seeded(seed);
    const int n = integer(rng, 100, 300), columns = integer(rng, 6, 9);
    Data data(n);
    int before = -1;
    for (int c = 0; c < columns; ++c) {
      const int j = (c + 1) * (n / columns) - integer(rng, 1, 5);
      if (before >= 0 && chance(rng, 0.5)) data.copy_column(before, j);
      const double size = before >= 0 && chance(rng, 0.5) ? power_of_ten(rng, -9.0, -1.0) : 1.0;
      for (int i = 0; i <= j; ++i) data.at(i, j) += size * (1.0 + normal(rng));
      before = j;
    }
    for (double& z : data.target) z = 0.01 * normal(rng);
    if (chance(rng, 0.5)) data.add_to_target(1.0, before);
    if (chance(rng, 0.3)) ridge_of_columns(rng, data, -9.0, 0.0, 1.0);
    data.rest = {0.1};
    const int size = integer(rng, 1, 5);
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

TEST(starts_do_not_change_the_answer) {
  for (std::uint64_t seed = 40000; seed < 40060; ++seed) {
    Rng rng = seeded(seed);
    std::string kind;
    const Data data = any_data(rng, 9, kind);
    state().note = kind;
    const Instance instance = data.instance();
    const Reference reference(instance, 4);
    std::vector<Support> starts;
    for (int s = 0; s < 3; ++s) {
      Support start(instance.columns);
      std::iota(start.begin(), start.end(), 0);
      std::shuffle(start.begin(), start.end(), rng);
      start.resize(std::min<std::size_t>(integer(rng, 0, 6), start.size()));
      starts.push_back(start);
    }
    starts.push_back({0, 0, 0});
    check_outcome(solve_one(data, 4, {}, {}, starts).front(), reference, 4);
  }
}

TEST(pools_stop_at_their_capacity) {
  Rng rng = seeded(41);
  const Data data = random_triangle(rng, 9);
  const std::vector<Answer> all = enumerate(data.instance(), 4);
  Options options = pool_options(1);
  options.within = 1e9;
  options.capacity = 17;
  const Outcome out = solve_one(data, 4, options).front();
  CHECK(!out.complete);
  CHECK_OP(out.answers.size(), ==, std::size_t{17});
  for (std::size_t i = 0; i < out.answers.size(); ++i) check_answer(out.answers[i], all[i]);
}

TEST(several_equations_at_once) {
  for (int threads : {1, 3}) {
    std::vector<Request> requests;
    std::vector<Reference> references;
    std::vector<int> sizes;
    for (std::uint64_t seed = 42000; seed < 42012; ++seed) {
      Rng rng = seeded(seed);
      std::string kind;
      const Data data = any_data(rng, integer(rng, 1, 9), kind);
      sizes.push_back(integer(rng, 0, std::min(data.n, 5)));
      references.emplace_back(data.instance(), sizes.back());
      requests.push_back({data.instance(), sizes.back(), {}});
    }
    Options options;
    options.limits.threads = threads;
    const auto all = solve(requests, options, {});
    CHECK_OP(all.size(), ==, sizes.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      state().seed = 42000 + i;
      check_outcome(all[i].front(), references[i], sizes[i]);
    }
  }
}

}  // namespace exactsindy::tests
