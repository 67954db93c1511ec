#include "core/outcome.hpp"

#include <algorithm>
#include <cmath>

namespace exactsindy {

double Answer::upper() const {
  const double root = std::sqrt(error.hi) + blur;
  return error.hi == 0.0 ? 0.0 : std::max(error.hi, root * root) * (1.0 + 8.0 * kEps);
}

double Answer::lower() const {
  const double root = std::sqrt(error.hi) * (1.0 - 2.0 * kEps) - blur;
  // Where the blur is far below the last bit, the error itself is known to that bit.
  if (blur < kEps * kEps * std::sqrt(error.hi)) return error.hi * (1.0 - 2.0 * kEps);
  return root > 0.0 ? root * root * (1.0 - 4.0 * kEps) : 0.0;
}

// The noise of a fit is absolute in the residual norm, so the spacing of its square grows with the norm.
Double2 Answer::key() const { return quantise(error, grain * std::sqrt(error.hi)); }

bool better(const Answer& a, const Answer& b) {
  const Double2 left = a.key(), right = b.key();
  if (!(left == right)) return left < right;
  if (a.support.size() != b.support.size()) return a.support.size() < b.support.size();
  return a.support < b.support;
}

}  // namespace exactsindy
