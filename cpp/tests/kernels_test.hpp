// Every instruction set of this processor against plain loops in higher precision.
#pragma once
#include "core/products.hpp"
#include "tests/exact.hpp"
#include "tests/instances.hpp"

namespace exactsindy::tests {

inline std::vector<const Kernels*> available_kernels() {
  std::vector<const Kernels*> all{&kernels_generic};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) all.push_back(&kernels_avx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    all.push_back(&kernels_avx512);
#endif
  return all;
}

// n numbers, zero up to the padded length.
inline Array random_array(Rng& rng, int n, double low = -3.0, double high = 3.0) {
  Array out(static_cast<std::size_t>(std::max(n, 1)));
  for (int i = 0; i < n; ++i) out[i] = normal(rng) * power_of_ten(rng, low, high);
  return out;
}

inline Array copy_of(const Array& from, int n) {
  Array out(static_cast<std::size_t>(n));
  std::copy(from.data(), from.data() + n, out.data());
  return out;
}

// Rounding of m operations.
inline double gamma_of(int m) { return m * kEps / (1.0 - m * kEps); }

TEST(best_kernels_are_chosen) { CHECK(&kernels() == available_kernels().back()); }

TEST(dot_and_axpy) {
  Rng rng = seeded(10);
  for (const Kernels* k : available_kernels())
    for (int n = 1; n <= 130; ++n) {
      state().note = std::string(k->name) + " n=" + text(n);
      const int length = padded(n);
      const Array a = random_array(rng, n), b = random_array(rng, n);
      Exact sum;
      double magnitude = 0.0;
      for (int i = 0; i < n; ++i) {
        sum = sum + Exact(a[i]) * Exact(b[i]);
        magnitude += std::abs(a[i] * b[i]);
      }
      const double error = std::abs((Exact(k->dot(a.data(), b.data(), length)) - sum).rounded());
      CHECK_OP(error, <=, gamma_of(length / kLane + 3) * magnitude * (1.0 + 1e-12));
      Array y = copy_of(b, length);
      const double alpha = normal(rng);
      k->axpy(alpha, a.data(), y.data(), length);
      for (int i = 0; i < length; ++i) {
        const double exact = (Exact(alpha) * Exact(a[i]) + Exact(b[i])).rounded();
        CHECK_OP(std::abs(y[i] - exact), <=, gamma_of(3) * (std::abs(alpha * a[i]) + std::abs(b[i])));
      }
    }
}

inline Array random_rows(Rng& rng, int rows, int columns, int stride) {
  Array out(static_cast<std::size_t>(rows) * stride);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) out[static_cast<std::size_t>(i) * stride + j] = normal(rng);
  return out;
}

// Whole blocks of dot products are those of `dot`, to the bit.
TEST(blocks_of_dot_products) {
  Rng rng = seeded(15);
  for (const Kernels* k : available_kernels())
    for (int repeat = 0; repeat < 60; ++repeat) {
      const int p = integer(rng, 1, 11), q = integer(rng, 1, 11), n = padded(integer(rng, 1, 100)), stride = n + 8;
      state().note = std::string(k->name) + " " + text(p) + " x " + text(q) + " n=" + text(n);
      const Array a = random_rows(rng, p, n, stride), b = random_rows(rng, q, n, stride);
      Array out(static_cast<std::size_t>(p) * 16);
      k->dots({a.data(), stride, p}, {b.data(), stride, q}, n, out.data(), 16, false);
      k->dots({a.data(), stride, p}, {b.data(), stride, q}, n, out.data(), 16, true);
      for (int i = 0; i < p; ++i)
        for (int j = 0; j < q; ++j) {
          const double one = k->dot(a.data() + i * stride, b.data() + j * stride, n);
          CHECK_OP(out[i * 16 + j], ==, one + one);
        }
      Array to = random_rows(rng, p, n, stride), coef = random_rows(rng, p, q, 16);
      const Array before = copy_of(to, p * stride);
      k->combine({coef.data(), 16, p}, {b.data(), stride, q}, to.data(), stride, n);
      for (int i = 0; i < p; ++i)
        for (int l = 0; l < n; ++l) {
          double sum = before[i * stride + l], magnitude = std::abs(sum);
          for (int j = 0; j < q; ++j) {
            sum += coef[i * 16 + j] * b[j * stride + l];
            magnitude += std::abs(coef[i * 16 + j] * b[j * stride + l]);
          }
          CHECK_OP(std::abs(to[i * stride + l] - sum), <=, 2.0 * gamma_of(q + 2) * magnitude);
        }
    }
}

