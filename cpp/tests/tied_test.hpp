// The tree for coefficients bound by ties alone, against fits of all supports and against the general search.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "constrained/search.hpp"
#include "constrained/supports.hpp"
#include "constrained/tied_tree.hpp"
#include "tests/check.hpp"

namespace exactsindy::constrained {

using tests::repeats;
using tests::seeded;

namespace tied_cases {

// Two or three equations with ties and budgets; every kind of trouble in turn: columns near dependence or equal, exact
// fits, no ridge, columns of very different size, zero columns, small coefficient limits, several budgets.
struct Tied {
  std::vector<std::vector<double>> factors, targets, rests, ridges;
  Constraints constraints;

  Tied(std::mt19937_64& rng, int seed) {
    std::normal_distribution<double> normal;
    const int blocks = 1 + seed % 3, width = blocks == 1 ? 8 : blocks == 2 ? 5 : 4, n = blocks * width;
    const int trouble = seed % 11;
    constraints.lower.assign(n, -kInf), constraints.upper.assign(n, kInf);
    constraints.least.assign(n, 0.0), constraints.most.assign(n, kInf);
    for (int b = 0; b < blocks; ++b) {
      std::vector<double> a(width * width, 0.0), y;
      for (int i = 0; i < width; ++i)
        for (int j = i; j < width; ++j) a[i * width + j] = normal(rng) + (i == j ? 1.5 : 0.0);
      if (trouble == 1)  // nearly dependent, or equal
        for (int i = 0; i < width; ++i)
          a[i * width + 3] = a[i * width + 1] + (i == 3 ? std::pow(10.0, -static_cast<double>(rng() % 16)) : 0.0);
      if (trouble == 2)
        for (int i = 0; i < width; ++i) a[i * width + 2] = 0.0;
      if (trouble == 3)
        for (int j = 0; j < width; ++j) {
          const double scale = std::pow(10.0, static_cast<int>(rng() % 13) - 6);
          for (int i = 0; i <= j; ++i) a[i * width + j] *= scale;
        }
      for (int i = 0; i < width; ++i) y.push_back(normal(rng));
      if (trouble == 4) {  // an exact fit, or nearly
        const double noise = seed % 2 ? 0.0 : std::pow(10.0, -static_cast<double>(rng() % 12));
        for (int i = 0; i < width; ++i) y[i] = a[i * width + 1] - 2.0 * a[i * width + 3] + noise * y[i];
      }
      factors.push_back(a), targets.push_back(y), rests.push_back({trouble == 4 ? 0.0 : normal(rng)});
      const double ridges_of[] = {0.0, 0.2, 1e-3, 1e-9, 0.0, 1e-15};
      ridges.emplace_back(width, ridges_of[rng() % 6]);
    }
    const int ties = static_cast<int>(rng() % (n / 2 + 1));
    const double ratios[] = {1.0, -1.0, 2.0, -3.0, 1.0 / 3.0, 0.1, 7.5, 1e-3};
    for (int t = 0; t < ties; ++t) {
      std::vector<double> row(n, 0.0);
      row[rng() % n] = 1.0;
      row[rng() % n] = ratios[rng() % 8];
      constraints.equal.insert(constraints.equal.end(), row.begin(), row.end());
      constraints.equal_rhs.push_back(0.0);
    }
    PresenceRow all;
    for (int v = 0; v < n; ++v) all.variables.push_back(v), all.coefs.push_back(1);
    all.limit = 1 + static_cast<int>(rng() % 5);
    if (trouble == 5) constraints.presence.push_back({{0, 1}, {1, 1}, 1});
    if (trouble == 6) constraints.presence.push_back({{static_cast<int>(rng() % n)}, {1}, 0});
    if (trouble == 7) constraints.presence.push_back({{0, 1, 2}, {1, 1, 1}, 2});
    if (trouble == 8) constraints.coefficient_limit = 3.0;
    constraints.presence.push_back(all);
  }
  System system() const {
    std::vector<EquationData> equations;
    for (std::size_t b = 0; b < factors.size(); ++b)
      equations.push_back({factors[b], targets[b], rests[b], ridges[b], 1.0});
    return System(equations, constraints);
  }
};

inline std::vector<int> of(unsigned set) {
  std::vector<int> out;
  for (int v = 0; set >> v; ++v)
    if (set >> v & 1) out.push_back(v);
  return out;
}

}  // namespace tied_cases

TEST(tied_bound_is_below_every_point_and_fits_are_those_of_the_fitter) {
  using namespace tied_cases;
  int taken = 0, fitted = 0;
  for (int seed = 0; seed < repeats(400); ++seed) {
    auto rng = seeded(seed, "tied bound");
    const Tied tied(rng, seed);
    const System s = tied.system();
    const LogicRows rows(s.variables, s.presence);
    TiedColumns columns(s);
    if (!columns.take(rows)) continue;
    ++taken;
    Space space(s, {});
    int contradictory = -1;
    const Frame root = space.root(contradictory);
    const Bound bound(s, space, root);
    Fitter fitter(s, bound);
    std::normal_distribution<double> normal;
    std::vector<std::uint32_t> sets;
    std::vector<double> values;
    for (std::uint32_t set = 0; set < 1u << columns.count(); ++set) {
      const std::vector<int> support = columns.support(set);
      if (support.size() > 6 || rng() % 4) continue;
      Fit fit, own;
      fitter.fit(support, {s.lower, s.upper}, kInf, fit);
      CHECK(fit.known && fit.feasible);
      sets.push_back(set), values.push_back(fit.counts ? fit.error.hi : kInf);
      if (!columns.fit(set, own)) continue;
      ++fitted;
      CHECK(own.support == fit.support);
      CHECK_OP(own.counts, ==, fit.counts);
      if (fit.dependent) continue;
      CHECK_OP(std::abs((own.error - fit.error).hi), <=,
               0x1p-78 * fit.error.hi + 1e-30 * std::sqrt(fit.error.hi) + 1e-58);
      CHECK_OP(own.lower, <=, own.error.hi);
      CHECK_OP(own.lower, >=, own.error.hi * (1.0 - 1e-9) - 1e-25);
      for (std::size_t i = 0; i < own.x.size(); ++i)
        CHECK_OP(std::abs((own.x[i] - fit.x[i]).hi), <=, 1e-16 * std::abs(fit.x[i].hi) + 1e-18);
    }
    // Any coefficients give a bound of all points on these columns with a value up to the cut.
    Array minus_y(columns.stride());
    for (std::size_t i = 0; i < sets.size(); ++i)
      for (const double cut : {0.3, 3.0, 30.0}) {
        for (int h = 0; h < columns.count(); ++h) minus_y[h] = sets[i] >> h & 1 ? normal(rng) : 0.0;
        if (rng() % 2)
          for (int h = 0; h < columns.count(); ++h)
            minus_y[h] = sets[i] >> h & 1 ? columns.root()[columns.count() * columns.stride() + h] : 0.0;
        const double lower = columns.value(minus_y.data(), sets[i], cut).lower;
        for (std::size_t j = 0; j < sets.size(); ++j)
          if ((sets[j] & ~sets[i]) == 0 && values[j] <= cut) CHECK_OP(lower, <=, values[j]);
      }
  }
  CHECK_OP(taken, >, repeats(400) / 2);
  CHECK_OP(fitted, >, repeats(400));
}

TEST(tied_tree_finds_the_least_of_all_supports) {
  using namespace tied_cases;
  int direct = 0, all = 0;
  for (int seed = 0; seed < repeats(1100); ++seed) {
    auto rng = seeded(seed, "tied tree");
    const Tied tied(rng, seed);
    const System s = tied.system();
    const LogicRows rows(s.variables, s.presence);
    Options options;
    options.constraint_rows = static_cast<int>(s.presence.size()) - 1;
    options.runner_up = seed % 5 != 0;
    TiedColumns columns(s);
    Answers answers(s, rows, options);
    bool done = columns.take(rows);
    if (done) {
      TiedTree tree(columns, answers, 3'000);
      done = tree.run();
    }
    ++all, direct += done;
    const Outcome out = Search(s, options, {}).run({});
    options.general = true;
    const Outcome general = Search(s, options, {}).run({});
    CHECK(out.stop == Stop::kNone);
    CHECK(!out.answers.empty());
    if (out.answers.empty() || general.answers.empty()) continue;
    Space space(s, {});
    int contradictory = -1;
    const Frame root = space.root(contradictory);
    const Bound bound(s, space, root);
    Fitter fitter(s, bound);
    double best = kInf;
    std::vector<std::pair<double, std::vector<int>>> fits;
    for (unsigned set = 0; set < 1u << s.variables; ++set) {
      if (std::popcount(set) > 6 || !allowed(rows, of(set), static_cast<int>(s.presence.size()))) continue;
      Fit fit;
      fitter.fit(of(set), {s.lower, s.upper}, kInf, fit);
      if (!fit.feasible || !fit.counts) continue;
      best = std::min(best, fit.error.hi);
      if (reduced(s, rows, options.constraint_rows, fit).size() == fit.support.size())
        fits.emplace_back(fit.error.hi, fit.support);
    }
    const Answer& answer = out.answers[0];
    const double slack = 1e-13 * best + 1e-28;
    CHECK_OP(answer.error.hi, >=, best * (1.0 - 1e-15));
    CHECK_OP(out.lower, <=, best);
    if (!done) continue;  // (the general search has tests of its own)
    CHECK_OP(answer.error.hi, <=, best * (1.0 + 1e-15) + 1e-28);
    CHECK_OP(out.lower, >=, best * (1.0 - 1e-9) - 1e-25);
    double rival = kInf;
    for (const auto& [value, support] : fits)
      if (support != answer.support && support.size() == answer.support.size()) rival = std::min(rival, value);
    if (out.runner_up >= 0.0 && std::isfinite(out.runner_up))
      CHECK_OP(std::abs(out.runner_up - rival), <=, 1e-12 * rival + 1e-26);
    if (std::isinf(out.runner_up)) CHECK(std::isinf(rival));
    // The general search says the same, where ties do not decide. (It may leave out terms that gain next to nothing,
    // and where columns nearly depend on each other it may stop short, with an honest bound.)
    CHECK_OP(general.lower, <=, best);
    CHECK_OP(general.answers[0].error.hi, >=, answer.error.hi * (1.0 - 1e-15));
    const bool closed = general.lower >= general.answers[0].error.hi * (1.0 - 1e-9);
    if (closed) CHECK_OP(general.answers[0].error.hi, <=, answer.error.hi + slack);
    if (closed && general.answers[0].support.size() == answer.support.size() && rival > best * (1.0 + 1e-9) + 1e-25) {
      CHECK(general.answers[0].support == answer.support);
      for (std::size_t i = 0; i < answer.coef.size() && general.answers[0].support == answer.support; ++i)
        CHECK_OP(std::abs(general.answers[0].coef[i] - answer.coef[i]), <=, 1e-12 * std::abs(answer.coef[i]) + 1e-15);
    }
  }
  CHECK_OP(direct, >, all / 2);
}

}  // namespace exactsindy::constrained
