#include "constrained/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace exactsindy::constrained {

namespace {

constexpr double kClosed = 1e-13;  // a node is closed when its bound is this close to the value of its support
constexpr double kTight = 1e-11;
constexpr int kClockInterval = 32;  // nodes between two looks at the clock

}  // namespace

Search::Search(const System& system, const Options& options, Watch watch)
    : system_(system),
      options_(options),
      watch_(std::move(watch)),
      clock_(0.0, options.limits.tick),
      rows_(system.variables, system.presence) {}

Outcome Search::run(const std::vector<std::vector<int>>& starts) {
  Outcome out;
  const auto finish = [&] {
    out.nodes = nodes_;
    out.seconds = clock_.elapsed();
    return out;
  };
  out.lower = kInf;
  out.complete = true;
  Logic logic(rows_);
  if (!logic.start()) return finish();
  for (int v = 0; v < system_.variables; ++v)
    if (!(system_.lower[v] <= 0.0 && 0.0 <= system_.upper[v]) && !logic.set(v, Flag::kIn)) return finish();
  for (int v = 0; v < system_.variables; ++v)
    if (!system_.inert[v] && logic[v] != Flag::kOut) columns_.push_back(v);
  space_ = std::make_unique<Space>(system_, columns_);
  levels_.emplace_back();
  levels_[0].reset(new Node{{}, logic, {system_.lower, system_.upper}, std::vector<char>(system_.variables, 0)});
  Node& root = *levels_[0];
  int contradictory = -1;
  root.frame = space_->root(contradictory);
  bound_ = std::make_unique<Bound>(system_, *space_, root.frame);
  inequalities_ = std::make_unique<ActiveSet>(system_, *space_);
  fitter_ = std::make_unique<Fitter>(system_, *bound_);
  pivot_.reset(space_->stride());
  scratch_.reset(space_->stride());
  omega_.reset(std::max(system_.rows, 1));
  for (int v = 0; v < system_.variables; ++v) interval(root, v);
  root.logic.take_changes();
  used_.assign(system_.variables, 0);
  prepare_equalities();
  for (const PresenceRow& row : rows_.rows)
    if (std::all_of(row.coefs.begin(), row.coefs.end(), [](int c) { return c == 1; })) budgets_.push_back(&row);
  if (contradictory >= 0) {
    Box all = root.box;
    std::fill(all.lo.begin(), all.lo.end(), -kInf), std::fill(all.hi.begin(), all.hi.end(), kInf);
    fitter_->fit(columns_, all, kInf, fit_);
    if (!fit_.feasible && fit_.known) return finish();
  }
  for (const auto& start : starts) {
    Logic trial = root.logic;
    bool fits = true;
    for (int v : start) fits = fits && trial.set(v, Flag::kIn);
    if (!fits || !trial.complete()) continue;
    std::vector<int> support;
    for (int v = 0; v < system_.variables; ++v)
      if (trial[v] == Flag::kIn) support.push_back(v);
    try_support(support);
  }
  postpone_ = options_.keep == 0 && options_.within < 0.0 &&
              std::all_of(system_.least.begin(), system_.least.end(), [](double x) { return x == 0.0; });
  const Node fresh{space_->copy(root.frame), root.logic, root.box, root.sign};
  greedy(root);
  explore(0);
  if (!settle()) {  // (rare: coefficients of very different size tied together)
    postpone_ = false;
    seen_.clear();
    answers_.clear();
    cut_ = least_cut_ = open_ = kInf;
    copy(fresh, root);
    explore(0);
  }
  out.stop = stop_;
  if (stop_ == Stop::kNone && open_ == kInf && answers_.empty()) return finish();
  std::sort(answers_.begin(), answers_.end(), better);
  out.complete = stop_ == Stop::kNone && !overflow_;
  if (options_.within >= 0.0 && !answers_.empty()) {
    const double limit = (answers_[0].error + system_.rest).hi * (1.0 + options_.within);
    std::erase_if(answers_, [&](const Answer& a) { return (a.error + system_.rest).hi > limit; });
  }
  if (options_.keep > 0 && static_cast<int>(answers_.size()) > options_.keep) answers_.resize(options_.keep);
  out.lower = answers_.empty() ? open_ : std::min(open_, answers_[0].error.hi);
  if (options_.keep == 0 && options_.within < 0.0 && !answers_.empty()) {
    double rival = kInf;
    for (std::size_t i = 1; i < answers_.size() && rival == kInf; ++i)
      if (answers_[i].support.size() == answers_[0].support.size()) rival = answers_[i].error.hi;
    if (stop_ == Stop::kNone && options_.runner_up && rival <= least_cut_) out.runner_up = rival;
    answers_.resize(1);
  }
  out.answers = answers_;
  return finish();
}

