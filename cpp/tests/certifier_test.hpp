// The safe bounds: whatever vector they are built from, they must never be above what enumeration finds.
#pragma once
#include "search/factor.hpp"
#include "tests/exact.hpp"
#include "tests/instances.hpp"

namespace exactsindy::tests {

// One instance with all its fits of up to `top` terms.
struct Enumerated {
  Instance instance;
  Guide guide;
  Certifier certifier;
  Refitter refitter;
  std::vector<Answer> answers;

  Enumerated(const Data& data, int top)
      : instance(data.instance()), guide(instance, true), certifier(instance, guide), refitter(instance) {
    for (int size = 0; size <= std::min(top, instance.columns); ++size)
      for (const Answer& answer : enumerate(instance, size)) answers.push_back(answer);
  }

  // Residual z - A x of a fit, in doubles.
  Array residual(const Answer& answer) const {
    Array w(instance.stride);
    for (int i = 0; i < instance.rows; ++i) {
      double sum = instance.z[i];
      for (std::size_t l = 0; l < answer.support.size(); ++l)
        sum -= answer.coef[l] * instance.column(answer.support[l])[i];
      w[i] = sum;
    }
    return w;
  }
};

// A question to the certifier: supports with all of `in` and at most `slots` of `free`.
struct Question {
  Support in, free;
  int slots = 0;

  Question(Rng& rng, int columns, int top) {
    Support order(columns);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), rng);
    const int in_count = integer(rng, 0, std::min(2, columns));
    const int free_count = integer(rng, 0, columns - in_count);
    in.assign(order.begin(), order.begin() + in_count);
    free.assign(order.begin() + in_count, order.begin() + in_count + free_count);
    slots = integer(rng, 0, top - in_count);
  }

  bool covers(const Support& support) const {
    int used = 0;
    for (int j : support) {
      if (std::find(in.begin(), in.end(), j) != in.end()) continue;
      if (std::find(free.begin(), free.end(), j) == free.end()) return false;
      ++used;
    }
    return used <= slots;
  }
  Support everything() const {
    Support all = in;
    all.insert(all.end(), free.begin(), free.end());
    std::sort(all.begin(), all.end());
    return all;
  }
};

inline Array some_vector(Rng& rng, Enumerated& e, const Question& q, int kind) {
  Array w = e.residual(answer_of(fitted(e.refitter, q.everything())));
  double size = 0.0;
  for (int i = 0; i < e.instance.rows; ++i) size += w[i] * w[i];
  size = std::sqrt(size);
  switch (kind) {
    case 0:  // the best there is
      break;
    case 1:  // slightly wrong
      size *= power_of_ten(rng, -15.0, -3.0);
      for (int i = 0; i < e.instance.rows; ++i) w[i] += size * normal(rng);
      break;
    case 2:  // the residual of some other fit
      w = e.residual(e.answers[rng() % e.answers.size()]);
      break;
    case 3:  // anything, of any size
      size = power_of_ten(rng, -20.0, 3.0);
      for (int i = 0; i < e.instance.rows; ++i) w[i] = size * normal(rng);
      break;
    case 4:  // so small that squares vanish
      size = power_of_ten(rng, -200.0, -150.0);
      for (int i = 0; i < e.instance.rows; ++i) w[i] = size * e.instance.z[i];
      break;
    default:  // nothing
      for (int i = 0; i < e.instance.rows; ++i) w[i] = 0.0;
  }
  return w;
}

inline double some_cut(Rng& rng, double least, double highest) {
  switch (integer(rng, 0, 4)) {
    case 0:
      return least * (1.0 + 8.0 * kEps);
    case 1:
      return least * (1.0 + power_of_ten(rng, -15.0, 0.0));
    case 2:
      return least * uniform(rng, 0.0, 1.0);
    case 3:
      return highest * power_of_ten(rng, -20.0, 3.0);
    default:
      return least + (highest - least) * uniform(rng, 0.0, 1.0);
  }
}