// Rows longer than a piece: the number of roundings per term that the certifier counts with.
TEST(products_of_long_rows) {
  Rng rng = seeded(16);
  for (int n : {8, 504, 512, 520, 1024, 1032, 1500 / 8 * 8}) {
    state().note = "n=" + text(n);
    const Array a = random_array(rng, n), b = random_array(rng, n);
    double found = 0.0, magnitude = 0.0;
    products({a.data(), n, 1}, {b.data(), n, 1}, n, &found, 1);
    Exact sum;
    for (int i = 0; i < n; ++i) {
      sum = sum + Exact(a[i]) * Exact(b[i]);
      magnitude += std::abs(a[i] * b[i]);
    }
    CHECK_OP(std::abs((Exact(found) - sum).rounded()), <=, gamma_of(n / kLane + 3) * magnitude * (1.0 + 1e-12));
    if (n <= 512) CHECK_OP(found, ==, kernels().dot(a.data(), b.data(), n));
  }
}

TEST(dot2_and_axpy2) {
  Rng rng = seeded(11);
  const double unit = 0x1p-104;
  for (const Kernels* k : available_kernels())
    for (int n = 1; n <= 130; n += n < 20 ? 1 : 7) {
      state().note = std::string(k->name) + " n=" + text(n);
      const int length = padded(n);
      Array a = random_array(rng, n), b = random_array(rng, n), c(length), d(length);
      // Also sums that nearly cancel: the second half undoes the first but for the low parts.
      if (n % 2 == 0 && n > 8)
        for (int i = n / 2; i < n; ++i) a[i] = a[i - n / 2], b[i] = -b[i - n / 2];
      for (int i = 0; i < n; ++i) {
        c[i] = std::ldexp(a[i], -54) * uniform(rng, -0.9, 0.9);
        d[i] = std::ldexp(b[i], -54) * uniform(rng, -0.9, 0.9);
      }
      const Span2 x{a.data(), c.data()}, y{b.data(), d.data()};
      Exact sum;
      double magnitude = 0.0;
      for (int i = 0; i < n; ++i) {
        sum = sum + Exact(Double2{a[i], c[i]}) * Exact(Double2{b[i], d[i]});
        magnitude += std::abs(a[i] * b[i]);
      }
      const double error = std::abs((Exact(k->dot2(x, y, length)) - sum).rounded());
      CHECK_OP(error, <=, (length / kLane + 12) * unit * magnitude);
      const Double2 alpha = two_sum(normal(rng), 1e-17 * normal(rng));
      Array hi = copy_of(b, length), lo = copy_of(d, length);
      k->axpy2(alpha, x, {hi.data(), lo.data()}, length);
      for (int i = 0; i < length; ++i) {
        const Exact exact = Exact(alpha) * Exact(Double2{a[i], c[i]}) + Exact(Double2{b[i], d[i]});
        CHECK_OP(std::abs((Exact(Double2{hi[i], lo[i]}) - exact).rounded()), <=,
                 4.0 * unit * (std::abs(alpha.hi * a[i]) + std::abs(b[i])));
        CHECK_OP(std::abs(lo[i]), <=, std::ldexp(std::abs(hi[i]), -52));  // (nearly) normalised
      }
    }
}

