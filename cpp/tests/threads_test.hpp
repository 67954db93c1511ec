// The answer does not depend on how many threads look for it.
#pragma once
#include "tests/limits_test.hpp"

namespace exactsindy::tests {

inline void check_same(const std::vector<Outcome>& one, const std::vector<Outcome>& other) {
  CHECK_OP(one.size(), ==, other.size());
  for (std::size_t s = 0; s < std::min(one.size(), other.size()); ++s) {
    CHECK_OP(one[s].answers.size(), ==, other[s].answers.size());
    for (std::size_t i = 0; i < std::min(one[s].answers.size(), other[s].answers.size()); ++i)
      check_answer(other[s].answers[i], one[s].answers[i]);
    CHECK_OP(one[s].lower, ==, other[s].lower);
    CHECK_OP(one[s].runner_up, ==, other[s].runner_up);
    CHECK(one[s].stop == other[s].stop);
    CHECK_OP(one[s].complete, ==, other[s].complete);
  }
}

inline long nodes_of(const std::vector<Outcome>& all) {
  long nodes = 0;
  for (const Outcome& out : all) nodes += out.nodes;
  return nodes;
}

inline void check_thread_counts(const Data& data, int size, Options options, long nodes) {
  options.limits.threads = 1;
  const std::vector<Outcome> one = solve_one(data, size, options);
  CHECK_OP(nodes_of(one), >=, nodes);  // or no task is ever handed over
  const std::string note = state().note;
  for (int threads : {2, 4}) {
    state().note = note + " threads=" + text(threads);
    options.limits.threads = threads;
    check_same(one, solve_one(data, size, options));
  }
}

TEST(threads_agree_on_hard_problems) {
  for (std::uint64_t seed = 60000; seed < 60002; ++seed) {
    Rng rng = seeded(seed, "solve");
    const Data data = hard_data(rng, sanitized() ? 46 : 50);
    check_thread_counts(data, 6, {}, 3000);
    seeded(seed, "pool");
    check_thread_counts(data, 5, pool_options(40), 3000);
  }
}

TEST(threads_agree_on_paths) {
  Rng rng = seeded(60010);
  Options options;
  options.path = true;
  check_thread_counts(hard_data(rng, 46), 6, options, 3000);
}

// Small integers and repeated columns: many supports tie, and the first in order must win.
TEST(threads_agree_on_ties) {
  for (std::uint64_t seed = 61000; seed < 61000 + static_cast<std::uint64_t>(repeats(16)); ++seed) {
    Rng rng = seeded(seed, "ties");
    const int n = integer(rng, 12, 20);
    Data data = integer_triangle(rng, n, 1);
    for (int j = n / 2; j < n; ++j)
      if (chance(rng, 0.4)) data.copy_column(integer(rng, 0, j - 1), j);
    if (chance(rng, 0.3)) data.ridge.assign(n, 0.25);
    check_thread_counts(data, 4, {}, 0);
    check_thread_counts(data, 4, pool_options(30), 0);
  }
}

TEST(threads_agree_on_delicate_problems) {
  for (std::uint64_t seed = 62000; seed < 62000 + static_cast<std::uint64_t>(repeats(24)); ++seed) {
    Rng rng = seeded(seed, "delicate");
    Data data = random_triangle(rng, integer(rng, 14, 20));
    make_collinear(rng, data, -8.0, -1.0);
    if (chance(rng, 0.5)) sparse_target(rng, data, 3, power_of_ten(rng, -16.0, -2.0));
    if (chance(rng, 0.3)) ridge_of_columns(rng, data, -10.0, -1.0, 1.0);
    check_thread_counts(data, 5, {}, 0);
  }
}

// Tasks that wait or run when the search is stopped count as open: the bound must hold for them as well.
TEST(stopped_tasks_stay_open) {
  Rng rng = seeded(64000);
  const Data data = hard_data(rng, 46);
  const Outcome whole = solve_one(data, 6).front();
  CHECK_OP(whole.nodes, >, 3000);
  long stopped = 0;
  for (int repeat = 0; repeat < repeats(60); ++repeat) {
    Options options;
    options.limits.threads = integer(rng, 2, 4);
    options.limits.nodes = static_cast<long>(uniform(rng, 0.3, 0.6) * static_cast<double>(whole.nodes));
    state().note = "threads=" + text(options.limits.threads) + " nodes=" + text(options.limits.nodes);
    const Outcome out = solve_one(data, 6, options).front();
    CHECK_OP(out.lower, <=, whole.answers.front().error.hi);
    CHECK(!better(out.answers.front(), whole.answers.front()));
    if (out.stop == Stop::kNone) {
      check_same({whole}, {out});
    } else {
      ++stopped;
      CHECK(out.stop == Stop::kNodes);
      CHECK(!out.complete);
      CHECK_OP(out.runner_up, <, 0.0);
    }
  }
  CHECK_OP(stopped, >, 0);
}

// More equations than threads, of very different difficulty: jobs and tasks mix.
TEST(threads_share_several_equations) {
  const auto run = [](int threads) {
    std::vector<Data> data;
    std::vector<Request> requests;
    for (std::uint64_t seed = 63000; seed < 63006; ++seed) {
      Rng rng = seeded(seed);
      data.push_back(hard_data(rng, seed % 2 == 0 ? 44 : 8));
    }
    for (const Data& one : data) requests.push_back({one.view(), 6, {}});
    Options options;
    options.limits.threads = threads;
    return solve(requests, options, {});
  };
  const auto one = run(1);
  for (int threads : {2, 4}) {
    const auto other = run(threads);
    for (std::size_t i = 0; i < one.size(); ++i) check_same(one[i].outcomes, other[i].outcomes);
  }
}

}  // namespace exactsindy::tests
