// The constrained search: its bounds, its fits and its logic against brute force.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "constrained/search.hpp"
#include "tests/check.hpp"

// Inside the namespace under test: its Frame, Fit and Options are others than those of the plain search.
namespace exactsindy::constrained {

using tests::repeats;
using tests::seeded;

namespace constrained_cases {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Random equations that share one constraint matrix.
struct Random {
  int blocks, width;
  std::vector<std::vector<double>> factors, targets, rests, ridges;
  Constraints constraints;

  Random(std::mt19937_64& rng, int block_count, int columns, int equalities, int inequalities)
      : blocks(block_count), width(columns) {
    std::normal_distribution<double> normal;
    const int n = blocks * width;
    for (int b = 0; b < blocks; ++b) {
      factors.emplace_back(width * width, 0.0);
      for (int i = 0; i < width; ++i)
        for (int j = i; j < width; ++j) factors[b][i * width + j] = normal(rng) + (i == j ? 1.5 : 0.0);
      targets.emplace_back();
      for (int i = 0; i < width; ++i) targets[b].push_back(normal(rng));
      rests.push_back({normal(rng)});
      ridges.emplace_back(width, b % 2 ? 0.2 : 0.0);
    }
    constraints.lower.assign(n, -kInfinity);
    constraints.upper.assign(n, kInfinity);
    constraints.least.assign(n, 0.0);
    constraints.most.assign(n, kInfinity);
    for (int c = 0; c < equalities; ++c) add(rng, constraints.equal, constraints.equal_rhs, 0.0);
    for (int c = 0; c < inequalities; ++c) add(rng, constraints.below, constraints.below_rhs, 0.3);
    for (int c = 0; c < inequalities; ++c) constraints.upper[rng() % n] = 0.4;
  }
  void add(std::mt19937_64& rng, std::vector<double>& rows, std::vector<double>& rhs, double right) {
    std::vector<double> row(blocks * width, 0.0);
    for (int k = 0; k < 2; ++k) row[rng() % row.size()] = k == 0 ? 1.0 : -2.0;
    rows.insert(rows.end(), row.begin(), row.end());
    rhs.push_back(right);
  }
  System system() const {
    std::vector<EquationData> equations;
    for (int b = 0; b < blocks; ++b) equations.push_back({factors[b], targets[b], rests[b], ridges[b], b ? 2.5 : 1.0});
    return System(equations, constraints);
  }
};

inline std::vector<int> members(unsigned set, int n) {
  std::vector<int> out;
  for (int v = 0; v < n; ++v)
    if (set >> v & 1) out.push_back(v);
  return out;
}

}  // namespace constrained_cases

TEST(constrained_bound_is_below_every_feasible_point) {
  using namespace constrained_cases;
  for (int seed = 0; seed < repeats(60); ++seed) {
    auto rng = seeded(seed);
    const Random random(rng, 2, 3, seed % 3, seed % 4 < 2 ? 0 : 1);
    const System s = random.system();
    std::vector<int> all = members((1u << s.variables) - 1, s.variables);
    Space space(s, all);
    int contradictory = -1;
    const Frame root = space.root(contradictory);
    const Bound bound(s, space, root);
    Fitter fitter(s, bound);
    const Box box{s.lower, s.upper};
    std::normal_distribution<double> normal;
    // Any vector and any multipliers give a bound: compare with the fits of all supports.
    std::vector<double> values(1u << s.variables, kInfinity);
    for (unsigned set = 0; set < values.size(); ++set) {
      Fit fit;
      fitter.fit(members(set, s.variables), box, kInfinity, fit);
      CHECK(fit.known);
      if (!fit.feasible) continue;
      values[set] = fit.error.hi;
      CHECK_OP(fit.lower, <=, fit.error.hi);
      CHECK_OP(fit.lower, >=, fit.error.hi * (1.0 - 1e-9) - 1e-25);
    }
    for (unsigned set = 0; set < values.size(); ++set) {
      const std::vector<int> support = members(set, s.variables);
      Box inside = box;
      for (int v = 0; v < s.variables; ++v)
        if (!(set >> v & 1)) inside.lo[v] = inside.hi[v] = 0.0;
      double best = kInfinity;
      for (unsigned sub = set;; sub = (sub - 1) & set) {
        best = std::min(best, values[sub]);
        if (sub == 0) break;
      }
      Array omega(s.rows);
      Multipliers m;
      for (int i = 0; i < s.rows; ++i) omega[i] = 0.3 * normal(rng);
      for (int c = 0; c < s.equal_count; ++c) m.equal.push_back({normal(rng), 0.0});
      for (int c = 0; c < s.below_count; ++c) m.below.push_back({std::abs(normal(rng)), 0.0});
      for (const double cut : {1.0, 10.0}) {
        const double value = bound.value(omega.data(), nullptr, m, support, inside, cut);
        if (best <= cut) CHECK_OP(value, <=, best * (1.0 + 1e-14));
        // Nothing may be proved infeasible that has a point.
        if (best <= cut) CHECK(!bound.infeasible(m, support, inside, cut));
      }
    }
  }
}

// What doubles decide about a node: never above a cut that some support of it reaches, and above nearly all others.
TEST(constrained_bound_in_doubles_is_safe_and_sharp) {
  using namespace constrained_cases;
  int asked = 0, seen = 0;
  for (int seed = 0; seed < repeats(80); ++seed) {
    auto rng = seeded(seed);
    const Random random(rng, 2, 3, seed % 3, 0);
    const System s = random.system();
    Space space(s, members((1u << s.variables) - 1, s.variables));
    int contradictory = -1;
    const Frame root = space.root(contradictory);
    const Bound bound(s, space, root);
    Fitter fitter(s, bound);
    Array pivot(space.stride()), omega(s.rows);
    for (unsigned set = 1; set < 1u << s.variables; ++set) {
      const std::vector<int> support = members(set, s.variables);
      Fit fit;
      fitter.fit(support, {s.lower, s.upper}, kInfinity, fit);
      if (!fit.feasible || fit.error.hi < 1e-6) continue;
      Frame frame = space.copy(root);
      Box box{s.lower, s.upper};
      bool regular = true;
      for (int v = 0; v < s.variables; ++v) {
        if (set >> v & 1) continue;
        const auto at = std::find(frame.variables.begin(), frame.variables.end(), v) - frame.variables.begin();
        double beta = 0.0;
        regular = space.exclude(frame, static_cast<int>(at), pivot.data(), beta) && regular;
        box.lo[v] = box.hi[v] = 0.0;
      }
      Multipliers m;
      for (int c = 0; c < s.equal_count; ++c) m.equal.push_back({frame.r[space.tag(c)], 0.0});
      space.data_residual(frame.r.data(), omega.data());
      const auto above = [&](double cut) { return bound.above(omega.data(), m, frame.variables, box, cut); };
      CHECK(!above(fit.error.hi));
      CHECK(!above(fit.error.hi * (1.0 + 1e-12)));
      asked += regular;
      seen += regular && above(fit.error.hi * (1.0 - 1e-9));
    }
  }
  CHECK_OP(seen, >, 0.99 * asked);
  CHECK_OP(asked, >, 20 * repeats(80));
}

TEST(constrained_monotone_fits_and_search_finds_the_least) {
  using namespace constrained_cases;
  for (int seed = 0; seed < repeats(120); ++seed) {
    auto rng = seeded(seed);
    Random random(rng, 1 + seed % 2, 3, seed % 3, seed % 5 == 0);
    const int n = random.blocks * random.width, limit = 1 + seed % 3;
    PresenceRow budget;
    for (int v = 0; v < n; ++v) budget.variables.push_back(v), budget.coefs.push_back(1);
    budget.limit = limit;
    random.constraints.presence.push_back({{static_cast<int>(rng() % n), 0}, {1, -1}, 0});
    random.constraints.presence.push_back(budget);
    const System s = random.system();
    const LogicRows rows(n, s.presence);
    Options options;
    options.constraint_rows = static_cast<int>(s.presence.size());
    const Outcome out = Search(s, options, {}).run({});
    CHECK(out.stop == Stop::kNone);
    std::vector<int> all = members((1u << n) - 1, n);
    Space space(s, all);
    int contradictory = -1;
    const Frame root = space.root(contradictory);
    const Bound bound(s, space, root);
    Fitter fitter(s, bound);
    double best = kInfinity;
    for (unsigned set = 0; set < 1u << n; ++set) {
      if (!allowed(rows, members(set, n), static_cast<int>(s.presence.size()))) continue;
      Fit fit;
      fitter.fit(members(set, n), {s.lower, s.upper}, kInfinity, fit);
      if (fit.feasible) best = std::min(best, fit.error.hi);
    }
    if (best == kInfinity) {
      CHECK(out.answers.empty());
      CHECK(std::isinf(out.lower));
    } else {
      CHECK(!out.answers.empty());
      if (!out.answers.empty()) CHECK_OP(out.answers[0].error.hi, ==, best);
      CHECK_OP(out.lower, <=, best);
      CHECK_OP(out.lower, >=, best * (1.0 - 1e-9) - 1e-25);
    }
  }
}

// The bound that a running search shows is true, never falls, and leaves 0, the bound of all terms together; and
// looking at it does not change the search.
TEST(constrained_progress_shows_true_bounds_that_move) {
  using namespace constrained_cases;
  int moved = 0, ticks = 0;
  for (int seed = 0; seed < repeats(24); ++seed) {
    auto rng = seeded(seed);
    Random random(rng, 1 + seed % 2, 12 - 4 * (seed % 2), seed % 3, seed % 4 == 3);
    const int n = random.blocks * random.width;
    PresenceRow budget;
    for (int v = 0; v < n; ++v) budget.variables.push_back(v), budget.coefs.push_back(1);
    budget.limit = 4;
    random.constraints.presence.push_back(budget);
    if (seed % 5 == 4) random.constraints.least[rng() % n] = 0.3;
    const System s = random.system();
    Options options;
    options.general = true;
    options.limits.tick = 0.0;  // at every look at the clock
    if (seed % 6 == 5) options.keep = 5;
    const Outcome alone = Search(s, options, {}).run({});
    std::vector<Snapshot> shown;
    const auto watch = [&](const std::vector<Snapshot>& now, std::int64_t, double) {
      CHECK_OP(now.size(), ==, std::size_t{1});
      shown.push_back(now.front());
      return true;
    };
    const Outcome out = Search(s, options, watch).run({});
    CHECK(out.stop == Stop::kNone);
    CHECK_OP(out.nodes, ==, alone.nodes);
    CHECK_OP(out.lower, ==, alone.lower);
    CHECK_OP(out.runner_up, ==, alone.runner_up);
    CHECK_OP(out.answers.size(), ==, alone.answers.size());
    for (std::size_t i = 0; i < out.answers.size(); ++i) {
      CHECK(out.answers[i].error == alone.answers[i].error);
      CHECK(out.answers[i].support == alone.answers[i].support);
    }
    const double best = out.answers.empty() ? kInfinity : out.answers[0].error.hi;
    double before = 0.0;
    for (const Snapshot& now : shown) {
      CHECK_OP(now.lower, <=, best);
      CHECK_OP(now.lower, <=, now.incumbent);
      CHECK_OP(now.lower, >=, before);
      CHECK_OP(now.support.empty(), ==, std::isinf(now.incumbent));
      moved += now.lower > before;
      before = now.lower;
    }
    ticks += static_cast<int>(shown.size());
  }
  CHECK_OP(ticks, >, repeats(24));
  CHECK_OP(moved, >, repeats(24));
}

namespace constrained_cases {

// Equations with all kinds of constraints that take some hundreds of nodes.
inline Random many_nodes(std::mt19937_64& rng, int seed) {
  const int blocks = 1 + seed % 2, width = blocks == 1 ? 16 : 9;
  Random random(rng, blocks, width, seed % 4, seed % 3 == 0 ? 1 : 0);
  const int n = blocks * width;
  PresenceRow budget;
  for (int v = 0; v < n; ++v) budget.variables.push_back(v), budget.coefs.push_back(1);
  budget.limit = 4 + seed % 3;
  if (seed % 5 == 3) random.constraints.presence.push_back({{1, 2}, {1, -1}, 0});
  if (seed % 5 == 4) random.constraints.least[rng() % n] = 0.3;
  if (seed % 7 == 6)  // ties: equal columns
    for (int i = 0; i < width; ++i) random.factors[0][i * width + 5] = random.factors[0][i * width + 4];
  random.constraints.presence.push_back(budget);
  return random;
}

inline void check_same(const Outcome& one, const Outcome& other) {
  CHECK_OP(one.answers.size(), ==, other.answers.size());
  for (std::size_t i = 0; i < std::min(one.answers.size(), other.answers.size()); ++i) {
    CHECK(one.answers[i].support == other.answers[i].support);
    CHECK(one.answers[i].coef == other.answers[i].coef);
    CHECK(one.answers[i].error == other.answers[i].error);
  }
  CHECK_OP(one.lower, ==, other.lower);
  CHECK_OP(one.runner_up, ==, other.runner_up);
  CHECK(one.stop == other.stop);
  CHECK_OP(one.complete, ==, other.complete);
}

}  // namespace constrained_cases

// The answer, its bound and its margin are the same to the bit for any number of threads.
TEST(constrained_threads_agree) {
  using namespace constrained_cases;
  std::int64_t nodes = 0;
  for (int seed = 0; seed < repeats(60); ++seed) {
    auto rng = seeded(seed);
    const Random random = many_nodes(rng, seed);
    const System s = random.system();
    Options options;
    options.general = true;
    options.constraint_rows = static_cast<int>(s.presence.size()) - 1;
    options.alone = 1 + seed % 40;
    if (seed % 6 == 1) options.keep = 12;
    if (seed % 6 == 2) options.within = 0.05;
    if (seed % 6 == 5) options.runner_up = false;
    const Outcome one = Search(s, options, {}).run({});
    CHECK(one.stop == Stop::kNone);
    nodes += one.nodes;
    for (int threads : {2, 4}) {
      options.limits.threads = threads;
      const Outcome other = Search(s, options, {}).run({});
      check_same(one, other);
    }
  }
  CHECK_OP(nodes, >, 60 * repeats(60));  // or no part is ever handed over
}

// Parts that wait or run when the search is stopped count as open: the bound holds for them as well.
TEST(constrained_stopped_parts_stay_open) {
  using namespace constrained_cases;
  int stopped = 0;
  for (int seed = 0; seed < repeats(60); ++seed) {
    auto rng = seeded(seed);
    const Random random = many_nodes(rng, seed);
    const System s = random.system();
    Options options;
    options.general = true;
    options.constraint_rows = static_cast<int>(s.presence.size()) - 1;
    options.alone = 5;
    const Outcome whole = Search(s, options, {}).run({});
    if (whole.answers.empty()) continue;
    options.limits.threads = 2 + seed % 3;
    options.limits.nodes = std::max<std::int64_t>(1, whole.nodes * (1 + static_cast<int>(rng() % 6)) / 8);
    const Outcome out = Search(s, options, {}).run({});
    CHECK_OP(out.lower, <=, whole.answers[0].error.hi);
    if (!out.answers.empty()) CHECK(!better(out.answers[0], whole.answers[0]));
    if (out.stop == Stop::kNone) {
      check_same(whole, out);
    } else {
      ++stopped;
      CHECK(out.stop == Stop::kNodes);
      CHECK(!out.complete);
      CHECK_OP(out.runner_up, <, 0.0);
    }
  }
  CHECK_OP(stopped, >, 0);
}

// A watch may end a search with several workers.
TEST(constrained_threads_obey_the_watch) {
  using namespace constrained_cases;
  for (int seed = 0; seed < repeats(12); ++seed) {
    auto rng = seeded(seed);
    const Random random = many_nodes(rng, seed);
    const System s = random.system();
    Options options;
    options.general = true;
    options.constraint_rows = static_cast<int>(s.presence.size()) - 1;
    options.alone = 5;
    const Outcome whole = Search(s, options, {}).run({});
    options.limits.threads = 3;
    options.limits.tick = 0.0;
    int calls = 0;
    double before = 0.0;
    const auto watch = [&](const std::vector<Snapshot>& now, std::int64_t, double) {
      if (!whole.answers.empty()) CHECK_OP(now.front().lower, <=, whole.answers[0].error.hi);
      CHECK_OP(now.front().lower, >=, before);
      before = now.front().lower;
      return ++calls < 4;
    };
    const Outcome out = Search(s, options, watch).run({});
    if (calls >= 4) CHECK(out.stop == Stop::kInterrupted);
    if (!whole.answers.empty()) CHECK_OP(out.lower, <=, whole.answers[0].error.hi);
  }
}

TEST(constrained_logic_never_removes_a_model) {
  using namespace constrained_cases;
  for (int seed = 0; seed < repeats(300); ++seed) {
    auto rng = seeded(seed);
    constexpr int n = 6;
    std::vector<PresenceRow> given;
    for (int r = 0; r < 3; ++r) {
      PresenceRow row;
      for (int v = 0; v < n; ++v)
        if (rng() % 2) row.variables.push_back(v), row.coefs.push_back(rng() % 3 ? 1 : -1);
      row.limit = static_cast<int>(rng() % 4) - 1;
      given.push_back(row);
    }
    const LogicRows rows(n, given);
    Logic logic(rows);
    bool alive = logic.start();
    for (int v : {0, 3}) alive = alive && (logic[v] != Flag::kFree || logic.set(v, rng() % 2 ? Flag::kIn : Flag::kOut));
    for (unsigned set = 0; set < 1u << n; ++set) {
      if (!allowed(rows, members(set, n), 3)) continue;
      bool compatible = alive;
      for (int v = 0; v < n && compatible; ++v)
        if ((v == 0 || v == 3) && logic[v] != (set >> v & 1 ? Flag::kIn : Flag::kOut)) compatible = false;
      if (!compatible) continue;
      for (int v = 0; v < n; ++v) CHECK(logic[v] == Flag::kFree || logic[v] == (set >> v & 1 ? Flag::kIn : Flag::kOut));
    }
    if (alive && logic.complete()) {
      std::vector<int> support;
      for (int v = 0; v < n; ++v)
        if (logic[v] == Flag::kIn) support.push_back(v);
      CHECK(allowed(rows, support, 3));
    }
  }
}

}  // namespace exactsindy::constrained
