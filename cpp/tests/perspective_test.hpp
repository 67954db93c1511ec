// The perspective bound: whatever the point, it must never be above what enumeration finds.
#pragma once
#include "search/perspective.hpp"
#include "tests/certifier_test.hpp"

namespace exactsindy::tests {

TEST(perspective_bound_is_never_above_enumeration) {
  constexpr int kTop = 4;
  long usable = 0, better_than_fit = 0;
  for (std::uint64_t seed = 91000; seed < 91000 + static_cast<std::uint64_t>(repeats(1500)); ++seed) {
    Rng rng = seeded(seed);
    Data data = random_triangle(rng, integer(rng, 2, 9));
    if (chance(rng, 0.7))
      for (int j = 0; j < data.n; ++j) data.at(j, j) += 2.0;  // well conditioned, where the bound is for
    else if (chance(rng, 0.3))
      make_collinear(rng, data, -6.0, -2.0);
    if (chance(rng, 0.3)) rescale(rng, data, -20.0, 20.0);
    Enumerated e(data, kTop);
    Perspective perspective(e.instance, e.guide);
    if (!perspective.usable()) continue;
    ++usable;
    for (int question = 0; question < 6; ++question) {
      const Question q(rng, e.instance.columns, kTop);
      double least = std::numeric_limits<double>::infinity();
      for (const Answer& a : e.answers)
        if (q.covers(a.support)) least = std::min(least, a.error.hi);
      const Answer whole = answer_of(fitted(e.refitter, q.everything()));
      const Perspective::Terms terms{q.in.data(), static_cast<int>(q.in.size()), q.free.data(),
                                     static_cast<int>(q.free.size()), q.slots};
      Array v(e.guide.stride);
      std::vector<float> rounded;
      for (std::size_t i = 0; i < whole.support.size(); ++i)
        v[whole.support[i]] = whole.coef[i] * e.guide.scale[whole.support[i]];
      for (int kind = 0; kind < 3; ++kind) {
        if (kind == 1) perspective.ascend(terms, 2.0 * least, 30, v.data());
        if (kind == 2)
          for (int j : q.everything()) v[j] += power_of_ten(rng, -6.0, 0.0) * normal(rng);
        const double bound = perspective.certified(terms, v.data(), rounded);
        CHECK_OP(bound, <=, least);
        better_than_fit += kind == 1 && bound > whole.error.hi * (1.0 + 1e-6);
      }
    }
  }
  CHECK_OP(usable, >, 100);
  CHECK_OP(better_than_fit, >, 100);  // or the test shows nothing
}

}  // namespace exactsindy::tests