// What is exact in double-double must come out exact: a step fused by the compiler would leave a residue.
TEST(error_free_steps_of_every_kernel) {
  Rng rng = seeded(12);
  for (const Kernels* k : available_kernels())
    for (int repeat = 0; repeat < 2000; ++repeat) {
      state().note = k->name;
      const int at = integer(rng, 0, kLane - 1);
      const double a = normal(rng) * power_of_ten(rng, -20.0, 20.0), b = normal(rng) * power_of_ten(rng, -20.0, 20.0);
      const Double2 product = two_prod(a, b);
      Array x(kLane), zero(kLane), y(kLane), hi(kLane), lo(kLane);
      x[at] = a;
      y[at] = b;
      CHECK(k->dot2({x.data(), zero.data()}, {y.data(), zero.data()}, kLane) == product);
      CHECK((Exact(product) - Exact(a) * Exact(b)).sign() == 0);
      hi[at] = -product.hi;
      lo[at] = -product.lo;
      k->axpy2({b, 0.0}, {x.data(), zero.data()}, {hi.data(), lo.data()}, kLane);
      CHECK_OP(hi[at], ==, 0.0);
      CHECK_OP(lo[at], ==, 0.0);
      // 1 * b + a: a two_sum.
      x[at] = 1.0;
      hi[at] = a;
      k->axpy2({b, 0.0}, {x.data(), zero.data()}, {hi.data(), lo.data()}, kLane);
      CHECK(Double2({hi[at], lo[at]}) == two_sum(a, b));
      CHECK((Exact(two_sum(a, b)) - Exact(a) - Exact(b)).sign() == 0);
    }
}

TEST(exclude_projects_rows) {
  Rng rng = seeded(12);
  for (const Kernels* k : available_kernels())
    for (int n = 1; n <= 130; n += n < 20 ? 1 : 11) {
      state().note = std::string(k->name) + " n=" + text(n);
      const int stride = padded(n), count = integer(rng, 1, n);
      Array rows(static_cast<std::size_t>(count) * stride), beta = random_array(rng, count), norm2(count);
      for (int j = 0; j < count; ++j)
        for (int i = 0; i < n; ++i) rows[static_cast<std::size_t>(j) * stride + i] = normal(rng);
      const Array pivot = random_array(rng, n, -1.0, 1.0);
      for (int j = 0; j < count; ++j) {
        const double* row = rows.data() + static_cast<std::size_t>(j) * stride;
        norm2[j] = k->dot(row, row, stride);
      }
      const Array before = copy_of(rows, count * stride), beta_before = copy_of(beta, count),
                  norm2_before = copy_of(norm2, count);
      const double scale = 1.0 / k->dot(pivot.data(), pivot.data(), stride), pivot_beta = normal(rng);
      k->exclude(rows.data(), stride, stride, count, pivot.data(), scale, pivot_beta, beta.data(), norm2.data());
      for (int j = 0; j < count; ++j) {
        const std::size_t at = static_cast<std::size_t>(j) * stride;
        long double dot = 0.0L, magnitude = 0.0L, norm = 0.0L;
        for (int i = 0; i < n; ++i) {
          dot += static_cast<long double>(before[at + i]) * pivot[i];
          magnitude += std::abs(static_cast<long double>(before[at + i]) * pivot[i]);
        }
        const long double factor = dot * scale;
        const double unit = gamma_of(stride / kLane + 8);
        for (int i = 0; i < stride; ++i) {
          const long double exact = before[at + i] - factor * pivot[i];
          const double size = static_cast<double>(std::abs(before[at + i]) + magnitude * scale * std::abs(pivot[i]));
          CHECK_OP(std::abs(static_cast<double>(rows[at + i] - exact)), <=, unit * size);
          norm += static_cast<long double>(rows[at + i]) * rows[at + i];
        }
        // By Pythagoras: small against the norm before.
        CHECK_OP(std::abs(static_cast<double>(norm2[j] - norm)), <=, 4.0 * unit * norm2_before[j]);
        CHECK_OP(std::abs(static_cast<double>(beta[j] - (beta_before[j] - factor * pivot_beta))), <=,
                 unit * (std::abs(beta_before[j]) + static_cast<double>(magnitude) * scale * std::abs(pivot_beta)));
      }
    }
}

