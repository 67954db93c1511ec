#include "assembly/smoother.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

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
}

namespace {

// Samples of a part of a long line, beside those by which parts overlap; shorter lines stay whole.
constexpr std::size_t kPart = 8192, kLong = 4 * kPart;
// A change at one sample reaches others by exp(-distance / (2 lam^(1/6))): this many lam^(1/6) away it is below 1e-17.
constexpr double kReach = 78.0;
// Frequencies that are summed for a trace: more do not change it (see below).
constexpr std::size_t kFrequencies = 16384;

// (2 - 2 cos(pi i / count))^3
std::vector<double> roughness(std::size_t count) {
  std::vector<double> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double wave = 2.0 - 2.0 * std::cos(std::numbers::pi * static_cast<double>(i) / static_cast<double>(count));
    result[i] = wave * wave * wave;
  }
  return result;
}

// The traces without splines. The terms f(pi i / n) are those of a periodic analytic function, whose mean over equal
// steps does not depend on the number of steps n but for a factor exp(-n / lam^(1/6)): long lines need no more than
// kFrequencies. The ends i = 0 and i = n count half in that mean.
void traces(const std::vector<double>& rough, std::size_t n, const double* lam, double* trace) {
  loops().traces(rough.data(), rough.size(), lam, trace);
  if (rough.size() == n) return;
  const double ratio = static_cast<double>(n) / static_cast<double>(rough.size());
  for (int lane = 0; lane < kLane; ++lane) {
    const double ends = 0.5 * (1.0 - 1.0 / (1.0 + 64.0 * lam[lane]));
    trace[lane] = ratio * (trace[lane] - ends) + ends;
  }
}

// Part after part of a line with these eight pairs.
void fit_parts(const Line& line, const double* lam, const std::int64_t* column, double* rss, double* trace,
               std::size_t count, double* fitted) {
  const std::size_t n = line.samples;
  const double reach = kReach * std::pow(*std::max_element(lam, lam + kLane), 1.0 / 6.0);
  const std::size_t margin = reach < static_cast<double>(n) ? static_cast<std::size_t>(reach) + 16 : n;
  const bool whole = line.gram || n <= kLong || kPart + 2 * margin >= n;
  const std::size_t length = whole ? n : kPart + 2 * margin, step = whole ? n : kPart;
  Line part = line;
  part.stride = n;
  part.samples = length;
  if (!line.gram) part.coefficients = length;
  Lanes lanes(part);
  std::fill(rss, rss + kLane, 0.0);
  for (std::size_t begin = 0; begin < n; begin += step) {
    const std::size_t end = std::min(begin + step, n);
    const std::size_t low = whole ? 0 : std::min(begin > margin ? begin - margin : 0, n - length);
    double squares[kLane];
    part.values = line.values + low;
    if (!line.gram) part.moments = part.values;
    part.first = begin - low;
    part.last = end - low;
    loops().fit(part, lanes, lam, column, squares, trace);
    for (int lane = 0; lane < kLane; ++lane) rss[lane] += squares[lane];
    if (!fitted) continue;
    for (std::size_t lane = 0; lane < count; ++lane)
      for (std::size_t i = part.first; i < part.last; ++i) fitted[lane * n + low + i] = lanes.sampled[i * kLane + lane];
  }
}

}  // namespace

void penalised_fits(const Line& line, const Fits& fits, double* rss, double* trace, double* fitted) {
  const std::vector<double> rough = line.gram ? std::vector<double>() : roughness(std::min(line.samples, kFrequencies));
  for (std::size_t first = 0; first < fits.lam.size(); first += kLane) {
    const std::size_t count = std::min<std::size_t>(kLane, fits.lam.size() - first);
    double lam[kLane], squares[kLane], degrees[kLane];
    std::int64_t column[kLane];
    for (std::size_t lane = 0; lane < kLane; ++lane) {
      // Lanes without a fit of their own repeat the last one.
      const std::size_t at = first + std::min(lane, count - 1);
      lam[lane] = fits.lam[at];
      column[lane] = fits.column[at];
    }
    fit_parts(line, lam, column, squares, degrees, count, fitted ? fitted + first * line.samples : nullptr);
    if (!line.gram) traces(rough, line.samples, lam, degrees);
    std::copy(squares, squares + count, rss + first);
    std::copy(degrees, degrees + count, trace + first);
  }
}

}  // namespace exactsindy
