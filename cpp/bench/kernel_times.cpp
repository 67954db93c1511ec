// How fast the hot loops run: times and multiply-adds per second (`make kernels`).
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "core/kernels.hpp"
#include "core/memory.hpp"

using namespace exactsindy;

namespace {

// Least time of one call over several batches.
template <class Call>
double seconds(int repeats, Call call) {
  double best = 1e9;
  for (int batch = 0; batch < 15; ++batch) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) call();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    best = std::min(best, spent.count() / repeats);
  }
  return best;
}

}  // namespace

int main() {
  const Kernels& k = kernels();
  std::printf("Instruction set: %s. G/s = billions of multiply-adds per second.\n\n", k.name);
  std::printf("| terms | exclude us | G/s | include us | G/s | pair scan us | ns/pair | G/s |\n");
  std::printf("|---|---|---|---|---|---|---|---|\n");
  for (int m : {20, 56, 84, 109, 200, 462}) {
    const int stride = padded(m), repeats = 40'000'000 / (m * m * 20) + 1;
    Array s(static_cast<std::size_t>(m) * stride), out(static_cast<std::size_t>(m) * stride);
    Array pivot(stride), beta(stride), norm2(stride), u(stride), c(stride), square(stride), d(stride);
    for (int i = 0; i < m; ++i) {
      pivot[i] = 1e-9;
      norm2[i] = d[i] = 1.0;
      c[i] = 1e-3;
      square[i] = 1e-6;
      s[static_cast<std::size_t>(i) * stride + i] = 1.0;
    }
    const double work = static_cast<double>(m) * stride;
    const double exclude = seconds(
        repeats, [&] { k.exclude(s.data(), stride, stride, m, pivot.data(), 1.0, 1e-9, beta.data(), norm2.data()); });
    const double include = seconds(repeats, [&] { k.include(s.data(), out.data(), stride, m, u.data()); });
    int rows = 0;
    const double scan = seconds(repeats, [&] {
      rows += k.scan(s.data(), stride, 1, m, u.data(), c.data(), square.data(), d.data(), 1e9, 0.0) == m;
    });
    const double pairs = m * (m - 1) / 2.0;
    if (rows == 0) return 1;
    // exclude: a dot product and an update per entry; include: one; scan: six per pair.
    std::printf("| %d | %.2f | %.1f | %.2f | %.1f | %.2f | %.2f | %.1f |\n", m, 1e6 * exclude, 2e-9 * work / exclude,
                1e6 * include, 1e-9 * work / include, 1e6 * scan, 1e9 * scan / pairs, 6e-9 * pairs / scan);
  }
}
