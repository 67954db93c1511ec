#include "constrained/support_rows.hpp"

#include <algorithm>
#include <cmath>

namespace exactsindy::constrained {

namespace {

constexpr double kConsistent = 1e-10;

}  // namespace

void SupportRows::start(std::span<const int> support) {
  support_.assign(support.begin(), support.end());
  rows_.clear();
  for (int c = 0; c < system_.equal_count; ++c) {
    const double* equality = system_.equal_row(c);
    const bool empty = std::all_of(support_.begin(), support_.end(), [&](int v) { return equality[v] == 0.0; });
    if (empty && system_.equal_rhs[c] == 0.0) continue;
    Row row;
    row.equality = c;
    row.coefs.assign(support_.size(), 0.0);
    for (std::size_t p = 0; p < support_.size(); ++p) row.coefs[p] = equality[support_[p]];
    row.rhs = system_.equal_rhs[c];
    normalise(row);
    rows_.push_back(std::move(row));
  }
}

// Scale by a power of two so that the largest entry is about 1, also where columns of very different size meet.
void SupportRows::normalise(Row& row) {
  double top = 0.0;
  for (double c : row.coefs) top = std::max(top, std::abs(c));
  if (top == 0.0) return;
  const int shift = std::ilogb(top) + 1;
  for (double& c : row.coefs) c = std::ldexp(c, -shift);
  row.rhs = std::ldexp(row.rhs, -shift);
  row.factor = std::ldexp(1.0, -shift);
}

void SupportRows::add(const Active& which, const Box& box) {
  Row row;
  row.what = which;
  row.coefs.assign(support_.size(), 0.0);
  if (which.row >= 0) {
    for (std::size_t p = 0; p < support_.size(); ++p) row.coefs[p] = system_.below_row(which.row)[support_[p]];
    row.rhs = system_.below_rhs[which.row];
  } else {
    const auto at = std::lower_bound(support_.begin(), support_.end(), which.variable) - support_.begin();
    row.coefs[at] = which.upper ? 1.0 : -1.0;
    row.rhs = which.upper ? box.hi[which.variable] : -box.lo[which.variable];
  }
  normalise(row);
  rows_.push_back(std::move(row));
}

bool SupportRows::held(const Active& which) const {
  return std::any_of(rows_.begin(), rows_.end(), [&](const Row& r) {
    return r.what.row == which.row && r.what.variable == which.variable && r.what.upper == which.upper;
  });
}

bool SupportRows::eliminate() {
  const int s = static_cast<int>(support_.size()), c = count();
  reduced_.assign(c * width(), {});
  pivot_.assign(c, -1);
  for (int i = 0; i < c; ++i) {
    for (int p = 0; p < s; ++p) reduced(i)[p] = {rows_[i].coefs[p], 0.0};
    reduced(i)[s] = {rows_[i].rhs, 0.0};
    reduced(i)[s + 1 + i] = {1.0, 0.0};
  }
  std::vector<char> used(s, 0);
  for (int step = 0; step < c; ++step) {
    int row = -1, column = -1;
    double top = kDependent;
    for (int i = 0; i < c; ++i)
      for (int p = 0; p < s && pivot_[i] < 0; ++p)
        if (!used[p] && std::abs(entry(i, p).hi) > top) top = std::abs(entry(i, p).hi), row = i, column = p;
    if (row < 0) break;
    pivot_[row] = column;
    used[column] = 1;
    const std::span<Double2> pivots = reduced(row);
    const Double2 inverse = Double2{1.0, 0.0} / pivots[column];
    for (Double2& x : pivots)
      if (x.hi != 0.0) x = x * inverse;
    pivots[column] = {1.0, 0.0};
    for (int i = 0; i < c; ++i) {
      const std::span<Double2> other = reduced(i);
      const Double2 factor = other[column];
      if (i == row || factor.hi == 0.0) continue;
      for (std::size_t p = 0; p < other.size(); ++p)
        if (pivots[p].hi != 0.0) other[p] = other[p] - factor * pivots[p];
      other[column] = {};
    }
  }
  free_.clear();
  for (int p = 0; p < s; ++p)
    if (!used[p]) free_.push_back(p);
  for (int i = 0; i < c; ++i) {
    if (pivot_[i] >= 0 || inequality(i)) continue;
    double size = std::abs(rows_[i].rhs);
    for (int j = 0; j < c; ++j) size += std::abs(made_of(i)[j].hi * rows_[j].rhs);
    if (std::abs(rhs(i).hi) > kConsistent * size) return false;
  }
  return true;
}

bool SupportRows::satisfied(const std::vector<Double2>& x) const {
  double top = 0.0;
  for (const Double2& value : x) top = std::max(top, kRounding * std::abs(value.hi));
  for (const Row& row : rows_) {
    double sum = -row.rhs, size = std::abs(row.rhs);
    for (std::size_t p = 0; p < support_.size(); ++p) {
      sum += row.coefs[p] * x[p].hi;
      size += std::abs(row.coefs[p] * x[p].hi) + std::abs(row.coefs[p]) * top;
    }
    if (std::abs(sum) > kConsistent * size) return false;
  }
  return true;
}

Multipliers SupportRows::multipliers(std::span<const Double2> of_rows) const {
  Multipliers found;
  found.equal.assign(system_.equal_count, {});
  found.below.assign(system_.below_count, {});
  for (int i = 0; i < count(); ++i) {
    const Double2 value = of_rows[i] * Double2{rows_[i].factor, 0.0};
    if (rows_[i].what.row >= 0)
      found.below[rows_[i].what.row] = value.hi > 0.0 ? value : Double2{};
    else if (!inequality(i))
      found.equal[rows_[i].equality] = value;
  }
  return found;
}

}  // namespace exactsindy::constrained
