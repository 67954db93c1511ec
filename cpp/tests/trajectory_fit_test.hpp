// The step of the trajectory fit against the dense least-squares problem it stands for, in higher precision.
#pragma once
#include "assembly/trajectory_fit.hpp"
#include "tests/assembly_test.hpp"

namespace exactsindy::tests {

struct RandomTrajectory {
  int n, d, m, p = 0;
  std::vector<std::int64_t> own, first{0};
  std::vector<double> weights, slopes, columns, misfit, defect, measured;
  double tight;

  RandomTrajectory(Rng& rng, int samples, int states, int equations, int gap)
      : n(samples), d(states), m(equations), tight(std::pow(10.0, uniform(rng, 0.0, 4.0))) {
    for (int j = 0; j < m; ++j) {
      own.push_back((j + 1) % d);
      first.push_back(first.back() + static_cast<int>(uniform(rng, 0.0, 3.99)));
    }
    p = static_cast<int>(first.back());
    for (int i = 0; i + 1 < n; ++i)
      for (int k = 0; k < 4; ++k) {
        const int sample = i - 1 + k;
        const bool outside = sample < 0 || sample >= n || i == gap || (i < gap && sample > gap) ||
                             (gap >= 0 && i > gap && sample <= gap);
        weights.push_back(outside ? 0.0 : uniform(rng, -0.2, 0.6));
      }
    fill(rng, slopes, n * m * d);
    fill(rng, columns, (n - 1) * p);
    fill(rng, misfit, n * d);
    fill(rng, defect, (n - 1) * m);
    // Of three states the last one, which then has an equation or enters one, may have no samples.
    measured.assign(static_cast<std::size_t>(d), 1.0);
    if (d == 3 && m == 3 && n % 2 == 0) measured.back() = 0.0;
  }

  static void fill(Rng& rng, std::vector<double>& to, int count) {
    for (int i = 0; i < count; ++i) to.push_back(normal(rng));
  }

  TrajectoryFit fit(double damping) const {
    const auto size = [](int count) { return static_cast<std::size_t>(count); };
    return {size(n),       size(d),        size(m),       size(p),       own.data(), first.data(), weights.data(),
            slopes.data(), columns.data(), misfit.data(), defect.data(), tight,      damping,      measured.data()};
  }

