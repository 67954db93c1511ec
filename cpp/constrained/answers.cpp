// Answers of the constrained search: where they come from, which are kept, and what they let the search cut.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "constrained/search.hpp"

namespace exactsindy::constrained {

namespace {

constexpr double kBlur = 1e-6;
constexpr double kClear = 0.5;  // coefficients below this share of their limit are within it, whatever rounding did

double upper(Double2 error) { return error.hi * (1.0 + 4e-16); }

}  // namespace

// A support near the node's own solution, where the logic allows one.
void Search::candidate(const Node& n, const NodeSolution& s) {
  if (s.value > cut_) return;
  double top = 0.0;
  for (double x : s.x) top = std::max(top, std::abs(x));
  std::fill(used_.begin(), used_.end(), 0);
  std::size_t nonzero = 0;
  for (int v = 0; v < system_.variables; ++v) used_[v] = n.logic[v] == Flag::kIn;
  for (std::size_t p = 0; p < n.frame.variables.size(); ++p)
    if (std::abs(s.x[p]) > kZero * top) used_[n.frame.variables[p]] = 1, ++nonzero;
  for (const PresenceRow* row : budgets_) {  // most nodes have too many terms: seen without copying anything
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
  bool sure = postpone_ && support.size() == nonzero && s.value > kRough * system_.z_norm * system_.z_norm;
  for (std::size_t p = 0; p < n.frame.variables.size(); ++p)
    sure = sure && std::abs(s.x[p]) < kClear * system_.limit[n.frame.variables[p]];
  if (!sure) return try_support(support);
  if (seen_.contains(support)) return;
  // Another node may have estimated the same support too high.
  const double value = s.value * (1.0 + kBlur);
  const auto same =
      std::find_if(pending_.begin(), pending_.end(), [&](const Pending& p) { return p.support == support; });
  if (same != pending_.end() && same->value <= value) return;
  if (same != pending_.end())
    same->value = value;
  else
    pending_.push_back({std::move(support), value});
  std::sort(pending_.begin(), pending_.end(), [](const Pending& a, const Pending& b) { return a.value < b.value; });
  update_cut();
  std::erase_if(pending_, [&](const Pending& p) { return p.value > cut_ * (1.0 + kBlur); });
}

// Fit what was only estimated. False: an estimate that the search relied on was wrong.
bool Search::settle() {
  std::vector<Pending> all = std::exchange(pending_, {});
  const double used = least_cut_;
  bool right = true;
  for (const Pending& p : all) {
    if (!(p.value <= used * (1.0 + kBlur))) continue;
    try_support(p.support);
    // Wrong where rows tie a large coefficient to one so small that it was taken for zero.
    const auto found = seen_.find(p.support);
    right = right && found != seen_.end() && found->second.error.hi <= p.value * (1.0 + kBlur);
  }
  update_cut();
  return right;
}

void Search::try_support(const std::vector<int>& support) {
  if (seen_.contains(support)) return;
  if (seen_.size() > 100'000) seen_.clear();
  Box box{system_.lower, system_.upper};
  bool semi = false;
  for (int v : support) {
    box.lo[v] = system_.inert[v] ? 0.0 : std::max(box.lo[v], -system_.most[v]);
    box.hi[v] = system_.inert[v] ? 0.0 : std::min(box.hi[v], system_.most[v]);
    semi |= system_.least[v] > 0.0;
  }
  fitter_->fit(support, box, kInf, fit_);
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
    fitter_->fit(support, box, kInf, fit_);
  }
  // (Signs were only guessed: such supports, and those nothing is known of, are looked at again.)
  if (!semi && fit_.known) seen_[support] = fit_.counts ? Known{fit_.error, fit_.lower} : Known{{kInf, 0.0}, kInf};
  if (fit_.known && fit_.counts) offer(fit_);
}

void Search::offer(const Fit& fit) {
  const std::vector<int> smaller = reduced(system_, rows_, options_.constraint_rows, fit);
  Answer answer{fit.support, fit.coef, fit.error};
  if (smaller.size() < fit.support.size()) {
    if (options_.keep > 0 || options_.within >= 0.0) return;  // pools hold supports all of whose terms matter
    answer.support = smaller;
    answer.coef.clear();
    for (int v : smaller) {
      const auto at = std::lower_bound(fit.support.begin(), fit.support.end(), v) - fit.support.begin();
      answer.coef.push_back(fit.coef[at]);
    }
  }
  std::erase_if(pending_, [&](const Pending& p) { return p.support == fit.support || p.support == answer.support; });
  if (answer.error.hi > cut_) return;
  for (const Answer& a : answers_)
    if (a.support == answer.support && !better(answer, a)) return;
  std::erase_if(answers_, [&](const Answer& a) { return a.support == answer.support; });
  answers_.insert(std::upper_bound(answers_.begin(), answers_.end(), answer, better), std::move(answer));
  if (options_.keep == 0 && options_.within < 0.0) {
    std::map<std::size_t, int> count;  // two per size are enough
    std::erase_if(answers_, [&](const Answer& a) { return ++count[a.support.size()] > 2; });
  } else if (options_.keep > 0 && static_cast<int>(answers_.size()) > options_.keep) {
    answers_.resize(options_.keep);
  } else if (answers_.size() > options_.capacity) {
    answers_.resize(options_.capacity);
    overflow_ = true;
  }
  update_cut();
}

void Search::update_cut() {
  if (answers_.empty() && pending_.empty()) return;
  if (options_.within >= 0.0) {
    const double limit = (answers_[0].error + system_.rest).hi * (1.0 + options_.within) * (1.0 + 1e-15);
    cut_ = (Double2{limit, 0.0} - system_.rest).hi + 1e-15 * limit;
    if (answers_.size() >= options_.capacity) cut_ = std::min(cut_, upper(answers_.back().error));
  } else if (options_.keep > 0) {
    cut_ = static_cast<int>(answers_.size()) >= options_.keep ? upper(answers_.back().error) : kInf;
  } else {
    const bool estimated = !pending_.empty() && (answers_.empty() || pending_[0].value < upper(answers_[0].error));
    const std::size_t size = estimated ? pending_[0].support.size() : answers_[0].support.size();
    const double best = estimated ? pending_[0].value : upper(answers_[0].error);
    double rival = kInf;
    for (std::size_t i = estimated ? 0 : 1; i < answers_.size(); ++i)
      if (answers_[i].support.size() == size) rival = std::min(rival, upper(answers_[i].error));
    for (std::size_t i = estimated ? 1 : 0; i < pending_.size(); ++i)
      if (pending_[i].support.size() == size) rival = std::min(rival, pending_[i].value);
    cut_ = !options_.runner_up || (rival == kInf && nodes_ >= kLonely) ? best : rival;
  }
  least_cut_ = std::min(least_cut_, cut_);
}

// Backward elimination from the root: leave out what costs least until the logic is satisfied.
void Search::greedy(const Node& root) {
  // (The levels of the tree are not in use yet.)
  level(2);
  Node &n = *levels_[1], &trial = *levels_[2];
  copy(root, n);
  for (;;) {
    inequalities_->solve(n.frame, n.box, node_solution_);
    if (node_solution_.infeasible) return;
    const std::size_t before = answers_.size() + pending_.size();
    candidate(n, node_solution_);
    if (answers_.size() + pending_.size() > before) return;
    int cheapest = -1;
    double least = kInf;
    for (std::size_t p = 0; p < n.frame.variables.size(); ++p) {
      if (n.logic[n.frame.variables[p]] != Flag::kFree) continue;
      const double x = node_solution_.x[p], square = n.frame.square[p];
      const double drop = square > 0.0 ? x * x / square : (x == 0.0 ? 0.0 : kInf);
      if (drop < least) least = drop, cheapest = n.frame.variables[p];
    }
    if (cheapest < 0) return;
    copy(n, trial);
    if (decide(trial, cheapest, Flag::kOut)) {
      copy(trial, n);
    } else if (!decide(n, cheapest, Flag::kIn)) {
      return;
    }
  }
}

}  // namespace exactsindy::constrained
