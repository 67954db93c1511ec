// The banded work of the forms against dense matrices in higher precision, on every instruction set.
#pragma once
#include "assembly/loops.hpp"
#include "assembly/smoother.hpp"
#include "assembly/triangle.hpp"
#include "assembly/whitening.hpp"
#include "tests/kernels_test.hpp"

namespace exactsindy::tests {

using Long = long double;

// A square matrix, row by row.
struct Dense {
  int n;
  std::vector<Long> a;
  explicit Dense(int size) : n(size), a(static_cast<std::size_t>(size) * size, 0.0L) {}
  Long& operator()(int i, int j) { return a[static_cast<std::size_t>(i) * n + j]; }
  Long operator()(int i, int j) const { return a[static_cast<std::size_t>(i) * n + j]; }

  // Lower Cholesky factor.
  Dense cholesky() const {
    Dense l(n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) {
        Long sum = (*this)(i, j);
        for (int k = 0; k < j; ++k) sum -= l(i, k) * l(j, k);
        l(i, j) = i == j ? std::sqrt(sum) : sum / l(j, j);
      }
    return l;
  }
  // With this a lower factor L: L^-1 x.
  std::vector<Long> forward(std::vector<Long> x) const {
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < i; ++k) x[i] -= (*this)(i, k) * x[k];
      x[i] /= (*this)(i, i);
    }
    return x;
  }
  std::vector<Long> backward(std::vector<Long> x) const {
    for (int i = n; i-- > 0;) {
      for (int k = i + 1; k < n; ++k) x[i] -= (*this)(k, i) * x[k];
      x[i] /= (*this)(i, i);
    }
    return x;
  }
};

inline std::vector<const Loops*> available_loops() {
  std::vector<const Loops*> all{&loops_generic};
#ifdef EXACTSINDY_X86
  if (available_kernels().size() > 1) all.push_back(&loops_avx2);
  if (available_kernels().size() > 2) all.push_back(&loops_avx512);
#endif
  return all;
}

inline void add_penalty(Dense& a, double lam) {
  const double third[] = {-1.0, 3.0, -3.0, 1.0};
  for (int row = 0; row + 3 < a.n; ++row)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) a(row + i, row + j) += static_cast<Long>(lam) * third[i] * third[j];
}

// A line of n samples, of splines with m coefficients if m > 0; three columns.
struct Sampled {
  int n, m;
  std::vector<double> values, moments, gram, weights;
  std::vector<std::int64_t> start;

  Sampled(Rng& rng, int samples, int coefficients) : n(samples), m(coefficients) {
    for (int i = 0; i < 3 * n; ++i) values.push_back(normal(rng));
    if (m == 0) return;
    moments.assign(3 * static_cast<std::size_t>(m), 0.0);
    gram.assign(4 * static_cast<std::size_t>(m), 0.0);
    for (int i = 0; i < n; ++i) {
      start.push_back(static_cast<std::int64_t>(i) * (m - 4) / std::max(n - 1, 1));
      for (int k = 0; k < 4; ++k) weights.push_back(uniform(rng, 0.1, 1.0));
      for (int k = 0; k < 4; ++k)
        for (int l = k; l < 4; ++l) gram[(l - k) * m + start[i] + k] += weights[4 * i + k] * weights[4 * i + l];
      for (int c = 0; c < 3; ++c)
        for (int k = 0; k < 4; ++k) moments[c * m + start[i] + k] += weights[4 * i + k] * values[c * n + i];
    }
  }

  Line line() const {
    if (m == 0) return {static_cast<std::size_t>(n), static_cast<std::size_t>(n), values.data(), values.data()};
    return {static_cast<std::size_t>(n),
            static_cast<std::size_t>(m),
            values.data(),
            moments.data(),
            gram.data(),
            start.data(),
            weights.data()};
  }

  Dense matrix(double lam) const {
    Dense a(m == 0 ? n : m);
    for (int j = 0; j < a.n; ++j) {
      if (m == 0) a(j, j) = 1.0L;
      for (int k = 0; m > 0 && k < 4 && j + k < m; ++k) a(j + k, j) = a(j, j + k) = gram[k * m + j];
    }
    add_penalty(a, lam);
    return a;
  }

