#include "constrained/supports.hpp"

#include <algorithm>
#include <cmath>

namespace exactsindy::constrained {

namespace {

constexpr double kExactZero = 0x1p-60;  // coefficients of double-double fits below this share of the largest are zero
constexpr double kHolds = 1e-10;        // rows hold to this share of what they add up
constexpr double kIdle = 0x1p-40;       // those below this share may be, but for the rounding of the stored numbers

// Takes terms off those counted as zero until a row holds without the others: a term too small for the data to show may
// be what a row needs.
void keep_for(const double* row, double rhs, bool equal, const Fit& fit, std::vector<char>& zero) {
  for (;;) {
    double sum = -rhs, size = std::abs(rhs), most = 0.0;
    int largest = -1;
    for (std::size_t p = 0; p < fit.support.size(); ++p) {
      const double part = row[fit.support[p]] * fit.x[p].hi;
      if (!zero[p])
        sum += part, size += std::abs(part);
      else if (std::abs(part) > most)
        most = std::abs(part), largest = static_cast<int>(p);
    }
    if (largest < 0 || (equal ? std::abs(sum) : sum) <= kHolds * size) return;
    zero[largest] = 0;
  }
}

// Which terms of a fit have the coefficient 0, but for rounding: bounds and all rows hold without them.
std::vector<char> vanishing(const System& system, const Fit& fit) {
  double top = 0.0;
  for (const Double2& x : fit.x) top = std::max(top, std::abs(x.hi));
  std::vector<char> zero(fit.support.size());
  for (std::size_t p = 0; p < fit.support.size(); ++p) {
    const int v = fit.support[p];
    const bool may = system.least[v] == 0.0 && system.lower[v] <= 0.0 && system.upper[v] >= 0.0;
    zero[p] = may && std::abs(fit.x[p].hi) <= kExactZero * top;
  }
  // A term that is kept for one row may break another.
  for (std::ptrdiff_t before = -1, left = 0; left != before;) {
    before = std::count(zero.begin(), zero.end(), 1);
    for (int i = 0; i < system.equal_count; ++i) keep_for(system.equal_row(i), system.equal_rhs[i], true, fit, zero);
    for (int i = 0; i < system.below_count; ++i) keep_for(system.below_row(i), system.below_rhs[i], false, fit, zero);
    left = std::count(zero.begin(), zero.end(), 1);
  }
  return zero;
}

Frame root_of(Space& space) {
  int contradictory = -1;
  return space.root(contradictory);
}

}  // namespace

std::vector<int> reduced(const System& system, const LogicRows& rows, int constraint_rows, const Fit& fit) {
  const std::vector<char> without = vanishing(system, fit);
  std::vector<int> kept, zero;
  for (std::size_t p = 0; p < fit.support.size(); ++p) (without[p] ? zero : kept).push_back(fit.support[p]);
  if (zero.empty() || allowed(rows, kept, constraint_rows)) return kept;
  std::vector<int> support = fit.support;
  for (auto it = zero.rbegin(); it != zero.rend(); ++it) {
    std::vector<int> trial = support;
    std::erase(trial, *it);
    if (allowed(rows, trial, constraint_rows)) support = std::move(trial);
  }
  return support;
}

// (Without columns the bound knows no reaches, and the fitter takes those of each support.)
Supports::Supports(const System& system, int constraint_rows)
    : system_(system),
      constraint_rows_(constraint_rows),
      rows_(system.variables, system.presence),
      space_(system, {}),
      root_(root_of(space_)),
      bound_(system, space_, root_),
      fitter_(system, bound_) {}

Fitted Supports::fit(const std::vector<int>& support) {
  Box box{system_.lower, system_.upper};
  for (int v : support) {
    box.lo[v] = system_.inert[v] ? 0.0 : std::max(box.lo[v], -system_.most[v]);
    box.hi[v] = system_.inert[v] ? 0.0 : std::min(box.hi[v], system_.most[v]);
  }
  Fitted out;
  signs(support, box, out);
  return out;
}

// The best fit in a box, over both signs of every term that must have a certain size.
void Supports::signs(const std::vector<int>& support, const Box& box, Fitted& out) {
  Fit fit;
  fitter_.fit(support, box, kInf, fit);
  if (!fit.known) out.known = false;
  if (!fit.known || !fit.feasible) return;
  const auto halves = [&](int v) {
    for (const double sign : {1.0, -1.0}) {
      Box half = box;
      if (sign > 0.0)
        half.lo[v] = std::max(half.lo[v], system_.least[v]);
      else
        half.hi[v] = std::min(half.hi[v], -system_.least[v]);
      if (half.lo[v] <= half.hi[v]) signs(support, half, out);
    }
  };
  if (out.feasible && fit.lower > out.answer.error.hi) {
    out.lower = std::min(out.lower, fit.lower);
    return;
  }
  for (std::size_t p = 0; p < support.size(); ++p) {
    const int v = support[p];
    const double least = system_.least[v];
    if (least == 0.0 || box.lo[v] >= least || box.hi[v] <= -least) continue;
    // (Where coefficients exceed their limits, those with the other sign may not.)
    if (std::abs(fit.x[p].hi) < least || !fit.counts) return halves(v);
  }
  if (!fit.counts) return;
  out.lower = std::min(out.lower, fit.lower);
  if (out.feasible && !(fit.error < out.answer.error)) return;
  out.feasible = true;
  out.answer.support = reduced(system_, rows_, constraint_rows_, fit);
  out.answer.error = fit.error;
  out.answer.coef.clear();
  for (int v : out.answer.support) {
    const auto at = std::lower_bound(support.begin(), support.end(), v) - support.begin();
    out.answer.coef.push_back(fit.coef[at]);
  }
  leave_idle(fit, box, out.answer);
}

// Coefficients that are zero but for rounding: if the terms may go and the value stays the same, the smaller support is
// meant.
void Supports::leave_idle(const Fit& fit, const Box& box, Answer& answer) {
  double top = 0.0;
  for (const Double2& x : fit.x) top = std::max(top, std::abs(x.hi));
  std::vector<int> kept;
  for (std::size_t p = 0; p < fit.support.size(); ++p)
    if (std::abs(fit.x[p].hi) > kIdle * top || system_.least[fit.support[p]] > 0.0) kept.push_back(fit.support[p]);
  if (kept.size() >= answer.support.size() || !allowed(rows_, kept, constraint_rows_)) return;
  Fit fewer;
  fitter_.fit(kept, box, kInf, fewer);
  if (!fewer.known || !fewer.feasible || (fewer.error - fit.error).hi > std::ldexp(fit.error.hi, -70)) return;
  answer = {kept, fewer.coef, fewer.error};
}

}  // namespace exactsindy::constrained
