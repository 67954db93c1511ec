// The whole search against enumeration.
#pragma once
#include "tests/reference.hpp"

namespace exactsindy::tests {

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
        if (!fitted(refitter, support).admissible()) continue;
        const ExactValue value(instance, support);
        CHECK((Exact(out.lower) * value.below - value.above).sign() <= 0);
      }
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
    std::vector<Data> instances;
    std::vector<Request> requests;
    std::vector<Reference> references;
    std::vector<int> sizes;
    for (std::uint64_t seed = 42000; seed < 42012; ++seed) {
      Rng rng = seeded(seed);
      std::string kind;
      const Data data = any_data(rng, integer(rng, 1, 9), kind);
      sizes.push_back(integer(rng, 0, std::min(data.n, 5)));
      references.emplace_back(data.instance(), sizes.back());
      instances.push_back(data);
    }
    for (std::size_t i = 0; i < instances.size(); ++i) requests.push_back({instances[i].view(), sizes[i], {}});
    Options options;
    options.limits.threads = threads;
    const auto all = solve(requests, options, {});
    CHECK_OP(all.size(), ==, sizes.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      state().seed = 42000 + i;
      check_outcome(all[i].outcomes.front(), references[i], sizes[i]);
    }
  }
}

// Several targets of the same columns: what depends on the columns alone is made once, and changes no bit.
TEST(targets_of_the_same_columns_share_their_preparation) {
  for (std::uint64_t seed = 43000; seed < 43000 + static_cast<std::uint64_t>(repeats(200)); ++seed) {
    Rng rng = seeded(seed);
    std::string kind;
    const int n = integer(rng, 1, 30);
    const Data data = n <= 9 ? any_data(rng, n, kind) : random_triangle(rng, n);
    std::vector<std::vector<double>> targets{data.target};
    for (int i = 0; i < 3; ++i) {
      targets.push_back(data.target);
      const double size = i == 1 ? 0.0 : power_of_ten(rng, -6.0, 6.0);
      for (double& z : targets.back()) z = i == 2 ? size * z : size * normal(rng);
    }
    std::vector<Request> requests;
    for (const auto& target : targets) {
      Factor factor = data.view();
      factor.target = target;
      requests.push_back({factor, integer(rng, 0, 4), {}});
    }
    state().note = kind + " n=" + text(n);
    for (int threads : {1, 2}) {
      Options options;
      options.path = chance(rng, 0.3);
      options.limits.threads = threads;
      const auto together = solve(requests, options, {});
      for (std::size_t i = 0; i < requests.size(); ++i) {
        const Solved alone = solve({requests[i]}, options, {}).front();
        CHECK_OP(together[i].outcomes.size(), ==, alone.outcomes.size());
        for (std::size_t k = 0; k < alone.outcomes.size(); ++k) {
          const Outcome &a = together[i].outcomes[k], &b = alone.outcomes[k];
          CHECK(a.lower == b.lower && a.runner_up == b.runner_up && a.nodes == b.nodes);
          CHECK_OP(a.answers.size(), ==, b.answers.size());
          for (std::size_t j = 0; j < b.answers.size(); ++j)
            CHECK(a.answers[j].support == b.answers[j].support && a.answers[j].coef == b.answers[j].coef &&
                  a.answers[j].error == b.answers[j].error);
        }
      }
    }
  }
}

}  // namespace exactsindy::tests
