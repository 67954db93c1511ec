// What a decision does to a node, and the bounds that prune it.
#include <algorithm>
#include <cmath>
#include <utility>

#include "constrained/search.hpp"

namespace exactsindy::constrained {

namespace {

constexpr int kRefined = 64;  // nodes with more terms are not refined in double-double

}  // namespace

void Explorer::intervals() {
  for (int v = 0; v < system_.variables; ++v) interval(root(), v);
}

// The interval of a variable as its node knows it.
void Explorer::interval(Node& n, int v) const {
  if (n.logic[v] == Flag::kOut || system_.inert[v]) {
    n.box.lo[v] = n.box.hi[v] = 0.0;
    return;
  }
  n.box.lo[v] = std::max(system_.lower[v], -system_.most[v]);
  n.box.hi[v] = std::min(system_.upper[v], system_.most[v]);
  const double least = system_.least[v];
  if (least == 0.0 || n.logic[v] != Flag::kIn) return;
  if (n.sign[v] == 0) n.sign[v] = n.box.lo[v] > -least ? 1 : n.box.hi[v] < least ? -1 : 0;
  if (n.sign[v] > 0) n.box.lo[v] = std::max(n.box.lo[v], least);
  if (n.sign[v] < 0) n.box.hi[v] = std::min(n.box.hi[v], -least);
}

bool Explorer::decide(Node& n, int v, Flag value) {
  if (!n.logic.set(v, value)) return false;
  return impose(n) == State::kOpen;
}

// Carry out what the logic has decided: terms leave the frame, costliest first, until the node may be pruned.
Explorer::State Explorer::impose(Node& n) {
  bool outs = false;
  for (n.logic.take_changes(changes_); !changes_.empty(); n.logic.take_changes(changes_))
    for (int v : changes_) {
      const double lo = n.box.lo[v], hi = n.box.hi[v];
      interval(n, v);
      if (n.box.lo[v] > n.box.hi[v]) return State::kPruned;
      if (n.logic[v] != Flag::kOut) continue;
      if (lo > 0.0 || hi < 0.0) return State::kPruned;
      outs = true;
      if (!lonely(n, v)) return State::kPruned;
    }
  while (outs) {
    int position = -1;
    double costliest = -1.0;
    for (std::size_t p = 0; p < n.frame.variables.size(); ++p) {
      if (n.logic[n.frame.variables[p]] != Flag::kOut) continue;
      const double drop = n.frame.square[p] > 0.0 ? n.frame.beta[p] * n.frame.beta[p] / n.frame.square[p] : 0.0;
      if (drop > costliest) costliest = drop, position = static_cast<int>(p);
    }
    if (position < 0) break;  // (inert ones were never in)
    double beta = 0.0;
    if (!space_.exclude(n.frame, position, pivot_.data(), beta) && std::abs(beta) > 1e-12) {
      Multipliers m;
      for (int c = 0; c < system_.equal_count; ++c)
        m.equal.push_back({beta > 0.0 ? pivot_[space_.tag(c)] : -pivot_[space_.tag(c)], 0.0});
      if (bound_.infeasible(m, n.frame.variables, n.box, answers_.cut()) ||
          fitter_.infeasible(n.frame.variables, n.box, {}, answers_.cut()))
        return State::kPruned;
    }
    const double cut = answers_.cut();
    if (n.frame.base > cut) {
      from_frame(n);
      if (bound_.above(omega_.data(), multipliers_, n.frame.variables, n.box, cut)) return State::kPruned;
    }
  }
  return State::kOpen;
}

// A term has left: where it leaves another one alone in an equality with 0, that one has no coefficient, and supports
// with it are as good as those without it. False: it was decided to be in, so the node holds nothing that counts.
bool Explorer::lonely(Node& n, int v) {
  for (const ZeroRow& row : ground_.zero_rows) {
    if (system_.equal_row(row.equality)[v] == 0.0) continue;
    int left = -1, count = 0;
    for (int u : row.terms)
      if (n.logic[u] != Flag::kOut) left = u, ++count;
    if (count != 1 || !ground_.removable[left]) continue;
    if (n.logic[left] == Flag::kIn || !n.logic.set(left, Flag::kOut)) return false;
  }
  return true;
}

// The residual and the multipliers of the frame alone.
void Explorer::from_frame(const Node& n) {
  multipliers_.equal.resize(system_.equal_count);
  multipliers_.below.clear();
  for (int c = 0; c < system_.equal_count; ++c) multipliers_.equal[c] = {n.frame.r[space_.tag(c)], 0.0};
  space_.data_residual(n.frame.r.data(), omega_.data());
}

// Safe bound from the frame alone.
double Explorer::open_bound(Node& n) {
  from_frame(n);
  const double cut = answers_.cut();
  return std::max(0.0, bound_.value(omega_.data(), nullptr, multipliers_, n.frame.variables, n.box, cut));
}

// Safe bound, from the frame alone, of what is left of a node without the term at a position.
double Explorer::bound_without(Node& n, int position) {
  const double square = n.frame.square[position];
  if (!(square > 0.0)) return open_bound(n);
  const int v = n.frame.variables[position];
  std::copy_n(n.frame.r.data(), space_.stride(), scratch_.data());
  space_.axpy(n.frame.beta[position] / square, space_.vector(n.frame, position), scratch_.data());
  multipliers_.equal.resize(system_.equal_count);
  multipliers_.below.clear();
  for (int c = 0; c < system_.equal_count; ++c) multipliers_.equal[c] = {scratch_[space_.tag(c)], 0.0};
  space_.data_residual(scratch_.data(), omega_.data());
  const double lo = std::exchange(n.box.lo[v], 0.0), hi = std::exchange(n.box.hi[v], 0.0);
  const double value = bound_.value(omega_.data(), nullptr, multipliers_, n.frame.variables, n.box, answers_.cut());
  n.box.lo[v] = lo, n.box.hi[v] = hi;
  return std::max(0.0, value);
}

double Explorer::remaining_bound(Node& n) {
  if (n.remaining < 0.0) n.remaining = n.leaves_out < 0 ? open_bound(n) : bound_without(n, n.leaves_out);
  return n.remaining;
}

// Every support that this worker has still to look at is in the node at `depth`, which is about to be explored, or in
// what is still to come of the nodes above it. (A bound that was asked for under an earlier cut is one for errors up to
// that cut.)
double Explorer::current_bound(int depth, double enough) {
  if (depth < 0) return kInf;
  double bound = open_bound(*levels_[depth]);
  for (int i = 0; i < depth && bound > enough; ++i)
    if (!levels_[i]->given) bound = std::min(bound, remaining_bound(*levels_[i]));
  return bound;
}

// Safe bound of a node from its solution, for errors up to a cut.
double Explorer::bound_of(Node& n, const NodeSolution& s, double cut) {
  space_.data_residual(s.r.data(), omega_.data());
  return std::max(0.0, bound_.value(omega_.data(), nullptr, s.multipliers, n.frame.variables, n.box, cut));
}

// The same from a fit of all terms of the node in double-double; 0 if it has too many.
double Explorer::refined(Node& n, double cut) {
  if (n.frame.variables.size() > kRefined) return 0.0;
  std::vector<int> all = n.frame.variables;
  std::sort(all.begin(), all.end());
  Fit fit;
  fitter_.fit(all, n.box, cut, fit);
  if (!fit.known) return 0.0;
  return fit.feasible ? (fit.dependent ? 0.0 : fit.lower) : kInf;
}

// Whether everything in a node is certainly above the cut.
bool Explorer::certainly_above(Node& n, const NodeSolution& s) {
  const double cut = answers_.cut();
  if (!(s.value > cut)) return false;
  space_.data_residual(s.r.data(), omega_.data());
  return bound_.above(omega_.data(), s.multipliers, n.frame.variables, n.box, cut) || refined(n, cut) > cut;
}

// Whether leaving out the term at a position is certainly too costly.
bool Explorer::forced(Node& n, int position) {
  const double x = node_solution_.x[position], square = n.frame.square[position], cut = answers_.cut();
  if (!(square > 0.0) || !(node_solution_.value + x * x / square > cut)) return false;
  const int v = n.frame.variables[position];
  std::copy_n(node_solution_.r.data(), space_.stride(), scratch_.data());
  space_.axpy(x / square, space_.vector(n.frame, position), scratch_.data());
  multipliers_ = node_solution_.multipliers;
  for (int c = 0; c < system_.equal_count; ++c) multipliers_.equal[c] = {scratch_[space_.tag(c)], 0.0};
  space_.data_residual(scratch_.data(), omega_.data());
  const double lo = n.box.lo[v], hi = n.box.hi[v];
  n.box.lo[v] = n.box.hi[v] = 0.0;
  const bool above = bound_.above(omega_.data(), multipliers_, n.frame.variables, n.box, cut);
  n.box.lo[v] = lo, n.box.hi[v] = hi;
  return above;
}

}  // namespace exactsindy::constrained
