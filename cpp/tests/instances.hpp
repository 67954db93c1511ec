// Random instances of every kind the search has to survive, and their solution by enumeration.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "search/solve.hpp"
#include "tests/check.hpp"

namespace exactsindy::tests {

using Rng = std::mt19937_64;

inline double normal(Rng& rng) { return std::normal_distribution<double>()(rng); }
inline double uniform(Rng& rng, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(rng);
}
inline int integer(Rng& rng, int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); }
inline bool chance(Rng& rng, double p) { return uniform(rng, 0.0, 1.0) < p; }
inline double power_of_ten(Rng& rng, double low, double high) { return std::pow(10.0, uniform(rng, low, high)); }

// What the caller of the search has: a triangular factor (row-major), the target's part in it and below it, the ridge.
struct Data {
  int n;
  std::vector<double> factor, target, rest, ridge;

  explicit Data(int columns)
      : n(columns), factor(static_cast<std::size_t>(n) * n, 0.0), target(n, 0.0), ridge(n, 0.0) {}

  double& at(int i, int j) { return factor[static_cast<std::size_t>(i) * n + j]; }
  double at(int i, int j) const { return factor[static_cast<std::size_t>(i) * n + j]; }
  Factor view() const { return {factor.data(), static_cast<std::size_t>(n), target, rest, ridge}; }
  Instance instance() const { return Instance::from_factor(view()); }

  void copy_column(int from, int to) {
    for (int i = 0; i < n; ++i) at(i, to) = i <= from ? at(i, from) : 0.0;
  }
  void add_to_target(double scale, int column) {
    for (int i = 0; i <= column; ++i) target[i] += scale * at(i, column);
  }
};

inline Data random_triangle(Rng& rng, int n) {
  Data data(n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i <= j; ++i) data.at(i, j) = normal(rng) + (i == j ? 2.0 : 0.0);
  for (double& z : data.target) z = normal(rng);
  data.rest = {normal(rng), normal(rng)};
  return data;
}

// Some columns become almost multiples of earlier ones, at a relative distance of 10^low to 10^high.
inline void make_collinear(Rng& rng, Data& data, double low, double high) {
  for (int j = 1; j < data.n; ++j) {
    if (!chance(rng, 0.5)) continue;
    const int other = integer(rng, 0, j - 1);
    const double distance = power_of_ten(rng, low, high);
    data.copy_column(other, j);
    for (int i = 0; i <= j; ++i) data.at(i, j) += distance * normal(rng);
  }
}

inline void rescale(Rng& rng, Data& data, double low, double high) {
  for (int j = 0; j < data.n; ++j) {
    const double scale = power_of_ten(rng, low, high);
    for (int i = 0; i <= j; ++i) data.at(i, j) *= scale;
  }
}

// A combination of a few columns plus noise (0: exact up to rounding).
inline void sparse_target(Rng& rng, Data& data, int terms, double noise) {
  for (double& z : data.target) z = noise * normal(rng);
  for (int t = 0; t < terms; ++t) data.add_to_target(normal(rng), integer(rng, 0, data.n - 1));
  for (double& y : data.rest) y *= noise;
}

inline void ridge_of_columns(Rng& rng, Data& data, double low, double high, double share) {
  for (int j = 0; j < data.n; ++j) {
    double square = 0.0;
    for (int i = 0; i <= j; ++i) square += data.at(i, j) * data.at(i, j);
    data.ridge[j] = chance(rng, share) ? square * power_of_ten(rng, low, high) : 0.0;
  }
}

// Small integers: many supports tie exactly, columns are often dependent or zero.
inline Data integer_triangle(Rng& rng, int n, int top) {
  Data data(n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i <= j; ++i) data.at(i, j) = integer(rng, -top, top);
  for (double& z : data.target) z = integer(rng, -top, top);
  return data;
}

