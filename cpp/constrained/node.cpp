#include "constrained/node.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "constrained/search.hpp"

namespace exactsindy::constrained {

namespace {

constexpr double kClosed = 1e-13;  // a node is closed when its bound is this close to the value of its support
constexpr double kTight = 1e-11;

}  // namespace

Ground::Ground(const System& s, const LogicRows& logic, const Space& coordinates, int constraint_rows)
    : system(s), rows(logic), space(coordinates), removable(s.variables, 1) {
  for (const PresenceRow& row : rows.rows)
    if (std::all_of(row.coefs.begin(), row.coefs.end(), [](int c) { return c == 1; })) budgets.push_back(&row);
  for (int i = 0; i < constraint_rows; ++i)
    for (std::size_t j = 0; j < rows.rows[i].variables.size(); ++j)
      if (rows.rows[i].coefs[j] < 0) removable[rows.rows[i].variables[j]] = 0;
  for (int v = 0; v < s.variables; ++v) removable[v] = removable[v] && s.least[v] == 0.0;
  zero_rows.reserve(s.equal_count);
  for (int c = 0; c < s.equal_count; ++c) {
    if (s.equal_rhs[c] != 0.0) continue;
    std::vector<int> row;
    row.reserve(4);
    for (int v = 0; v < s.variables; ++v)
      if (s.equal_row(c)[v] != 0.0) row.push_back(v);
    zero_rows.push_back({c, std::move(row)});
  }
}

Explorer::Explorer(Search& search, const Ground& ground, const Bound& bound, Answers& answers)
    : search_(search),
      ground_(ground),
      system_(ground.system),
      space_(ground.space),
      answers_(answers),
      bound_(bound),
      inequalities_(system_, space_),
      fitter_(system_, bound_),
      used_(system_.variables, 0),
      pivot_(space_.stride()),
      omega_(std::max(system_.rows, 1)),
      scratch_(space_.stride()) {}

void Explorer::start(Node&& root) {
  if (levels_.empty()) levels_.emplace_back();
  levels_[0] = std::make_unique<Node>(std::move(root));
}

void Explorer::explore(Task&& task) {
  if (levels_.empty()) levels_.emplace_back();
  levels_[0] = std::move(task.node);
  if (decide(*levels_[0], task.term, Flag::kOut)) explore(0);
}

// Position of the free term whose loss costs most, -1 if no free term has a coefficient.
int Explorer::branching(const Node& n, const NodeSolution& s) const {
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

int Explorer::undecided_sign(const Node& n, const NodeSolution& s) const {
  for (std::size_t p = 0; p < n.frame.variables.size(); ++p) {
    const int v = n.frame.variables[p];
    if (n.logic[v] == Flag::kIn && n.sign[v] == 0 && std::abs(s.x[p]) < system_.least[v]) return v;
  }
  return -1;
}

std::vector<int> Explorer::included(const Node& n) const {
  std::vector<int> in;
  for (int v = 0; v < system_.variables; ++v)
    if (n.logic[v] == Flag::kIn) in.push_back(v);
  return in;
}

Node& Explorer::level(int depth) {
  while (static_cast<int>(levels_.size()) <= depth)
    levels_.push_back(std::make_unique<Node>(Node{{}, Logic(ground_.rows), {}, {}}));
  return *levels_[depth];
}

void Explorer::copy(const Node& from, Node& to) const {
  space_.assign(from.frame, to.frame);
  to.logic = from.logic;
  to.box = from.box;
  to.sign = from.sign;
}

// Explore the child of a node that was put on the next level; see Node for `leaves_out`.
void Explorer::descend(Node& n, int leaves_out, int depth) {
  n.leaves_out = leaves_out;
  n.given = false;
  n.remaining = -1.0;
  explore(depth + 1);
}

// Hand what is still to come of the highest node to another worker.
void Explorer::give(int depth) {
  for (int i = 0; i < depth; ++i) {
    Node& n = *levels_[i];
    if (n.leaves_out < 0 || n.given) continue;
    Task task{std::make_unique<Node>(Node{{}, n.logic, {}, {}}), n.frame.variables[n.leaves_out], remaining_bound(n)};
    copy(n, *task.node);
    n.given = true;
    return search_.give(std::move(task));
  }
}

// Explore a node with either sign of a term that must have a certain size.
void Explorer::both_signs(Node& n, int v, int depth) {
  for (const char sign : {1, -1}) {
    if (search_.stopped()) {
      answers_.leave_open(open_bound(n));
      continue;
    }
    Node& child = level(depth + 1);
    copy(n, child);
    child.sign[v] = sign;
    interval(child, v);
    if (child.box.lo[v] <= child.box.hi[v]) descend(n, -1, depth);
  }
}

void Explorer::explore(int depth) {
  Node& n = level(depth);
  for (;;) {
    if (search_.pause(*this, depth)) return answers_.leave_open(open_bound(n));
    if (search_.hungry()) give(depth);
    inequalities_.solve(n.frame, n.box, node_solution_);
    if (node_solution_.infeasible) {
      if (bound_.infeasible(node_solution_.multipliers, n.frame.variables, n.box, answers_.cut()) ||
          fitter_.infeasible(n.frame.variables, n.box, node_solution_.active, answers_.cut()))
        return;
      node_solution_.value = n.frame.base;
      std::copy_n(n.frame.r.data(), space_.stride(), node_solution_.r.data());
      for (int c = 0; c < system_.equal_count; ++c)
        node_solution_.multipliers.equal[c] = {n.frame.r[space_.tag(c)], 0.0};
      for (Double2& m : node_solution_.multipliers.below) m = {};
    }
    if (certainly_above(n, node_solution_)) return;
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
      if (search_.stopped()) return answers_.leave_open(open_bound(n));
      if (!decide(n, v_free, Flag::kIn)) return;
      continue;
    }
    const int v = n.frame.variables[position];
    if (!forced(n, position)) {
      Node& child = level(depth + 1);
      copy(n, child);
      if (decide(child, v, Flag::kIn)) {
        descend(n, position, depth);
        if (n.given) return;
      }
      if (search_.stopped()) return answers_.leave_open(open_bound(n));
      if (!decide(n, v, Flag::kOut)) return;
    } else if (!decide(n, v, Flag::kIn)) {
      return;
    }
  }
}

// The terms in alone, if the logic lets all others be absent. True: the node holds nothing better. The bounds that are
// left open here depend on the node alone, not on what was found before, so that they are those of any order.
bool Explorer::leaf(Node& n) {
  const std::vector<int> in = included(n);
  bool decided = true;
  for (int v = 0; v < system_.variables; ++v) decided = decided && n.logic[v] != Flag::kFree;
  if (!allowed(ground_.rows, in, static_cast<int>(ground_.rows.rows.size()))) return decided;
  const double value = node_solution_.value, own = value * (1.0 + kBlur);
  if (ground_.postpone && value > kRough * system_.z_norm * system_.z_norm && !node_solution_.infeasible) {
    // If it was taken note of as a candidate, all that is left is to say that the node holds nothing below this bound.
    const auto fitted = answers_.known(in);
    const bool noted = fitted ? fitted->error.hi < kInf : value > answers_.cut() || answers_.noted(in);
    const double bound = noted ? std::min(bound_of(n, node_solution_, own), own) : -kInf;
    if (bound >= value * (1.0 - kTight)) {
      answers_.leave_open(bound);
      return true;
    }
  }
  double error = kInf, lower = kInf;
  bool known = true;
  if (const auto before = answers_.known(in)) {
    error = before->error.hi, lower = before->lower;
  } else {
    fitter_.fit(in, n.box, kInf, fit_);
    known = fit_.known;
    if (fit_.counts) error = fit_.error.hi, lower = fit_.lower;
    answers_.remember(fit_, ground_.postpone);
    // With signs chosen otherwise the coefficients may be within their limits.
    for (std::size_t p = 0; p < in.size() && fit_.feasible && !fit_.counts && split_ < 0; ++p)
      if (system_.least[in[p]] > 0.0 && n.sign[in[p]] == 0) split_ = in[p];
    if (split_ >= 0) return false;
  }
  if (decided) {
    if (!known) answers_.leave_unknown();
    answers_.leave_open(known ? lower : open_bound(n));
    return true;
  }
  if (error == kInf) return false;
  // A free term without a coefficient adds nothing to count, unless it has to have a certain size once it is present:
  // then supports with it are others, and may be the next best.
  for (int v = 0; v < system_.variables; ++v)
    if (n.logic[v] == Flag::kFree && system_.least[v] > 0.0) return false;
  const double near = error * (1.0 + kBlur);
  double bound = bound_of(n, node_solution_, near);
  if (!(bound >= error * (1.0 - kClosed))) bound = std::max(bound, refined(n, near));
  if (!(bound >= error * (1.0 - kClosed))) return false;
  answers_.leave_open(std::min(bound, error));
  return true;
}

}  // namespace exactsindy::constrained