void Search::prepare_equalities() {
  removable_.assign(system_.variables, 1);
  for (int i = 0; i < options_.constraint_rows; ++i)
    for (std::size_t j = 0; j < rows_.rows[i].variables.size(); ++j)
      if (rows_.rows[i].coefs[j] < 0) removable_[rows_.rows[i].variables[j]] = 0;
  zero_rows_.resize(system_.variables);
  for (int v = 0; v < system_.variables; ++v) removable_[v] = removable_[v] && system_.least[v] == 0.0;
  for (int c = 0; c < system_.equal_count; ++c) {
    if (system_.equal_rhs[c] != 0.0) continue;
    std::vector<int> row;
    for (int v = 0; v < system_.variables; ++v)
      if (system_.equal_row(c)[v] != 0.0) row.push_back(v);
    for (int v : row) zero_rows_[v].push_back(row);
  }
}

// Position of the free term whose loss costs most, -1 if no free term has a coefficient.
int Search::branching(const Node& n, const NodeSolution& s) const {
  double top = 0.0, costliest = -1.0;
  int chosen = -1;
  for (double x : s.x) top = std::max(top, std::abs(x));
  for (std::size_t p = 0; p < n.frame.variables.size(); ++p) {
    if (n.logic[n.frame.variables[p]] != Flag::kFree || std::abs(s.x[p]) <= kZero * top) continue;
    const double drop = n.frame.square[p] > 0.0 ? s.x[p] * s.x[p] / n.frame.square[p] : kInf;
    if (drop > costliest) costliest = drop, chosen = static_cast<int>(p);
  }
  return chosen;
}

int Search::undecided_sign(const Node& n, const NodeSolution& s) const {
  for (std::size_t p = 0; p < n.frame.variables.size(); ++p) {
    const int v = n.frame.variables[p];
    if (n.logic[v] == Flag::kIn && n.sign[v] == 0 && std::abs(s.x[p]) < system_.least[v]) return v;
  }
  return -1;
}

std::vector<int> Search::included(const Node& n) const {
  std::vector<int> in;
  for (int v = 0; v < system_.variables; ++v)
    if (n.logic[v] == Flag::kIn) in.push_back(v);
  return in;
}

Search::Node& Search::level(int depth) {
  while (static_cast<int>(levels_.size()) <= depth) {
    levels_.emplace_back();
    const Node& root = *levels_[0];
    levels_.back().reset(new Node{space_->copy(root.frame), root.logic, root.box, root.sign});
  }
  return *levels_[depth];
}

void Search::copy(const Node& from, Node& to) const {
  space_->assign(from.frame, to.frame);
  to.logic = from.logic;
  to.box = from.box;
  to.sign = from.sign;
}

bool Search::pause(int depth) {
  ++nodes_;
  if (stop_ != Stop::kNone) return true;
  const Limits& limits = options_.limits;
  if (limits.nodes > 0 && nodes_ > limits.nodes) stop_ = Stop::kNodes;
  if (nodes_ % kClockInterval == 0) {
    const double now = clock_.elapsed();
    if (limits.seconds > 0.0 && now > limits.seconds) stop_ = Stop::kTime;
    if (watch_ && clock_.due(now) && !watch_({snapshot(depth)}, nodes_, now)) stop_ = Stop::kInterrupted;
  }
  if (nodes_ == kLonely) update_cut();
  return stop_ != Stop::kNone;
}

// What the watch is shown. The value of a support that is not fitted yet is an estimate.
Snapshot Search::snapshot(int depth) {
  const bool estimated = !pending_.empty() && (answers_.empty() || pending_[0].value < answers_[0].error.hi);
  Snapshot now;
  now.lower = current_bound(depth);
  if (estimated)
    now.incumbent = pending_[0].value, now.support = pending_[0].support;
  else if (!answers_.empty())
    now.incumbent = answers_[0].error.hi, now.support = answers_[0].support;
  return now;
}

// Explore the child of a node that was put on the next level; see Node for `leaves_out`.
void Search::descend(Node& n, int leaves_out, int depth) {
  n.leaves_out = leaves_out;
  n.remaining = -1.0;
  explore(depth + 1);
}

// Explore a node with either sign of a term that must have a certain size.
void Search::both_signs(Node& n, int v, int depth) {
  for (const char sign : {1, -1}) {
    if (stop_ != Stop::kNone) {
      leave_open(open_bound(n));
      continue;
    }
    Node& child = level(depth + 1);
    copy(n, child);
    child.sign[v] = sign;
    interval(child, v);
    if (child.box.lo[v] <= child.box.hi[v]) descend(n, -1, depth);
  }
}

