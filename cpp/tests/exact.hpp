// Exact arithmetic on doubles, as an oracle: a number is a sum of doubles that do not overlap (Shewchuk 1997), so sums
// and products carry no error at all (as long as nothing over- or underflows).
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/dd.hpp"
#include "search/refit.hpp"

namespace exactsindy::tests {

class Exact {
 public:
  Exact() = default;
  Exact(double x) {  // NOLINT: a double is an exact number
    if (x != 0.0) parts_.push_back(x);
  }
  Exact(Double2 x) : Exact(x.hi) { grow(x.lo); }

  friend Exact operator+(Exact a, const Exact& b) {
    for (double x : b.parts_) a.grow(x);
    return a;
  }
  friend Exact operator-(Exact a) {
    for (double& x : a.parts_) x = -x;
    return a;
  }
  friend Exact operator-(const Exact& a, const Exact& b) { return a + (-b); }
  friend Exact operator*(const Exact& a, const Exact& b) {
    Exact out;
    for (double x : a.parts_)
      for (double y : b.parts_) {
        const double p = x * y;
        out.grow(std::fma(x, y, -p));
        out.grow(p);
      }
    return out;
  }

  // The parts do not overlap and grow in size: the last one has the sign, and their sum in order is correct to an ulp.
  double rounded() const {
    double sum = 0.0;
    for (double x : parts_) sum += x;
    return sum;
  }
  int sign() const { return parts_.empty() ? 0 : parts_.back() > 0.0 ? 1 : -1; }
  friend bool operator<=(const Exact& a, const Exact& b) { return (a - b).sign() <= 0; }
  friend bool operator==(const Exact& a, const Exact& b) { return (a - b).sign() == 0; }

 private:
  void grow(double x) {
    std::size_t kept = 0;
    for (double part : parts_) {
      // Knuth's two-sum, not the one under test.
      const double s = x + part, from = s - x, rest = (x - (s - from)) + (part - from);
      if (rest != 0.0) parts_[kept++] = rest;
      x = s;
    }
    parts_.resize(kept);
    if (x != 0.0) parts_.push_back(x);
  }
  std::vector<double> parts_;
};

using ExactMatrix = std::vector<std::vector<Exact>>;

// Laplace expansion: exact, and fast enough up to order six.
inline Exact determinant(const ExactMatrix& m) {
  if (m.empty()) return Exact(1.0);
  if (m.size() == 1) return m[0][0];
  Exact sum;
  for (std::size_t j = 0; j < m.size(); ++j) {
    ExactMatrix minor;
    for (std::size_t i = 1; i < m.size(); ++i) {
      minor.push_back(m[i]);
      minor.back().erase(minor.back().begin() + static_cast<long>(j));
    }
    const Exact term = m[0][j] * determinant(minor);
    sum = j % 2 == 0 ? sum + term : sum - term;
  }
  return sum;
}

// The least-squares value of a support as a quotient of determinants: [G b; b' zz] over G, G = A'A + ridge.
struct ExactValue {
  Exact above, below;

  ExactValue(const Instance& in, const std::vector<int>& support) {
    const auto dot = [&](const double* a, const double* b) {
      Exact sum;
      for (int i = 0; i < in.rows; ++i) sum = sum + Exact(a[i]) * Exact(b[i]);
      return sum;
    };
    ExactMatrix gram;
    for (int i : support) {
      gram.emplace_back();
      for (int j : support) gram.back().push_back(dot(in.column(i), in.column(j)) + Exact(i == j ? in.ridge[i] : 0.0));
    }
    below = determinant(gram);
    ExactMatrix bordered = gram;
    bordered.emplace_back();
    for (std::size_t i = 0; i < support.size(); ++i) {
      const Exact b = dot(in.column(support[i]), in.z.data());
      bordered[i].push_back(b);
      bordered.back().push_back(b);
    }
    bordered.back().push_back(dot(in.z.data(), in.z.data()));
    above = determinant(bordered);
  }

  double rounded() const { return above.rounded() / below.rounded(); }
  // given - value, without cancellation.
  double excess(Double2 given) const { return (Exact(given) * below - above).rounded() / below.rounded(); }
};

}  // namespace exactsindy::tests
