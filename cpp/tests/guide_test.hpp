// Guidance may be wrong, a bound may not: searches led astray on purpose, and parts that were never looked at.
#pragma once
#include "search/node.hpp"
#include "tests/reference.hpp"

namespace exactsindy::tests {

// Spoil everything the search only uses to decide where to look and what to try to prove.
inline void spoil(Rng& rng, Guide& guide) {
  const double level = power_of_ten(rng, -9.0, 0.5);
  const auto noisy = [&](Array& values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) values[i] *= 1.0 + level * normal(rng);
  };
  noisy(guide.dual, static_cast<std::size_t>(guide.columns) * guide.stride);
  noisy(guide.beta, guide.columns);
  if (chance(rng, 0.5)) guide.base += power_of_ten(rng, -3.0, 3.0);
}

// A search for exactly `size` terms, as solve() does it.
inline std::vector<Answer> search_with(Equation& equation, int size) {
  std::vector<Answer> answers;
  Engine engine({}, {});
  engine.run(1, [&](Worker& worker, int) {
    Search search(equation, {size});
    worker.incumbents(search, {});
    engine.explore(worker, search);
    CHECK_OP(search.open_bound(), ==, kInfinity);
    if (!search.superseded()) answers = search.answers();
  });
  return answers;
}

TEST(a_wrong_guide_leads_to_the_right_answer) {
  for (std::uint64_t seed = 70000; seed < 70000 + static_cast<std::uint64_t>(repeats(600)); ++seed) {
    Rng rng = seeded(seed);
    std::string kind;
    const int n = integer(rng, 6, 10), size = integer(rng, 3, 5);
    const Data data = chance(rng, 0.3) ? random_triangle(rng, n) : any_data(rng, n, kind);
    Equation equation(data.instance(), true);
    if (!equation.guide.invertible) continue;
    spoil(rng, equation.guide);
    state().note = kind + " n=" + text(n) + " size=" + text(size);
    const std::vector<Answer> found = search_with(equation, size), expected = enumerate(equation.instance, size);
    for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) check_answer(found[i], expected[i]);
    CHECK(found.empty() || found.size() == std::min<std::size_t>(2, expected.size()));
  }
}

// A part that waits in the queue when the search is stopped is open, with its own bound.
TEST(a_waiting_task_stays_open) {
  Rng rng = seeded(71);
  Equation equation(random_triangle(rng, 6).instance(), true);
  Engine engine({.seconds = 0.0, .nodes = 1, .threads = 1}, {});
  engine.run(1, [&](Worker& worker, int) {
    Search search(equation, {1});  // the scan of one term does not stop half-way: only the task can be left open
    engine.pause(worker, search);
    CHECK(engine.pause(worker, search));
    engine.give({&search, std::make_unique<Frame>(), 0.25});
    engine.explore(worker, search);
    CHECK_OP(search.open_bound(), ==, 0.25);
    CHECK_OP(search.outstanding.load(), ==, 0);
  });
}

}  // namespace exactsindy::tests
