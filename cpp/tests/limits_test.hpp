// Searches that end early must say so, and what they say must be true.
#pragma once
#include <chrono>

#include "tests/reference.hpp"

namespace exactsindy::tests {

// Neighbouring columns alike, a target of noise: no few terms stand out, and the search has to look at a lot.
inline Data hard_data(Rng& rng, int n) {
  Data data(n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < j; ++i) data.at(i, j) = normal(rng) + 0.9 * data.at(i, j - 1);
    data.at(j, j) = 1.0 + std::abs(normal(rng));
  }
  for (double& z : data.target) z = normal(rng);
  data.rest = {std::sqrt(0.2 * n)};
  return data;
}

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A finished outcome is right; an unfinished one has bounds on both sides.
inline void check_limited(const Outcome& out, const Reference& reference, int size, Stop reason) {
  if (out.stop == Stop::kNone) {
    check_outcome(out, reference, size);
    return;
  }
  CHECK(out.stop == reason);
  const Answer& best = reference.best(size);
  CHECK_OP(out.answers.size(), >=, std::size_t{1});
  if (out.answers.empty()) return;
  const Answer& answer = out.answers.front();
  CHECK(!better(answer, best));
  CHECK_OP(answer.support.size(), <=, static_cast<std::size_t>(size));
  CHECK_OP(out.lower, <=, best.error.hi);
  CHECK_OP(out.lower, >=, 0.0);
  CHECK_OP(out.runner_up, <, 0.0);
  CHECK(!out.complete);
  const auto& same = reference.by_size[answer.support.size()];
  const auto at = std::find_if(same.begin(), same.end(), [&](const Answer& a) { return a.support == answer.support; });
  CHECK(at != same.end());
  if (at != same.end()) check_answer(answer, *at);
}

TEST(node_limits_leave_true_bounds) {
  long stopped = 0, useful = 0;
  for (std::uint64_t seed = 50000; seed < 50000 + static_cast<std::uint64_t>(repeats(300)); ++seed) {
    Rng rng = seeded(seed);
    std::string kind;
    const int n = integer(rng, 6, 10), size = integer(rng, 3, 5);
    const Data data = chance(rng, 0.5) ? hard_data(rng, n) : any_data(rng, n, kind);
    const Reference reference(data.instance(), size);
    Options options;
    options.limits.nodes = integer(rng, 1, 15);
    options.limits.threads = chance(rng, 0.3) ? 2 : 1;
    options.path = chance(rng, 0.3);
    state().note = kind + " n=" + text(n) + " size=" + text(size) + " nodes=" + text(options.limits.nodes);
    const std::vector<Outcome> all = solve_one(data, size, options);
    for (std::size_t s = 0; s < all.size(); ++s) {
      const int top = options.path ? static_cast<int>(s) : size;
      check_limited(all[s], reference, top, Stop::kNodes);
      stopped += all[s].stop == Stop::kNodes;
      useful += all[s].stop == Stop::kNodes && all[s].lower > 0.0;
    }
  }
  CHECK_OP(stopped, >, repeats(50));
  CHECK_OP(useful, >, 0);
}

TEST(limited_pools_are_not_complete) {
  for (std::uint64_t seed = 51000; seed < 51040; ++seed) {
    Rng rng = seeded(seed);
    const Data data = hard_data(rng, 10);
    const std::vector<Answer> all = enumerate(data.instance(), 5);
    Options options = pool_options(20);
    options.limits.nodes = integer(rng, 1, 10);
    const Outcome out = solve_one(data, 5, options).front();
    if (out.stop == Stop::kNone) {
      CHECK(out.complete);
      continue;
    }
    CHECK(!out.complete);
    CHECK_OP(out.lower, <=, all.front().error.hi);
    CHECK(std::is_sorted(out.answers.begin(), out.answers.end(), [](auto& a, auto& b) { return better(a, b); }));
    for (const Answer& a : out.answers)
      CHECK(std::any_of(all.begin(), all.end(),
                        [&](const Answer& b) { return a.support == b.support && a.error == b.error; }));
  }
}

TEST(watch_interrupts) {
  for (int threads : {1, 3}) {
    Rng rng = seeded(52, "threads=" + text(threads));
    const Data data = hard_data(rng, 70);
    Options options;
    options.limits.threads = threads;
    options.limits.seconds = 20.0;
    int calls = 0;
    long last_nodes = 0;
    double last_seconds = 0.0, last_lower = 0.0;
    const auto all = solve_one(data, 9, options, [&](const std::vector<Snapshot>& now, long nodes, double seconds) {
      CHECK_OP(now.size(), ==, std::size_t{1});
      CHECK_OP(now.front().lower, <=, now.front().incumbent);
      CHECK_OP(now.front().lower, >=, last_lower);
      CHECK_OP(nodes, >=, last_nodes);
      CHECK_OP(seconds, >, last_seconds);
      last_nodes = nodes, last_seconds = seconds;
      if (threads == 1) last_lower = now.front().lower;
      return ++calls < 4;
    });
    CHECK(all.front().stop == Stop::kInterrupted);
    CHECK_OP(calls, ==, 4);
    CHECK_OP(all.front().lower, <=, all.front().answers.front().error.hi);
    CHECK_OP(all.front().runner_up, <, 0.0);
  }
}

TEST(time_limit_ends_the_search) {
  for (int threads : {1, 3}) {
    Rng rng = seeded(53, "threads=" + text(threads));
    const Data data = hard_data(rng, 70);
    Options options;
    options.limits.threads = threads;
    options.limits.seconds = 0.3;
    const auto start = std::chrono::steady_clock::now();
    const Outcome out = solve_one(data, 9, options).front();
    CHECK(out.stop == Stop::kTime);
    CHECK_OP(seconds_since(start), <, 3.0);
    CHECK_OP(out.lower, <=, out.answers.front().error.hi);
  }
}

TEST(gap_ends_the_search_with_a_true_bound) {
  for (std::uint64_t seed = 54000; seed < 54060; ++seed) {
    Rng rng = seeded(seed);
    const int n = integer(rng, 8, 10), size = integer(rng, 3, 5);
    const Data data = hard_data(rng, n);
    const Reference reference(data.instance(), size);
    Options options;
    options.gap = power_of_ten(rng, -3.0, -0.1);
    options.limits.threads = chance(rng, 0.3) ? 2 : 1;
    const Outcome out = solve_one(data, size, options).front();
    const Answer& best = reference.best(size);
    CHECK(out.stop == Stop::kNone);
    CHECK_OP(out.lower, <=, best.error.hi);
    CHECK(!better(out.answers.front(), best));
    const double objective = out.answers.front().error.hi + reference.rest;
    CHECK_OP(out.answers.front().error.hi - out.lower, <=, options.gap * objective * (1.0 + 1e-12));
  }
}

// An exception in the callback reaches the caller, and no thread still works on what is gone.
TEST(exceptions_of_the_watch_are_passed_on) {
  for (int threads : {1, 3}) {
    Rng rng = seeded(55, "threads=" + text(threads));
    const Data data = hard_data(rng, 70);
    Options options;
    options.limits.threads = threads;
    options.limits.seconds = 5.0;
    bool caught = false;
    try {
      solve_one(data, 9, options, [](const std::vector<Snapshot>&, long, double seconds) -> bool {
        if (seconds < 0.12) return true;
        throw std::runtime_error("enough");
      });
    } catch (const std::runtime_error& error) {
      caught = std::string(error.what()) == "enough";
    }
    CHECK(caught);
  }
}

}  // namespace exactsindy::tests