inline Data certifier_data(Rng& rng) {
  std::string kind;
  Data data = any_data(rng, integer(rng, 2, 7), kind);
  if (chance(rng, 0.5)) {
    kind = "collinear";
    data = random_triangle(rng, data.n);
    make_collinear(rng, data, -10.0, -2.0);
    if (chance(rng, 0.5)) rescale(rng, data, -8.0, 8.0);
    if (chance(rng, 0.5)) sparse_target(rng, data, integer(rng, 1, 3), power_of_ten(rng, -12.0, 0.0));
    if (chance(rng, 0.4)) ridge_of_columns(rng, data, -12.0, 0.5, chance(rng, 0.5) ? 1.0 : 0.5);
  }
  state().note = kind;
  return data;
}

TEST(bound_is_never_above_enumeration) {
  constexpr int kTop = 4;
  long proofs = 0, asked = 0;
  for (std::uint64_t seed = 2000; seed < 2000 + static_cast<std::uint64_t>(repeats(2500)); ++seed) {
    Rng rng = seeded(seed);
    Enumerated e(certifier_data(rng), kTop);
    if (e.instance.columns == 0) continue;
    const double highest = e.answers.front().error.hi;
    for (int question = 0; question < 6; ++question) {
      const Question q(rng, e.instance.columns, kTop);
      double least = std::numeric_limits<double>::infinity();
      for (const Answer& a : e.answers)
        if (q.covers(a.support)) least = std::min(least, a.error.hi);
      for (int kind = 0; kind < 6; ++kind) {
        const Array w = some_vector(rng, e, q, kind);
        const double cut = some_cut(rng, least, highest);
        const double bound = e.certifier.bound(w.data(), q.in.data(), static_cast<int>(q.in.size()), q.free.data(),
                                               static_cast<int>(q.free.size()), q.slots, cut);
        ++asked;
        if (kind >= 4) CHECK_OP(bound, <, 0.0);  // products that underflow prove nothing
        if (bound > cut) {
          CHECK_OP(least, >, cut);
          ++proofs;
        }
        if (least <= cut) CHECK_OP(bound, <=, least * (1.0 + 4.0 * kEps));
      }
    }
  }
  CHECK_OP(proofs, >, asked / 50);  // or the test shows nothing
}

// The same against exact values, for cuts right at them.
TEST(bound_holds_to_the_last_bit) {
  long proofs = 0;
  for (std::uint64_t seed = 6000; seed < 6000 + static_cast<std::uint64_t>(repeats(800)); ++seed) {
    Rng rng = seeded(seed);
    Enumerated e(certifier_data(rng), 2);
    if (e.instance.columns < 2 || !e.guide.invertible) continue;
    const int b = integer(rng, 1, e.instance.columns - 1), a = integer(rng, 0, b - 1);
    const Fit fit = fitted(e.refitter, {a, b});
    const Answer answer = answer_of(fit);
    if (!fit.admissible()) continue;
    const ExactValue value(e.instance, {a, b});
    const int in[] = {a, b};
    for (double factor : {0.0, 1.0 - 1e-12, 1.0 - 1e-15, 1.0, 1.0 + 1e-15, 1.0 + 1e-12}) {
      const double cut = answer.error.hi * factor;
      const Array w = e.residual(answer);
      const double bound = e.certifier.bound(w.data(), in, 2, nullptr, 0, 0, cut);
      const bool reached = (value.above - Exact(cut) * value.below).sign() <= 0;
      if (bound > cut) {
        CHECK(!reached);
        ++proofs;
      }
      if (reached && bound > 0.0) CHECK((Exact(bound) * value.below - value.above).sign() <= 0);
    }
  }
  CHECK_OP(proofs, >, 200);
}

