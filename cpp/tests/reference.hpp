// What solve, path and pool must return, by enumeration, and the checks of it.
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
    if (same.size() < 2) return kInfinity;
    return same[1].key() == answer.key() ? answer.error.hi : same[1].error.hi;  // a tie has the margin 0
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
  CHECK_OP(out.answers.size(), >=, std::size_t{1});
  CHECK_OP(out.answers.size(), <=, std::size_t{2});
  if (out.answers.empty()) return;
  // (The next best has its own bits; what it is compared by is rounded to the noise.)
  if (out.answers.size() > 1) CHECK_OP(out.answers[1].error.hi * (1.0 - 1e-9), <=, out.runner_up);
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
    if (!(limit < a.error) || a.key() == exactly.front().key()) expected.push_back(a);
  check_pool(solve_one(data, size, within), expected);
}

}  // namespace exactsindy::tests
