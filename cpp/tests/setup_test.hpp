// What is prepared before a search, block by block, against plain loops; and what happens when it is cut short.
#pragma once
#include "search/node.hpp"
#include "search/rotation.hpp"
#include "tests/threads_test.hpp"

namespace exactsindy::tests {

// A well-conditioned triangle of any size.
inline Data large_triangle(Rng& rng, int n) {
  Data data(n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < j; ++i) data.at(i, j) = normal(rng) / std::sqrt(static_cast<double>(n));
    data.at(j, j) = 1.0 + uniform(rng, 0.0, 1.0);
  }
  for (double& z : data.target) z = 0.1 * normal(rng);
  for (int j : {1, n / 2, n - 1}) data.add_to_target(3.0, j);
  data.rest = {1.0};
  return data;
}

inline double largest_difference(const Guide& guide, const std::vector<std::vector<double>>& expected,
                                 const Array& found) {
  double worst = 0.0;
  for (int i = 0; i < guide.columns; ++i)
    for (int j = 0; j < guide.columns; ++j)
      worst = std::max(worst, std::abs(found[static_cast<std::size_t>(i) * guide.stride + j] - expected[i][j]));
  return worst;
}

TEST(blocks_of_the_guide) {
  for (int n : {5, 63, 64, 65, 130, 200}) {
    Rng rng = seeded(80000 + n, "n=" + text(n));
    Data data = large_triangle(rng, n);
    if (n % 5 == 0) data.ridge.assign(n, 0.01);  // rotated
    if (n == 65)
      for (int i = 0; i < n; ++i) data.at(i, 7) = 0.0;  // a column left out: rotated, too
    const Instance in = data.instance();
    const Guide guide(in, true);
    CHECK(guide.ready);
    CHECK(guide.invertible);
    CHECK(guide.rotated == (n % 5 == 0));
    const int d = in.columns;
    std::vector<std::vector<double>> gram(d, std::vector<double>(d)), unit = gram, product = gram;
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < d; ++j) {
        double sum = i == j ? in.ridge[i] : 0.0;
        for (int r = 0; r < in.rows; ++r) sum += in.column(i)[r] * in.column(j)[r];
        gram[i][j] = sum / (guide.scale[i] * guide.scale[j]);
        unit[i][j] = i == j ? 1.0 : 0.0;
      }
    CHECK_OP(largest_difference(guide, gram, guide.gram), <=, 1e-13);
    // Rows of the pseudo-inverse: dual_i . dual_j is the inverse of the Gram matrix A'A + ridge.
    for (int i = 0; i < d; ++i)
      for (int l = 0; l < d; ++l) {
        double sum = 0.0;
        for (int r = 0; r < d; ++r)
          sum += guide.dual[static_cast<std::size_t>(i) * guide.stride + r] *
                 guide.dual[static_cast<std::size_t>(l) * guide.stride + r];
        for (int j = 0; j < d; ++j) product[i][j] += sum * gram[l][j] * guide.scale[l] * guide.scale[j];
      }
    double worst = 0.0;
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < d; ++j) worst = std::max(worst, std::abs(product[i][j] - unit[i][j]));
    CHECK_OP(worst, <=, 1e-9);
  }
}

// Q'[columns; roots of the ridge] = R, for every shape: with and without ridge, columns left out, fewer rows than
// columns.
TEST(blocks_of_the_rotation) {
  for (int n : {3, 31, 33, 70, 150})
    for (int kind = 0; kind < 4; ++kind) {
      Rng rng = seeded(80200 + 10 * n + kind, "n=" + text(n) + " kind=" + text(kind));
      Data data = large_triangle(rng, n);
      const double regular = kind == 2 ? 1e-3 : 0.0;
      if (kind == 0) data.ridge.assign(n, 0.02);
      if (kind == 1)
        for (int i = 0; i < n; ++i) data.at(i, 1) = 0.0;
      if (kind == 2)  // fewer rows than columns
        for (int i = n / 3 + 1; i < n; ++i)
          for (int j = 0; j < n; ++j) data.at(i, j) = 0.0;
      if (kind == 3)
        for (int j = 0; j < n; j += 2) data.ridge[j] = 0.5;
      const Instance in = data.instance();
      const int d = in.columns, stride = padded(d);
      Array triangle(static_cast<std::size_t>(d) * stride), back(static_cast<std::size_t>(d) * in.stride);
      const Rotation rotation(in, regular, triangle, stride, alone);
      CHECK(rotation.ready());
      CHECK(rotation.basis(back, in.stride, alone));
      double worst = 0.0;
      for (int j = 0; j < d; ++j) {
        Array column(in.stride + padded(d));
        std::copy(in.column(j), in.column(j) + in.rows, column.data());
        const double ridge = in.ridge[j] + regular * in.norm[j] * in.norm[j];
        if (ridge > 0.0) column[in.stride + j] = std::sqrt(ridge);
        rotation.apply(column.data());
        for (int i = 0; i < rotation.length(); ++i) {
          const double expected = i < d ? triangle[static_cast<std::size_t>(j) * stride + i] : 0.0;
          worst = std::max(worst, std::abs(column[i] - expected));
        }
        for (int i = 0; i < in.rows; ++i) {  // data rows of Q R
          double sum = 0.0;
          for (int l = 0; l <= j; ++l)
            sum +=
                back[static_cast<std::size_t>(l) * in.stride + i] * triangle[static_cast<std::size_t>(j) * stride + l];
          worst = std::max(worst, std::abs(sum - in.column(j)[i]));
        }
      }
      CHECK_OP(worst, <=, 1e-13);
    }
}