// One instance of a random family; `kind` names it.
inline Data any_data(Rng& rng, int n, std::string& kind) {
  const int family = integer(rng, 0, 10);
  Data data = random_triangle(rng, n);
  switch (family) {
    case 0:
      kind = "plain";
      break;
    case 1:
      kind = "integers";
      data = integer_triangle(rng, n, integer(rng, 1, 3));
      break;
    case 2:
      kind = "collinear";
      make_collinear(rng, data, -10.0, -2.0);
      break;
    case 3:
      kind = "scaled, collinear";
      make_collinear(rng, data, -8.0, -1.0);
      rescale(rng, data, -8.0, 8.0);
      break;
    case 4:
      kind = "sparse target";
      sparse_target(rng, data, integer(rng, 1, 4), power_of_ten(rng, -16.0, 0.0));
      break;
    case 5:
      kind = "sparse target, collinear";
      make_collinear(rng, data, -9.0, -1.0);
      sparse_target(rng, data, integer(rng, 1, 4), power_of_ten(rng, -16.0, 0.0));
      break;
    case 6:
      kind = "duplicates";
      for (int j = 1; j < n; ++j)
        if (chance(rng, 0.3)) data.copy_column(integer(rng, 0, j - 1), j);
      if (chance(rng, 0.5)) sparse_target(rng, data, integer(rng, 1, 3), chance(rng, 0.5) ? 0.0 : 1e-6);
      break;
    case 7:
      kind = "exact integers";
      data = integer_triangle(rng, n, integer(rng, 1, 4));
      std::fill(data.target.begin(), data.target.end(), 0.0);
      for (int t = integer(rng, 1, 4); t > 0; --t) data.add_to_target(integer(rng, -3, 3), integer(rng, 0, n - 1));
      break;
    case 8:
      kind = "hardly explained";
      make_collinear(rng, data, -9.0, -1.0);
      for (double& z : data.target) z *= power_of_ten(rng, -12.0, -2.0);
      break;
    case 9:
      kind = "at the threshold of dependence";
      make_collinear(rng, data, -15.5, -11.0);
      if (chance(rng, 0.7)) sparse_target(rng, data, integer(rng, 1, 4), power_of_ten(rng, -16.0, 0.0));
      if (chance(rng, 0.3)) rescale(rng, data, -8.0, 8.0);
      break;
    default:
      kind = "few samples";
      for (int i = integer(rng, 1, n); i < n; ++i) {
        for (int j = i; j < n; ++j) data.at(i, j) = 0.0;
        data.target[i] = 0.0;
      }
      data.rest.clear();
  }
  if (chance(rng, 0.4)) {
    kind += ", ridge";
    ridge_of_columns(rng, data, -15.0, 2.0, chance(rng, 0.7) ? 1.0 : 0.5);
  }
  return data;
}

using Support = std::vector<int>;

// All increasing supports of `size` columns out of `columns`.
inline std::vector<Support> supports_of(int columns, int size) {
  std::vector<Support> all;
  if (size > columns) return all;
  Support now(size);
  std::iota(now.begin(), now.end(), 0);
  for (;;) {
    all.push_back(now);
    int i = size - 1;
    while (i >= 0 && now[i] == columns - size + i) --i;
    if (i < 0) return all;
    ++now[i];
    for (int l = i + 1; l < size; ++l) now[l] = now[l - 1] + 1;
  }
}

inline Fit fitted(Refitter& refitter, const Support& support) {
  Fit fit;
  refitter.fit(support, fit);
  return fit;
}

// Every admissible support of exactly `size` columns, best first.
inline std::vector<Answer> enumerate(const Instance& instance, int size) {
  Refitter refitter(instance);
  std::vector<Answer> all;
  for (const Support& support : supports_of(instance.columns, size)) {
    const Fit fit = fitted(refitter, support);
    if (fit.admissible()) all.push_back(answer_of(fit));
  }
  std::sort(all.begin(), all.end(), [](const Answer& a, const Answer& b) { return better(a, b); });
  return all;
}

inline std::vector<Outcome> solve_one(const Data& data, int size, Options options = {}, const Watch& watch = {},
                                      std::vector<Support> starts = {}) {
  const std::vector<Request> requests{{data.view(), size, std::move(starts)}};
  return solve(requests, options, watch).front().outcomes;
}

}  // namespace exactsindy::tests
