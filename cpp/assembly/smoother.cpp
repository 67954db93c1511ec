#include "assembly/smoother.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "assembly/loops.hpp"

namespace exactsindy {

Lanes::Lanes(const Line& line) : penalty(4 * line.coefficients), gram(4 * line.coefficients) {
  const std::size_t m = line.coefficients;
  curve.reset((m + 6) * kLane);
  for (Array* array : {&below1, &below2, &below3}) array->reset((m + 3) * kLane);
  for (Array* array : {&right, &pivot}) array->reset(m * kLane);
  sampled.reset(line.samples * kLane);
  constexpr double kThird[] = {-1.0, 3.0, -3.0, 1.0};
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = a; b < 4; ++b)
      for (std::size_t j = a; j + 3 < m + a; ++j) penalty[(b - a) * m + j] += kThird[a] * kThird[b];
  if (line.gram) {
    std::copy(line.gram, line.gram + 4 * m, gram.data());
    return;
  }
  std::fill(gram.data(), gram.data() + m, 1.0);
  roughness.reset(line.samples);
  for (std::size_t i = 0; i < line.samples; ++i) {
    const double wave =
        2.0 - 2.0 * std::cos(std::numbers::pi * static_cast<double>(i) / static_cast<double>(line.samples));
    roughness[i] = wave * wave * wave;
  }
}

void penalised_fits(const Line& line, const Fits& fits, double* rss, double* trace, double* fitted) {
  Lanes lanes(line);
  for (std::size_t first = 0; first < fits.lam.size(); first += kLane) {
    const std::size_t count = std::min<std::size_t>(kLane, fits.lam.size() - first);
    double lam[kLane], squares[kLane], traces[kLane];
    std::int64_t column[kLane];
    for (std::size_t lane = 0; lane < kLane; ++lane) {
      // Lanes without a fit of their own repeat the last one.
      const std::size_t at = first + std::min(lane, count - 1);
      lam[lane] = fits.lam[at];
      column[lane] = fits.column[at];
    }
    loops().fit(line, lanes, lam, column, squares, traces);
    std::copy(squares, squares + count, rss + first);
    std::copy(traces, traces + count, trace + first);
    if (!fitted) continue;
    for (std::size_t lane = 0; lane < count; ++lane)
      for (std::size_t i = 0; i < line.samples; ++i)
        fitted[(first + lane) * line.samples + i] = lanes.sampled[i * kLane + lane];
  }
}

}  // namespace exactsindy