TEST(include_subtracts_a_rank_one_matrix) {
  Rng rng = seeded(13);
  for (const Kernels* k : available_kernels())
    for (int m = 1; m <= 130; m += m < 20 ? 1 : 11) {
      state().note = std::string(k->name) + " m=" + text(m);
      const int stride = padded(m) + (chance(rng, 0.5) ? kLane : 0);
      Array s(static_cast<std::size_t>(m) * stride), out(static_cast<std::size_t>(m) * stride);
      for (int i = 0; i < m * stride; ++i) s[i] = normal(rng);
      const Array u = random_array(rng, m, -1.0, 1.0);
      k->include(s.data(), out.data(), stride, m, u.data());
      for (int a = 0; a < m; ++a)
        for (int b = 0; b < m; ++b) {
          const std::size_t at = static_cast<std::size_t>(a) * stride + b;
          CHECK_OP(std::abs(static_cast<double>(out[at] - (s[at] - static_cast<long double>(u[a]) * u[b]))), <=,
                   gamma_of(3) * (std::abs(s[at]) + std::abs(u[a] * u[b])));
        }
      Array same = copy_of(s, m * stride);  // in place
      k->include(same.data(), same.data(), stride, m, u.data());
      for (int a = 0; a < m; ++a)
        for (int b = 0; b < m; ++b)
          CHECK(same[static_cast<std::size_t>(a) * stride + b] == out[static_cast<std::size_t>(a) * stride + b]);
    }
}

// A frame to scan: m projected columns, a pending rank-one change u.
struct ScanInput {
  int m, stride;
  Array s, u, c, square, d;
  double value;

  ScanInput(Rng& rng, int columns) : m(columns), stride(padded(columns)) {
    for (Array* a : {&u, &c, &square, &d}) a->reset(stride);
    s.reset(static_cast<std::size_t>(m) * stride);
    const int rows = m + 2;
    std::vector<double> x(static_cast<std::size_t>(m) * rows), r(rows);
    for (double& v : x) v = normal(rng);
    for (double& v : r) v = normal(rng);
    value = 0.0;
    for (double v : r) value += v * v;
    for (int a = 0; a < m; ++a) {
      u[a] = 0.3 * normal(rng);
      for (int i = 0; i < rows; ++i) c[a] += x[static_cast<std::size_t>(a) * rows + i] * r[i];
      square[a] = c[a] * c[a];
      for (int b = 0; b < m; ++b) {
        double dot = 0.0;
        for (int i = 0; i < rows; ++i)
          dot += x[static_cast<std::size_t>(a) * rows + i] * x[static_cast<std::size_t>(b) * rows + i];
        s[static_cast<std::size_t>(a) * stride + b] = dot + u[a] * u[b];
      }
    }
    for (int a = 0; a < m; ++a) d[a] = s[static_cast<std::size_t>(a) * stride + a] - u[a] * u[a];
  }

  // gain + kappa - gap * determinant, and the size of what is added up.
  std::pair<long double, long double> test(int a, int b, double gap, double kappa) const {
    const long double schur = s[static_cast<std::size_t>(a) * stride + b] - static_cast<long double>(u[a]) * u[b];
    const long double ca = c[a], cb = c[b], da = d[a], db = d[b];
    const long double gain = ca * ca * db - 2.0L * ca * cb * schur + cb * cb * da;
    const long double size = ca * ca * std::abs(db) + 2.0L * std::abs(ca * cb * schur) + cb * cb * std::abs(da) +
                             std::abs(kappa) + std::abs(gap) * (std::abs(da * db) + schur * schur);
    return {gain + kappa - gap * (da * db - schur * schur), size};
  }