// The same with helpers, from the size on at which there are any.
TEST(threads_share_the_preparation) {
  Rng rng = seeded(80500);
  Data data = large_triangle(rng, 430);
  for (bool ridge : {false, true}) {
    if (ridge) data.ridge.assign(data.n, 1e-3);
    std::vector<Outcome> one;
    for (int threads : {1, 3}) {
      Options options;
      options.limits.threads = threads;
      const std::vector<Outcome> out = solve_one(data, 3, options);
      CHECK(out.front().stop == Stop::kNone);
      CHECK_OP(out.front().answers.front().support, ==, (Support{1, 215, 429}));
      if (threads == 1)
        one = out;
      else
        check_same(one, out);
    }
  }
}

// Time that is over before, or in the middle of, the preparation.
TEST(preparation_is_cut_short) {
  Rng rng = seeded(80600);
  const Data data = large_triangle(rng, 500);
  const Outcome best = solve_one(data, 3).front();
  for (double seconds : {1e-9, 1e-4, 1e-3, 3e-3, 6e-3})
    for (int threads : {1, 2}) {
      Options options;
      options.limits = {.seconds = seconds, .nodes = 0, .threads = threads};
      state().note = "seconds=" + text(seconds) + " threads=" + text(threads);
      const Outcome out = solve_one(data, 3, options).front();
      CHECK_OP(out.answers.size(), ==, std::size_t{1});
      CHECK(!better(out.answers.front(), best.answers.front()));
      CHECK_OP(out.lower, <=, best.answers.front().error.hi);
      if (out.stop == Stop::kNone) continue;
      CHECK(out.stop == Stop::kTime);
      CHECK(!out.complete);
      CHECK_OP(out.runner_up, <, 0.0);
      options.path = true;
      const std::vector<Outcome> path = solve_one(data, 3, options);
      CHECK_OP(path.size(), ==, std::size_t{4});
      for (std::size_t s = 1; s < path.size(); ++s) {
        CHECK(!better(path[s - 1].answers.front(), path[s].answers.front()));
        CHECK_OP(path[s].lower, <=, path[s].answers.front().error.hi);
      }
      Options pool = pool_options(3);
      pool.limits = options.limits;
      const Outcome few = solve_one(data, 3, pool).front();
      CHECK(few.stop == Stop::kNone || !few.complete);
      for (const Answer& answer : few.answers) CHECK_OP(answer.support.size(), ==, std::size_t{3});
    }
}

// Without a Gram matrix the greedy choice is that of plain least squares, also with a ridge.
TEST(greedy_adds_the_best_next_term) {
  for (std::uint64_t seed = 80700; seed < 80740; ++seed) {
    Rng rng = seeded(seed);
    Data data = random_triangle(rng, integer(rng, 4, 12));
    if (chance(rng, 0.5)) data.ridge.assign(data.n, 0.3);
    const Instance in = data.instance();
    Refitter refitter(in);
    const std::vector<int> order = greedy(in, 4);
    CHECK_OP(order.size(), ==, std::size_t{4});
    for (std::size_t size = 1; size <= order.size(); ++size) {
      const auto error_with = [&](int last) {
        Support support(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(size) - 1);
        support.push_back(last);
        std::sort(support.begin(), support.end());
        return fitted(refitter, support).error.hi;
      };
      const double chosen = error_with(order[size - 1]);
      for (int j = 0; j < in.columns; ++j)
        if (std::find(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(size) - 1, j) ==
            order.begin() + static_cast<std::ptrdiff_t>(size) - 1)
          CHECK_OP(chosen, <=, error_with(j) * (1.0 + 1e-9));
    }
  }
}

}  // namespace exactsindy::tests
