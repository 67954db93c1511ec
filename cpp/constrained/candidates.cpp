// Supports that the search under constraints looks at: near the solutions of nodes, by elimination, and those given.
#include <algorithm>
#include <cmath>
#include <utility>

#include "constrained/search.hpp"

namespace exactsindy::constrained {

namespace {

constexpr double kClear = 0.5;  // coefficients below this share of their limit are within it, whatever rounding did
constexpr std::size_t kMostSigns = 6;  // of a rival that are tried in all combinations

}  // namespace

// A support near the node's own solution, where the logic allows one.
void Explorer::candidate(const Node& n, const NodeSolution& s) {
  if (s.value > answers_.cut()) return;
  double top = 0.0;
  for (double x : s.x) top = std::max(top, std::abs(x));
  std::size_t nonzero = 0;
  for (int v = 0; v < system_.variables; ++v) used_[v] = n.logic[v] == Flag::kIn;
  for (std::size_t p = 0; p < n.frame.variables.size(); ++p)
    if (std::abs(s.x[p]) > kZero * top) used_[n.frame.variables[p]] = 1, ++nonzero;
  for (const PresenceRow* row : ground_.budgets) {  // most nodes have too many terms: seen without copying anything
    int count = 0;
    for (int v : row->variables) count += used_[v];
    if (count > row->limit) return;
  }
  Logic trial = n.logic;
  for (std::size_t p = 0; p < n.frame.variables.size(); ++p)
    if (std::abs(s.x[p]) > kZero * top && !trial.set(n.frame.variables[p], Flag::kIn)) return;
  if (!trial.complete()) return;
  std::vector<int> support;
  for (int v = 0; v < system_.variables; ++v)
    if (trial[v] == Flag::kIn) support.push_back(v);
  // Where every term has a coefficient its value is that of the node: known well enough to cut with until it is fitted.
  bool sure = ground_.postpone && support.size() == nonzero && s.value > kRough * system_.z_norm * system_.z_norm;
  for (std::size_t p = 0; p < n.frame.variables.size(); ++p)
    sure = sure && std::abs(s.x[p]) < kClear * system_.limit[n.frame.variables[p]];
  if (sure)
    answers_.estimate(std::move(support), s.value * (1.0 + kBlur));
  else
    try_support(support);
}

bool Explorer::settle() {
  bool right = true;
  for (const Estimate& e : answers_.take_estimates()) {
    try_support(e.support);
    // Wrong where rows tie a large coefficient to one so small that it was taken for zero.
    const auto fitted = answers_.known(e.support);
    right = right && fitted && fitted->error.hi <= e.value * (1.0 + kBlur);
  }
  return right;
}

void Explorer::try_support(const std::vector<int>& support) {
  if (answers_.known(support)) return;
  Box box{system_.lower, system_.upper};
  bool semi = false;
  for (int v : support) {
    box.lo[v] = system_.inert[v] ? 0.0 : std::max(box.lo[v], -system_.most[v]);
    box.hi[v] = system_.inert[v] ? 0.0 : std::min(box.hi[v], system_.most[v]);
    semi |= system_.least[v] > 0.0;
  }
  fitter_.fit(support, box, kInf, fit_);
  if (semi && fit_.known && fit_.feasible) {
    for (std::size_t p = 0; p < support.size(); ++p) {
      const int v = support[p];
      if (system_.least[v] == 0.0) continue;
      const bool positive = fit_.x[p].hi > 0.0 ? box.hi[v] >= system_.least[v] : box.lo[v] > -system_.least[v];
      if (positive)
        box.lo[v] = std::max(box.lo[v], system_.least[v]);
      else
        box.hi[v] = std::min(box.hi[v], -system_.least[v]);
    }
    fitter_.fit(support, box, kInf, fit_);
  }
  // (Where signs were only guessed, the support is looked at again.)
  answers_.remember(fit_, !semi);
}

bool Explorer::other_signs(const std::vector<int>& support, double error) {
  Box box{system_.lower, system_.upper};
  std::vector<int> open;
  for (int v : support) {
    box.lo[v] = system_.inert[v] ? 0.0 : std::max(box.lo[v], -system_.most[v]);
    box.hi[v] = system_.inert[v] ? 0.0 : std::min(box.hi[v], system_.most[v]);
    const double least = system_.least[v];
    if (least == 0.0) continue;
    if (box.lo[v] > -least)
      box.lo[v] = std::max(box.lo[v], least);
    else if (box.hi[v] < least)
      box.hi[v] = std::min(box.hi[v], -least);
    else
      open.push_back(v);
  }
  if (open.size() > kMostSigns) return true;
  for (unsigned signs = 0; !open.empty() && signs < 1u << open.size(); ++signs) {
    Box one = box;
    for (std::size_t i = 0; i < open.size(); ++i)
      (signs >> i & 1 ? one.lo : one.hi)[open[i]] = (signs >> i & 1 ? 1.0 : -1.0) * system_.least[open[i]];
    fitter_.fit(support, one, kInf, fit_);
    if (!fit_.known || (fit_.counts && fit_.error.hi < error * (1.0 - kBlur))) return true;
  }
  return false;
}

bool Explorer::contradiction(const std::vector<int>& columns) {
  Box all = root().box;
  std::fill(all.lo.begin(), all.lo.end(), -kInf), std::fill(all.hi.begin(), all.hi.end(), kInf);
  fitter_.fit(columns, all, kInf, fit_);
  return !fit_.feasible && fit_.known;
}

// Backward elimination from the root: leave out what costs least until the logic is satisfied. Terms are taken from the
// node itself as long as that goes well, and from then on from a copy.
void Explorer::greedy() {
  // (The levels of the tree are not in use yet.)
  copy(root(), level(1));
  std::vector<int> taken;
  bool careful = false;
  for (;;) {
    Node& n = *levels_[1];
    inequalities_.solve(n.frame, n.box, node_solution_);
    if (node_solution_.infeasible) return;
    const std::size_t before = answers_.count();
    candidate(n, node_solution_);
    if (answers_.count() > before) return;
    int cheapest = -1;
    double least = kInf;
    for (std::size_t p = 0; p < n.frame.variables.size(); ++p) {
      if (n.logic[n.frame.variables[p]] != Flag::kFree) continue;
      const double x = node_solution_.x[p], square = n.frame.square[p];
      const double drop = square > 0.0 ? x * x / square : (x == 0.0 ? 0.0 : kInf);
      if (drop < least) least = drop, cheapest = n.frame.variables[p];
    }
    if (cheapest < 0) return;
    if (careful) copy(n, level(2));
    if (decide(careful ? *levels_[2] : n, cheapest, Flag::kOut)) {
      if (careful)
        std::swap(levels_[1], levels_[2]);
      else
        taken.push_back(cheapest);
      continue;
    }
    if (!std::exchange(careful, true)) {
      copy(root(), n);
      for (int v : taken) decide(n, v, Flag::kOut);
    }
    if (!decide(n, cheapest, Flag::kIn)) return;
  }
}

}  // namespace exactsindy::constrained
