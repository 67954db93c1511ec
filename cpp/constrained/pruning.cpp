// What a decision does to a node, and the bounds that prune it.
#include <algorithm>
#include <cmath>
#include <utility>

#include "constrained/search.hpp"

namespace exactsindy::constrained {

namespace {

constexpr int kRefined = 64;  // nodes with more terms are not refined in double-double

}  // namespace

// The interval of a variable as its node knows it.
void Search::interval(Node& n, int v) const {
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

bool Search::decide(Node& n, int v, Flag value) {
  if (!n.logic.set(v, value)) return false;
  return impose(n) == State::kOpen;
}

// Carry out what the logic has decided: terms leave the frame, costliest first, until the node may be pruned.
Search::State Search::impose(Node& n) {
  bool outs = false;
  for (std::vector<int> changes = n.logic.take_changes(); !changes.empty(); changes = n.logic.take_changes())
    for (int v : changes) {
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
    if (!space_->exclude(n.frame, position, pivot_.data(), beta) && std::abs(beta) > 1e-12) {
      Multipliers m;
      for (int c = 0; c < system_.equal_count; ++c)
        m.equal.push_back({beta > 0.0 ? pivot_[space_->tag(c)] : -pivot_[space_->tag(c)], 0.0});
      if (bound_->infeasible(m, n.frame.variables, n.box, cut_) ||
          fitter_->infeasible(n.frame.variables, n.box, {}, cut_))
        return State::kPruned;
    }
    if (n.frame.base > cut_ && open_bound(n) > cut_) return State::kPruned;
  }
  return State::kOpen;
}

// A term has left: where it leaves another one alone in an equality with 0, that one has no coefficient, and supports
// with it are as good as those without it. False: it was decided to be in, so the node holds nothing that counts.
bool Search::lonely(Node& n, int v) {
  for (const std::vector<int>& row : zero_rows_[v]) {
    int left = -1, count = 0;
    for (int u : row)
      if (n.logic[u] != Flag::kOut) left = u, ++count;
    if (count != 1 || !removable_[left]) continue;
    if (n.logic[left] == Flag::kIn || !n.logic.set(left, Flag::kOut)) return false;
  }
  return true;
}

// Safe bound from the frame alone.
double Search::open_bound(Node& n) {
  multipliers_.equal.resize(system_.equal_count);
  multipliers_.below.clear();
  for (int c = 0; c < system_.equal_count; ++c) multipliers_.equal[c] = {n.frame.r[space_->tag(c)], 0.0};
  space_->data_residual(n.frame.r.data(), omega_.data());
  return std::max(0.0, bound_->value(omega_.data(), nullptr, multipliers_, n.frame.variables, n.box, cut_));
}

// Safe bound, from the frame alone, of what is left of a node without the term at a position.
double Search::bound_without(Node& n, int position) {
  const double square = n.frame.square[position];
  if (!(square > 0.0)) return open_bound(n);
  const int v = n.frame.variables[position];
  std::copy_n(n.frame.r.data(), space_->stride(), scratch_.data());
  space_->axpy(n.frame.beta[position] / square, space_->vector(n.frame, position), scratch_.data());
  multipliers_.equal.resize(system_.equal_count);
  multipliers_.below.clear();
  for (int c = 0; c < system_.equal_count; ++c) multipliers_.equal[c] = {scratch_[space_->tag(c)], 0.0};
  space_->data_residual(scratch_.data(), omega_.data());
  const double lo = std::exchange(n.box.lo[v], 0.0), hi = std::exchange(n.box.hi[v], 0.0);
  const double value = bound_->value(omega_.data(), nullptr, multipliers_, n.frame.variables, n.box, cut_);
  n.box.lo[v] = lo, n.box.hi[v] = hi;
  return std::max(0.0, value);
}

// A lower bound of the best error while the node at `depth` is about to be explored. Every support is in that node, in
// what is still to come of the nodes above it, in a part that was left open or closed with a bound, or was excluded
// because its error is above a cut. (A bound that was asked for under an earlier cut is one for errors up to that cut.)
double Search::current_bound(int depth) {
  double bound = std::min({open_, least_cut_, open_bound(*levels_[depth])});
  for (int i = 0; i < depth && bound > shown_bound_; ++i) {
    Node& n = *levels_[i];
    if (n.remaining < 0.0) n.remaining = n.leaves_out < 0 ? open_bound(n) : bound_without(n, n.leaves_out);
    bound = std::min(bound, n.remaining);
  }
  if (!answers_.empty()) bound = std::min(bound, answers_.front().error.hi);
  if (std::isfinite(bound)) shown_bound_ = std::max(shown_bound_, bound);
  return shown_bound_;
}

double Search::certified(Node& n, const NodeSolution& s, bool refine) {
  space_->data_residual(s.r.data(), omega_.data());
  double value = std::max(0.0, bound_->value(omega_.data(), nullptr, s.multipliers, n.frame.variables, n.box, cut_));
  if (!refine || value > cut_ || n.frame.variables.size() > kRefined) return value;
  std::vector<int> all = n.frame.variables;
  std::sort(all.begin(), all.end());
  Fit fit;
  fitter_->fit(all, n.box, cut_, fit);
  if (!fit.known) return value;
  return fit.feasible ? (fit.dependent ? value : std::max(value, fit.lower)) : kInf;
}

// Whether leaving out the term at a position is certainly too costly.
bool Search::forced(Node& n, int position) {
  const double x = node_solution_.x[position], square = n.frame.square[position];
  if (!(square > 0.0) || !(node_solution_.value + x * x / square > cut_)) return false;
  const int v = n.frame.variables[position];
  std::copy_n(node_solution_.r.data(), space_->stride(), scratch_.data());
  space_->axpy(x / square, space_->vector(n.frame, position), scratch_.data());
  multipliers_ = node_solution_.multipliers;
  for (int c = 0; c < system_.equal_count; ++c) multipliers_.equal[c] = {scratch_[space_->tag(c)], 0.0};
  space_->data_residual(scratch_.data(), omega_.data());
  const double lo = n.box.lo[v], hi = n.box.hi[v];
  n.box.lo[v] = n.box.hi[v] = 0.0;
  const double value = bound_->value(omega_.data(), nullptr, multipliers_, n.frame.variables, n.box, cut_);
  n.box.lo[v] = lo, n.box.hi[v] = hi;
  return value > cut_;
}

}  // namespace exactsindy::constrained