  // Smooth values, sum of squares and trace from the definition.
  std::vector<Long> fit(double lam, int column, Long& rss, Long& trace) const {
    const Dense l = matrix(lam).cholesky();
    const int size = l.n;
    const double* right = (m == 0 ? values.data() : moments.data()) + static_cast<std::size_t>(column) * size;
    const std::vector<Long> c = l.backward(l.forward({right, right + size}));
    std::vector<Long> x(c);
    trace = 0.0L;
    if (m == 0) {
      for (int i = 0; i < n; ++i) {
        const double wave = 2.0 - 2.0 * std::cos(M_PI * i / n);
        trace += 1.0L / (1.0L + static_cast<Long>(lam) * wave * wave * wave);
      }
    } else {
      x.assign(n, 0.0L);
      for (int i = 0; i < n; ++i) {
        std::vector<Long> basis(m, 0.0L);
        for (int k = 0; k < 4; ++k) basis[start[i] + k] = weights[4 * i + k];
        for (int k = 0; k < 4; ++k) x[i] += basis[start[i] + k] * c[start[i] + k];
        const std::vector<Long> image = l.forward(basis);
        for (const Long& z : image) trace += z * z;
      }
    }
    rss = 0.0L;
    for (int i = 0; i < n; ++i) rss += (values[column * n + i] - x[i]) * (values[column * n + i] - x[i]);
    return x;
  }
};

TEST(penalised_fits_are_those_of_the_definition) {
  Rng rng = seeded(300);
  for (const auto& [n, m] : {std::pair{8, 0}, {9, 0}, {37, 0}, {40, 8}, {12, 25}, {60, 64}}) {
    const Sampled data(rng, n, m);
    std::vector<double> lam, rss, trace, fitted;
    std::vector<std::int64_t> column;
    for (int i = 0; i < 11; ++i) {
      lam.push_back(power_of_ten(rng, -2.0, 6.0));
      column.push_back(integer(rng, 0, 2));
    }
    rss.assign(11, 0.0);
    trace.assign(11, 0.0);
    fitted.assign(11 * static_cast<std::size_t>(n), 0.0);
    penalised_fits(data.line(), {lam, column}, rss.data(), trace.data(), fitted.data());
    for (int i = 0; i < 11; ++i) {
      state().note = "n=" + text(n) + " m=" + text(m) + " lam=" + text(lam[i]);
      Long square, expected;
      const std::vector<Long> x = data.fit(lam[i], static_cast<int>(column[i]), square, expected);
      const double slack = 1e-12 * std::sqrt(lam[i] + 1.0) * (m > n ? 1e3 : 1.0);
      for (int j = 0; j < n; ++j) CHECK_OP(std::abs(fitted[i * n + j] - static_cast<double>(x[j])), <=, slack);
      CHECK_OP(std::abs(rss[i] - static_cast<double>(square)), <=, slack * n);
      CHECK_OP(std::abs(trace[i] - static_cast<double>(expected)), <=, 1e-13 * (1.0 + lam[i]) * n);
    }
  }
}

TEST(instruction_sets_fit_alike) {
  Rng rng = seeded(301);
  for (const int m : {0, 50}) {
    const Sampled data(rng, 45, m);
    double lam[kLane], rss[2][kLane], trace[2][kLane];
    std::int64_t column[kLane];
    for (int i = 0; i < kLane; ++i) lam[i] = power_of_ten(rng, -2.0, 5.0), column[i] = i % 3;
    const Line line = data.line();
    for (const Loops* l : available_loops()) {
      Lanes lanes(line);
      l->fit(line, lanes, lam, column, rss[1], trace[1]);
      if (l == &loops_generic)
        std::copy(rss[1], rss[1] + kLane, rss[0]), std::copy(trace[1], trace[1] + kLane, trace[0]);
      for (int i = 0; i < kLane; ++i) {
        CHECK_OP(std::abs(rss[1][i] / rss[0][i] - 1.0), <=, 1e-9);
        if (m > 0) CHECK_OP(std::abs(trace[1][i] / trace[0][i] - 1.0), <=, 1e-9);
      }
    }
  }
}

