// Searches that limits end, and that go on where they were: the answer is that of one search.
#pragma once
#include "tests/threads_test.hpp"

namespace exactsindy::tests {

// Goes on with a few nodes each time until the search is done; the number of threads changes on the way.
inline void check_steps(const Data& data, int size, Options options, std::int64_t nodes) {
  const std::vector<Outcome> whole = solve_one(data, size, options);
  options.save_every = 0.0;
  Saved saved;
  options.save = [&](const Saved& now) {
    saved = now;
    return true;
  };
  std::vector<Outcome> last;
  int steps = 0;
  do {
    options.limits.nodes = nodes * (1 + steps / 20);  // (a subtree may need more than a few)
    options.limits.threads = 1 + steps % 3;
    options.resume = saved;
    last = solve_one(data, size, options);
  } while (std::any_of(last.begin(), last.end(), [](const Outcome& out) { return out.stop != Stop::kNone; }) &&
           ++steps < 400);
  CHECK_OP(steps, >, 0);
  check_same(whole, last);
}

TEST(checkpoints_lead_to_the_same_answer) {
  for (std::uint64_t seed = 90000; seed < 90002; ++seed) {
    Rng rng = seeded(seed, "checkpoint");
    const Data data = hard_data(rng, 46);
    check_steps(data, 6, {}, 1000);
    Options options = pool_options(40);
    check_steps(data, 5, options, 1000);
    options = {};
    options.path = true;
    check_steps(data, 6, options, 2000);
  }
}

TEST(checkpoints_of_other_searches_are_refused) {
  Rng rng = seeded(91000, "checkpoint");
  const Data data = hard_data(rng, 20);
  Options options;
  options.save = [](const Saved&) { return true; };
  for (const std::vector<std::int64_t>& numbers :
       {std::vector<std::int64_t>{}, {0, 1, 1, 1, 0, 2, 3, 4}, {0, 0, 1, 0, 0, -1, 0, 2, 3, 1, 1, 0, 3, 1, 1, 0}}) {
    options.resume = {{5, numbers}};
    bool refused = false;
    try {
      solve_one(data, 5, options);
    } catch (const std::invalid_argument&) {
      refused = true;
    }
    CHECK(refused);
  }
}

}  // namespace exactsindy::tests