  // The normal equations over (dx, dp) and their right-hand side, from the definition.
  std::pair<Dense, std::vector<Long>> system() const {
    const int size = n * d + p;
    Dense a(size);
    std::vector<Long> right(size, 0.0L);
    for (int v = 0; v < n * d; ++v) {
      a(v, v) = measured[v % d];
      right[v] = measured[v % d] * misfit[v];
    }
    for (int i = 0; i + 1 < n; ++i) {
      const double* w = &weights[4 * i];
      if (w[0] == 0.0 && w[1] == 0.0 && w[2] == 0.0 && w[3] == 0.0) continue;
      for (int j = 0; j < m; ++j) {
        std::vector<Long> row(size, 0.0L);
        row[(i + 1) * d + own[j]] += 1.0L;
        row[i * d + own[j]] -= 1.0L;
        for (int k = 0; k < 4; ++k)
          for (int s = 0; s < d && i - 1 + k >= 0 && i - 1 + k < n; ++s)
            row[(i - 1 + k) * d + s] -= static_cast<Long>(w[k]) * slopes[((i - 1 + k) * m + j) * d + s];
        for (int q = static_cast<int>(first[j]); q < first[j + 1]; ++q) row[n * d + q] = -columns[i * p + q];
        for (int u = 0; u < size; ++u) {
          for (int v = 0; v < size; ++v) a(u, v) += tight * row[u] * row[v];
          right[u] -= tight * row[u] * defect[i * m + j];
        }
      }
    }
    return {a, right};
  }
};

TEST(trajectory_steps_solve_the_dense_problem) {
  Rng rng = seeded(340);
  for (int trial = 0; trial < 60; ++trial) {
    const int d = 1 + trial % 3, m = 1 + trial % d, n = 8 + trial % 7, gap = trial % 4 == 0 ? n / 2 : -1;
    const RandomTrajectory random(rng, n, d, m, gap);
    const double damping = trial % 5 == 1 ? 0.1 : 0.0;
    const std::vector<const Loops*> all = available_loops();
    const TrajectoryStep step = trajectory_step(random.fit(damping), *all[trial % all.size()]);
    CHECK(step.profiled && step.positive);
    auto [a, right] = random.system();
    const int size = a.n, unknowns = n * d;
    // The coefficients' diagonal is damped after the states were eliminated from it.
    for (int v = 0; v < unknowns; ++v) a(v, v) *= 1.0L + damping;
    const Dense l = a.cholesky();
    Long largest = 0.0L;
    for (int q = 0; q < random.p; ++q) {
      for (int r = 0; r < random.p; ++r) {
        Long schur = 0.0L;
        for (int t = unknowns; t <= unknowns + std::min(q, r); ++t) schur += l(unknowns + q, t) * l(unknowns + r, t);
        if (q == r) a(unknowns + q, unknowns + q) += damping * schur;
        largest = std::max(largest, std::abs(a(unknowns + q, unknowns + q)));
        CHECK_OP(std::abs(step.curvature[q * random.p + r] - schur), <=, 1e-12L * (1.0L + largest));
      }
    }
    const Dense damped = a.cholesky();
    const std::vector<Long> x = damped.backward(damped.forward(right));
    for (int v = 0; v < size; ++v) {
      const Long got = v < unknowns ? step.states[v] : step.coefficients[v - unknowns];
      CHECK_OP(std::abs(got - x[v]), <=, 1e-8L * (1.0L + std::abs(x[v])));
    }
  }
}

TEST(integrated_steps_solve_the_dense_problem) {
  Rng rng = seeded(342);
  for (int trial = 0; trial < 40; ++trial) {
    const int d = 1 + trial % 3, n = 6 + trial % 5, p = trial % 4, gap = trial % 3 == 0 ? n / 2 : -1;
    std::vector<std::int64_t> starts;
    for (int i = 0; i + 1 < n; ++i)
      if (i != gap) starts.push_back(i);
    const int m = static_cast<int>(starts.size()), unknowns = n * d, size = unknowns + p;
    std::vector<double> forward, columns, misfit, defect;
    RandomTrajectory::fill(rng, forward, m * d * d);
    RandomTrajectory::fill(rng, columns, m * d * p);
    RandomTrajectory::fill(rng, misfit, n * d);
    RandomTrajectory::fill(rng, defect, m * d);
    std::vector<double> measured(static_cast<std::size_t>(d), 1.0);
    if (d == 3 && gap < 0) measured.back() = 0.0;
    const double tight = std::pow(10.0, uniform(rng, 0.0, 4.0));
    const auto count = [](int value) { return static_cast<std::size_t>(value); };
    const IntegratedFit fit{count(n),       count(d),      count(m),      count(p), starts.data(), forward.data(),
                            columns.data(), misfit.data(), defect.data(), tight,    0.0,           measured.data()};
    const std::vector<const Loops*> all = available_loops();
    const TrajectoryStep step = trajectory_step(fit, *all[trial % all.size()]);
    CHECK(step.profiled && step.positive);
    Dense a(size);
    std::vector<Long> right(size, 0.0L);
    for (int v = 0; v < unknowns; ++v) {
      a(v, v) = measured[v % d];
      right[v] = measured[v % d] * misfit[v];
    }
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < d; ++j) {
        std::vector<Long> row(size, 0.0L);
        row[(starts[i] + 1) * d + j] = 1.0L;
        for (int s = 0; s < d; ++s) row[starts[i] * d + s] = -forward[(i * d + j) * d + s];
        for (int q = 0; q < p; ++q) row[unknowns + q] = -columns[(i * d + j) * p + q];
        for (int u = 0; u < size; ++u) {
          for (int v = 0; v < size; ++v) a(u, v) += tight * row[u] * row[v];
          right[u] -= tight * row[u] * defect[i * d + j];
        }
      }
    const Dense l = a.cholesky();
    const std::vector<Long> x = l.backward(l.forward(right));
    for (int v = 0; v < size; ++v) {
      const Long got = v < unknowns ? step.states[v] : step.coefficients[v - unknowns];
      CHECK_OP(std::abs(got - x[v]), <=, 1e-8L * (1.0L + std::abs(x[v])));
    }
  }
}

TEST(trajectory_steps_tell_dependent_terms) {
  Rng rng = seeded(341);
  RandomTrajectory random(rng, 12, 2, 2, -1);
  while (random.first[1] < 2) random = RandomTrajectory(rng, 12, 2, 2, -1);
  for (int i = 0; i + 1 < random.n; ++i) random.columns[i * random.p + 1] = 0.0;
  const TrajectoryStep step = trajectory_step(random.fit(0.0));
  CHECK(step.profiled);
  CHECK(!step.positive);
  CHECK_OP(step.curvature[random.p + 1], ==, 0.0);
}

}  // namespace exactsindy::tests