  int run(const Kernels& k, int first, double gap, double kappa) const {
    return k.scan(s.data(), stride, first, m, u.data(), c.data(), square.data(), d.data(), gap, kappa);
  }
};

TEST(scan_finds_exactly_the_rows) {
  Rng rng = seeded(14);
  long found = 0, empty = 0;
  for (int m = 2; m <= 130; m += m < 40 ? 1 : 7)
    for (int repeat = 0; repeat < 4; ++repeat) {
      const ScanInput in(rng, m);
      std::vector<double> gains;
      for (int a = 1; a < m; ++a)
        for (int b = 0; b < a; ++b) {
          const double with = static_cast<double>(in.test(a, b, 0.0, 0.0).first);
          const double det = with - static_cast<double>(in.test(a, b, 1.0, 0.0).first);
          gains.push_back(with / det);
        }
      std::sort(gains.rbegin(), gains.rend());
      const std::size_t rank = std::min<std::size_t>(integer(rng, 0, 6), gains.size() - 1);
      const double gap = repeat == 0 ? gains.front() * 1.1 : gains[rank] * (1.0 - 1e-6);
      const double kappa = repeat == 3 ? 0.01 * gap : 0.0;
      const int first = integer(rng, 1, m - 1);
      int sure = m, possible = m;  // first row that must be, or may be, reported
      for (int a = m - 1; a >= first; --a)
        for (int b = 0; b < a; ++b) {
          const auto [value, size] = in.test(a, b, gap, kappa);
          if (value >= 1e-13L * size) sure = a;
          if (value >= -1e-13L * size) possible = a;
        }
      for (const Kernels* k : available_kernels()) {
        state().note = std::string(k->name) + " m=" + text(m) + " first=" + text(first);
        const int row = in.run(*k, first, gap, kappa);
        CHECK_OP(row, <=, sure);
        CHECK_OP(row, >=, possible);
        ++(row < m ? found : empty);
      }
    }
  CHECK_OP(found, >, 50);
  CHECK_OP(empty, >, 50);
}

TEST(scan_takes_nan_for_a_hit) {
  Rng rng = seeded(15);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (int m = 2; m <= 70; ++m) {
    const ScanInput clean(rng, m);
    const double gap = 1e6 * clean.value;  // no pair comes near
    for (const Kernels* k : available_kernels()) {
      state().note = std::string(k->name) + " m=" + text(m);
      CHECK_OP(clean.run(*k, 1, gap, 0.0), ==, m);
      const int a = integer(rng, 1, m - 1), b = integer(rng, 0, a - 1);
      Rng again = rng;
      const auto spoilt = [&](auto&& spoil) {
        Rng same = again;
        ScanInput in(same, m);
        in.value = clean.value;
        spoil(in);
        return in.run(*k, 1, 1e6 * in.value, 0.0);
      };
      CHECK_OP(spoilt([&](ScanInput& in) { in.s[static_cast<std::size_t>(a) * in.stride + b] = nan; }), ==, a);
      CHECK_OP(spoilt([&](ScanInput& in) { in.c[a] = nan; }), ==, a);
      CHECK_OP(spoilt([&](ScanInput& in) { in.d[a] = nan; }), ==, a);
      CHECK_OP(spoilt([&](ScanInput& in) { in.u[a] = nan; }), ==, a);
      CHECK_OP(spoilt([&](ScanInput& in) { in.square[b] = nan; }), ==, b + 1);
      CHECK_OP(clean.run(*k, 1, nan, 0.0), ==, 1);
      // What lies above the diagonal or beyond the last column is not looked at.
      const int unseen = spoilt([&](ScanInput& in) {
        for (int i = 0; i < m; ++i)
          for (int j = i; j < in.stride; ++j) in.s[static_cast<std::size_t>(i) * in.stride + j] = nan;
        for (int j = m; j < in.stride; ++j) in.u[j] = in.c[j] = in.square[j] = in.d[j] = nan;
      });
      CHECK_OP(unseen, ==, m);
    }
  }
}

}  // namespace exactsindy::tests