TEST(long_lines_are_fitted_in_parts_as_if_they_were_whole) {
  Rng rng = seeded(303);
  const int n = 40000;
  const Sampled data(rng, n, 0);
  const Line line = data.line();
  std::vector<double> rss(kLane), trace(kLane), fitted(static_cast<std::size_t>(kLane) * n);
  std::vector<std::int64_t> column;
  std::vector<double> lam;
  for (int i = 0; i < kLane; ++i) lam.push_back(power_of_ten(rng, -2.0, i < 4 ? 3.0 : 9.0)), column.push_back(i % 3);
  penalised_fits(line, {lam, column}, rss.data(), trace.data(), fitted.data());
  Lanes lanes(line);
  double square[kLane], unused[kLane];
  loops().fit(line, lanes, lam.data(), column.data(), square, unused);
  for (int lane = 0; lane < kLane; ++lane) {
    state().note = "lam=" + text(lam[lane]);
    double largest = 0.0, sum = 0.0;
    for (int i = 0; i < n; ++i) {
      const double wave = 2.0 - 2.0 * std::cos(M_PI * i / n);
      sum += 1.0 / (1.0 + lam[lane] * wave * wave * wave);
      largest = std::max(largest, std::abs(fitted[static_cast<std::size_t>(lane) * n + i] -
                                           lanes.sampled[static_cast<std::size_t>(i) * kLane + lane]));
    }
    CHECK_OP(largest, <=, 1e-13 * std::sqrt(lam[lane] + 1.0));
    CHECK_OP(std::abs(rss[lane] / square[lane] - 1.0), <=, 1e-12);
    CHECK_OP(std::abs(trace[lane] / sum - 1.0), <=, 1e-11);
  }
}

TEST(a_hopeless_fit_is_infinite_not_nan) {
  Rng rng = seeded(302);
  Sampled data(rng, 20, 30);
  std::fill(data.gram.begin(), data.gram.end(), 0.0);  // nothing pins the parabolas
  const std::vector<double> lam{1e6};
  const std::vector<std::int64_t> column{0};
  double rss = 0.0, trace = 0.0;
  penalised_fits(data.line(), {lam, column}, &rss, &trace, nullptr);
  CHECK(!std::isnan(rss));
  std::fill(data.values.begin(), data.values.end(), std::numeric_limits<double>::quiet_NaN());
  std::fill(data.moments.begin(), data.moments.end(), std::numeric_limits<double>::quiet_NaN());
  penalised_fits(data.line(), {lam, column}, &rss, &trace, nullptr);
  CHECK(std::isinf(rss));
}

TEST(whitened_rows_are_those_of_the_dense_factor) {
  for (const int rows : {1, 2, 3, 255, 256, 257, 600}) {
    Rng rng = seeded(310 + static_cast<std::uint64_t>(rows));
    const int columns = 11, samples = rows + 1;
    std::vector<double> diagonal, below{0.0}, values, weights, change;
    for (int i = 0; i < rows; ++i) diagonal.push_back(uniform(rng, 2.0, 3.0)), change.push_back(normal(rng));
    for (int i = 1; i < rows; ++i) below.push_back(uniform(rng, -1.0, 1.0));
    for (int i = 0; i < columns * samples; ++i) values.push_back(normal(rng));
    for (int i = 0; i < 4 * rows; ++i) weights.push_back(normal(rng));
    std::vector<double> root(diagonal), link(below);
    CHECK(tridiagonal_cholesky(root, {link.data() + 1, link.size() - 1}));
    const auto rate = [&](int q, int i) { return i < 0 || i >= samples ? 0.0 : values[q * samples + i]; };
    std::vector<std::vector<Long>> expected;
    for (int q = 0; q <= columns; ++q) {
      std::vector<Long> x(rows);
      Long last = 0.0L, before = 0.0L;  // the factor, once more in higher precision
      for (int i = 0; i < rows; ++i) {
        Long sum = change[i];
        if (q < columns) {
          sum = 0.0L;
          for (int k = 0; k < 4; ++k) sum += static_cast<Long>(weights[4 * i + k]) * rate(q, i - 1 + k);
        }
        const Long l = i > 0 ? below[i] / before : 0.0L;
        before = std::sqrt(static_cast<Long>(diagonal[i]) - l * l);
        last = x[i] = (sum - l * last) / before;
      }
      expected.push_back(x);
    }
    // Whole, and cut in two.
    for (const int cut : {rows, (rows + 1) / 2}) {
      std::vector<double> previous(columns + 1, 0.0);
      for (int first = 0; first < rows; first = first == 0 ? cut : rows) {
        const int last = first == 0 ? cut : rows, low = std::max(first - 1, 0), high = std::min(last + 2, samples);
        std::vector<double> part, out(static_cast<std::size_t>(columns + 1) * (last - first));
        for (int q = 0; q < columns; ++q)
          part.insert(part.end(), &values[q * samples] + low, &values[q * samples] + high);
        whiten({static_cast<std::size_t>(last - first), static_cast<std::size_t>(columns),
                static_cast<std::size_t>(high - low), part.data(), static_cast<std::size_t>(first - low),
                &weights[4 * first], &change[first], &root[first], &link[first]},
               previous.data(), out.data());
        for (int q = 0; q <= columns; ++q) {
          for (int i = first; i < last; ++i)
            CHECK_OP(std::abs(out[q * (last - first) + i - first] - static_cast<double>(expected[q][i])), <=, 1e-13);
          CHECK_OP(previous[q], ==, out[(q + 1) * (last - first) - 1]);
        }
      }
    }
  }
  std::vector<double> diagonal{1.0, 1.0}, below{1.0};
  CHECK(!tridiagonal_cholesky(diagonal, below));
}