void Search::explore(int depth) {
  Node& n = level(depth);
  for (;;) {
    if (pause(depth)) return leave_open(open_bound(n));
    inequalities_->solve(n.frame, n.box, node_solution_);
    if (node_solution_.infeasible) {
      if (bound_->infeasible(node_solution_.multipliers, n.frame.variables, n.box, cut_) ||
          fitter_->infeasible(n.frame.variables, n.box, node_solution_.active, cut_))
        return;
      node_solution_.value = n.frame.base;
      std::copy_n(n.frame.r.data(), space_->stride(), node_solution_.r.data());
      for (int c = 0; c < system_.equal_count; ++c)
        node_solution_.multipliers.equal[c] = {n.frame.r[space_->tag(c)], 0.0};
      for (Double2& m : node_solution_.multipliers.below) m = {};
    }
    if (node_solution_.value > cut_ && certified(n, node_solution_, true) > cut_) return;
    int position = branching(n, node_solution_);
    if (!node_solution_.infeasible) candidate(n, node_solution_);
    if (position < 0) {
      split_ = undecided_sign(n, node_solution_);
      if (split_ < 0 && leaf(n)) return;
      if (split_ >= 0) return both_signs(n, split_, depth);
      // Terms without effect that the logic still has to decide about, or coefficients of rounding size.
      int v_free = -1;
      for (int u = 0; u < system_.variables && v_free < 0; ++u)
        if (n.logic[u] == Flag::kFree) v_free = u;
      if (v_free < 0) return;
      Node& child = level(depth + 1);
      copy(n, child);
      if (decide(child, v_free, Flag::kOut)) descend(n, -1, depth);
      if (stop_ != Stop::kNone) return leave_open(open_bound(n));
      if (!decide(n, v_free, Flag::kIn)) return;
      continue;
    }
    const int v = n.frame.variables[position];
    if (!forced(n, position)) {
      Node& child = level(depth + 1);
      copy(n, child);
      if (decide(child, v, Flag::kIn)) descend(n, position, depth);
      if (stop_ != Stop::kNone) return leave_open(open_bound(n));
      if (!decide(n, v, Flag::kOut)) return;
    } else if (!decide(n, v, Flag::kIn)) {
      return;
    }
  }
}

// The terms in alone, if the logic lets all others be absent. True: the node holds nothing better.
bool Search::leaf(Node& n) {
  const std::vector<int> in = included(n);
  bool decided = true;
  for (int v = 0; v < system_.variables; ++v) decided = decided && n.logic[v] != Flag::kFree;
  if (!allowed(rows_, in, static_cast<int>(rows_.rows.size()))) return decided;
  if (postpone_ && node_solution_.value > kRough * system_.z_norm * system_.z_norm && !node_solution_.infeasible) {
    // If it was taken note of as a candidate, all that is left is to say that the node holds nothing below this bound.
    const auto fitted = seen_.find(in);
    bool noted = fitted != seen_.end() ? fitted->second.error.hi < kInf : node_solution_.value > cut_;
    for (const Pending& p : pending_) noted = noted || p.support == in;
    const double bound = noted ? certified(n, node_solution_, false) : -kInf;
    if (bound >= node_solution_.value * (1.0 - kTight)) {
      leave_open(bound);
      return true;
    }
  }
  double error = kInf, lower = kInf;
  bool known = true;
  if (const auto before = seen_.find(in); before != seen_.end()) {
    error = before->second.error.hi, lower = before->second.lower;
  } else {
    fitter_->fit(in, n.box, kInf, fit_);
    known = fit_.known;
    if (postpone_ && known) seen_[in] = fit_.counts ? Known{fit_.error, fit_.lower} : Known{{kInf, 0.0}, kInf};
    if (fit_.counts) error = fit_.error.hi, lower = fit_.lower, offer(fit_);
    // With signs chosen otherwise the coefficients may be within their limits.
    for (std::size_t p = 0; p < in.size() && fit_.feasible && !fit_.counts && split_ < 0; ++p)
      if (system_.least[in[p]] > 0.0 && n.sign[in[p]] == 0) split_ = in[p];
    if (split_ >= 0) return false;
  }
  if (decided) {
    if (!known)
      leave_open(open_bound(n)), overflow_ = true;
    else
      leave_open(lower);
    return true;
  }
  if (error == kInf) return false;
  // A free term without a coefficient adds nothing to count, unless it has to have a certain size once it is present:
  // then supports with it are others, and may be the next best.
  for (int v = 0; v < system_.variables; ++v)
    if (n.logic[v] == Flag::kFree && system_.least[v] > 0.0) return false;
  double bound = certified(n, node_solution_, false);
  if (!(bound >= error * (1.0 - kClosed))) bound = certified(n, node_solution_, true);
  if (!(bound >= error * (1.0 - kClosed))) return false;
  leave_open(std::min(bound, error));
  return true;
}

}  // namespace exactsindy::constrained