// Two columns alike, a target along their difference: huge coefficients that are really taken, so that the rounding of
// a product a_j'w counts in full.
TEST(bound_allows_for_rounded_products) {
  long proofs = 0;
  for (std::uint64_t seed = 6900; seed < 6900 + static_cast<std::uint64_t>(repeats(3000)); ++seed) {
    Rng rng = seeded(seed);
    const int n = integer(rng, 3, 12), a = n - 2, b = n - 1;
    Data data = random_triangle(rng, n);
    const double distance = power_of_ten(rng, -9.0, -5.0);
    data.copy_column(a, b);
    for (int i = 0; i < n; ++i) data.at(i, b) += distance * normal(rng);
    for (double& z : data.target) z = 0.01 * distance * normal(rng);
    data.add_to_target(1.0, a);
    data.add_to_target(-1.0, b);
    Enumerated e(data, 0);
    if (!e.guide.invertible) continue;
    const Fit fit = fitted(e.refitter, {a, b});
    const Answer answer = answer_of(fit);
    if (!fit.admissible() || answer.error.hi == 0.0) continue;
    const ExactValue value(e.instance, {a, b});
    Array w = e.residual(answer);
    for (int sweep = 0; sweep < 3; ++sweep)  // closer to orthogonal than the residual can be computed
      for (int j : {a, b}) {
        const double* column = e.instance.column(j);
        const double g = kernels().dot(w.data(), column, e.instance.stride);
        kernels().axpy(-g / kernels().dot(column, column, e.instance.stride), column, w.data(), e.instance.stride);
      }
    const int in[] = {a, b};
    const double cut = answer.error.hi * (1.0 + 1e-12);
    const double bound = e.certifier.bound(w.data(), in, 2, nullptr, 0, 0, cut);
    proofs += bound > 0.5 * answer.error.hi;
    if (bound > 0.0) CHECK((Exact(bound) * value.below - value.above).sign() <= 0);
  }
  CHECK_OP(proofs, >, 100);
}

// The bound from the residual of everything allowed is as good as the value of that fit, where nothing is delicate.
TEST(bound_is_tight_for_good_problems) {
  for (std::uint64_t seed = 7000; seed < 7200; ++seed) {
    Rng rng = seeded(seed);
    Data data = random_triangle(rng, integer(rng, 3, 40));
    if (chance(rng, 0.5)) ridge_of_columns(rng, data, -8.0, -1.0, 1.0);
    for (int j = 0; j < data.n; ++j) data.at(j, j) = 3.0 + std::sqrt(data.n);
    const Instance in = data.instance();
    const Guide guide(in, true);
    const Certifier certifier(in, guide);
    CHECK(guide.invertible);
    Refitter refitter(in);
    const Support support{0, 1};
    const Answer answer = answer_of(fitted(refitter, support));
    Array w(in.stride);
    for (int i = 0; i < in.rows; ++i)
      w[i] = in.z[i] - answer.coef[0] * in.column(0)[i] - answer.coef[1] * in.column(1)[i];
    const double bound =
        certifier.bound(w.data(), support.data(), 2, nullptr, 0, 0, answer.error.hi * (1.0 + 8.0 * kEps));
    CHECK_OP(bound, >=, answer.error.hi * (1.0 - 1e-9));
  }
}

TEST(reach_holds_all_coefficients) {
  long finite = 0;
  for (std::uint64_t seed = 8000; seed < 8000 + static_cast<std::uint64_t>(repeats(1500)); ++seed) {
    Rng rng = seeded(seed);
    Enumerated e(certifier_data(rng), 4);
    if (e.instance.columns == 0) continue;
    for (int repeat = 0; repeat < 4; ++repeat) {
      const double cut = chance(rng, 0.5) ? e.answers[rng() % e.answers.size()].error.hi
                                          : e.answers.front().error.hi * power_of_ten(rng, -12.0, 2.0);
      std::vector<double> reach(e.instance.columns);
      for (int j = 0; j < e.instance.columns; ++j) {
        reach[j] = e.certifier.reach(j, std::sqrt(cut) * (1.0 + 4.0 * kEps));
        finite += std::isfinite(reach[j]);
        CHECK(!std::isnan(reach[j]));
        CHECK_OP(reach[j], >=, 0.0);
      }
      for (const Answer& a : e.answers) {
        if (a.error.hi > cut) continue;
        for (std::size_t i = 0; i < a.support.size(); ++i)
          CHECK_OP(std::abs(a.coef[i]), <=, reach[a.support[i]] * (1.0 + 1e-15) + 0x1p-90);  // (noise of the fit)
      }
    }
  }
  CHECK_OP(finite, >, 1000);
}

}  // namespace exactsindy::tests