// R'R against A'A, entry by entry, relative to the norms of the columns.
inline void check_factor(const std::vector<double>& factor, const std::vector<std::vector<double>>& columns) {
  const int n = static_cast<int>(columns.size());
  for (int a = 0; a < n; ++a)
    for (int b = 0; b <= a; ++b) {
      Long product = 0.0L, na = 0.0L, nb = 0.0L, found = 0.0L;
      for (std::size_t i = 0; i < columns[a].size(); ++i) {
        product += static_cast<Long>(columns[a][i]) * columns[b][i];
        na += static_cast<Long>(columns[a][i]) * columns[a][i];
        nb += static_cast<Long>(columns[b][i]) * columns[b][i];
      }
      for (int i = 0; i < n; ++i) found += static_cast<Long>(factor[a * n + i]) * factor[b * n + i];
      CHECK(std::abs(found - product) <= 1e-13L * std::sqrt(na) * std::sqrt(nb));
    }
}

TEST(absorbed_rows_keep_all_products) {
  for (const auto& [width, count] : {std::pair{1, 1}, {3, 2}, {7, 129}, {8, 300}, {21, 128}, {36, 517}}) {
    for (const double size : {1.0, 0x1p-390, 0x1p390, 0x1p-420}) {
      Rng rng = seeded(static_cast<std::uint64_t>(400 + width), "count=" + text(count) + " size=" + text(size));
      std::vector<double> factor(static_cast<std::size_t>(width) * width, 0.0);
      std::vector<std::vector<double>> columns(width);
      for (int round = 0; round < 2; ++round) {
        std::vector<double> rows;
        for (int j = 0; j < width; ++j)
          for (int i = 0; i < count; ++i) {
            // Column 1 is tiny, column 2 zero: neither may disturb the others.
            const double scale = j == 1 ? size : j == 2 ? 0.0 : 1.0;
            rows.push_back(normal(rng) * scale);
            columns[j].push_back(rows.back());
          }
        absorb(factor.data(), width, rows.data(), count, false);
      }
      for (int j = 0; j < width; ++j)
        for (int i = j + 1; i < width; ++i) CHECK_OP(factor[j * width + i], ==, 0.0);
      check_factor(factor, columns);
    }
  }
}

TEST(trapezoids_are_absorbed_like_full_rows) {
  for (const auto& [width, count] : {std::pair{5, 5}, {20, 13}, {33, 33}}) {
    Rng rng = seeded(static_cast<std::uint64_t>(500 + width));
    std::vector<double> rows, factor(static_cast<std::size_t>(width) * width, 0.0);
    std::vector<std::vector<double>> columns(width);
    for (int j = 0; j < width; ++j)
      for (int i = 0; i < count; ++i) {
        rows.push_back(i <= j ? normal(rng) : 0.0);
        columns[j].push_back(rows.back());
      }
    for (int j = 0; j < width; ++j)
      for (int i = 0; i <= j; ++i) {
        factor[j * width + i] = normal(rng);
        for (int k = 0; k < width; ++k) {
          if (i == 0 && j == 0) columns[k].resize(static_cast<std::size_t>(count + width), 0.0);
          if (k == j) columns[k][count + i] = factor[j * width + i];
        }
      }
    absorb(factor.data(), width, rows.data(), count, true);
    check_factor(factor, columns);
  }
}

}  // namespace exactsindy::tests
