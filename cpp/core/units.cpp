#include "core/units.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace exactsindy {

int norm_exponent(std::span<const double> v, double extra) {
  double top = std::abs(extra);
  for (double x : v) top = std::max(top, std::abs(x));
  if (top == 0.0) return 0;
  const int shift = std::ilogb(top);
  double sum = std::ldexp(extra, -shift) * std::ldexp(extra, -shift);
  const double factor = std::abs(shift) < 1000 ? std::ldexp(1.0, -shift) : 0.0;
  for (double x : v) {
    const double y = factor != 0.0 ? x * factor : std::ldexp(x, -shift);
    sum += y * y;
  }
  int e = 0;
  std::frexp(std::sqrt(sum) * (1.0 + 1e-12), &e);
  return e + shift;
}

double Units::objective(Double2 error) const {
  return std::isfinite(error.hi) ? std::ldexp((rest + error).hi, 2 * target_exponent) : error.hi;
}

double Units::remainder(Double2 error) const {
  return std::isfinite(error.hi) ? std::ldexp((rest + error).lo, 2 * target_exponent) : 0.0;
}

double Units::lower(double error) const {
  if (!std::isfinite(error)) return error;
  const double sum = (rest + Double2{std::max(error, 0.0), 0.0}).hi;
  const double value = std::ldexp(sum > 0.0 ? std::nextafter(sum, 0.0) : 0.0, 2 * target_exponent);
  // Below the normal doubles ldexp rounds to the nearest: one more step down.
  return value < 2.0 * std::numeric_limits<double>::min() ? std::nextafter(value, 0.0) : value;
}

double Units::error(double limit) const {
  const double total = std::ldexp(limit, -2 * target_exponent);
  return std::isfinite(total) ? std::max((Double2{total, 0.0} - rest).hi + 4.0 * kEps * total, 0.0) : kInf;
}

std::vector<int> Units::support(const std::vector<int>& columns) const {
  std::vector<int> out;
  for (int j : columns) out.push_back(original[j]);
  return out;
}

std::vector<double> Units::coefficients(const Answer& answer) const {
  std::vector<double> out;
  for (std::size_t i = 0; i < answer.support.size(); ++i)
    out.push_back(std::ldexp(answer.coef[i], target_exponent - exponent[answer.support[i]]));
  return out;
}

Snapshot in_units(const Snapshot& snapshot, const Units& units) {
  return {units.objective({snapshot.incumbent, 0.0}), units.lower(snapshot.lower), units.support(snapshot.support)};
}

}  // namespace exactsindy
