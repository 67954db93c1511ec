#include "constrained/tied_tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace exactsindy::constrained {

namespace {

constexpr double kTight = 1e-8;      // the value of a support is known to this by its bound
constexpr double kResolved = 1e-14;  // the same after a fit; where next to nothing is left, the general fit says more
constexpr std::size_t kMostLeaves = 64;
constexpr int kCorrections = 2;

}  // namespace

TiedTree::TiedTree(TiedColumns& columns, Answers& answers, std::int64_t most_nodes)
    : columns_(columns),
      answers_(answers),
      kernels_(kernels()),
      count_(columns.count()),
      stride_(columns.stride()),
      level_size_(static_cast<std::size_t>(count_ + 1) * stride_),
      most_nodes_(most_nodes),
      pivot_(stride_),
      scratch_(stride_) {
  levels_.take((count_ + 2) * level_size_);
  leaves_.reserve(16);
}

bool TiedTree::run() {
  const Set all = count_ == 32 ? ~Set{0} : (Set{1} << count_) - 1;
  greedy(all);
  if (!lost_) explore(columns_.root(), 0, all, 0);
  return !lost_ && settle();
}

// The columns of rows that have too many terms.
TiedTree::Set TiedTree::crowded(Set alive) const {
  Set found = 0;
  for (int b = 0; b < columns_.budgets(); ++b) {
    int sum = 0;
    Set own = 0;
    for (Set left = alive; left; left &= left - 1) {
      const int h = std::countr_zero(left), terms = columns_.terms(b, h);
      sum += terms;
      if (terms) own |= Set{1} << h;
    }
    if (sum > columns_.limit(b)) found |= own;
  }
  return found;
}

// The columns for which those decided to be in leave no room.
TiedTree::Set TiedTree::no_room(Set alive, Set in) const {
  Set found = 0;
  for (int b = 0; b < columns_.budgets(); ++b) {
    int room = columns_.limit(b);
    for (Set left = in; left; left &= left - 1) room -= columns_.terms(b, std::countr_zero(left));
    for (Set left = alive & ~in; left; left &= left - 1)
      if (columns_.terms(b, std::countr_zero(left)) > room) found |= left & -left;
  }
  return found;
}

int TiedTree::terms(Set columns) const {
  int sum = 0;
  for (; columns; columns &= columns - 1) sum += columns_.size(std::countr_zero(columns));
  return sum;
}

// How much the value rises without a column.
double TiedTree::cost(const double* node, int h) const {
  const double y = minus_y(node)[h], square = node[static_cast<std::size_t>(h) * (stride_ + 1)];
  return square > 0.0 ? y * y / square : 0.0;
}

const double* TiedTree::drop(const double* node, int depth, int h) {
  const double* row = node + static_cast<std::size_t>(h) * stride_;
  double* to = level(depth);
  const double scale = row[h] > 0.0 ? 1.0 / std::sqrt(row[h]) : 0.0;
  for (int j = 0; j < stride_; ++j) pivot_[j] = row[j] * scale;
  kernels_.include(node, to, stride_, count_ + 1, pivot_.data());
  for (int j = 0; j <= count_; ++j)
    to[static_cast<std::size_t>(h) * stride_ + j] = to[static_cast<std::size_t>(j) * stride_ + h] = 0.0;
  return to;
}

bool TiedTree::above(const double* y, Set alive) {
  const double cut = answers_.cut();
  return columns_.value(y, alive, cut).lower > cut;
}

// Whether everything without a column is certainly above the cut.
bool TiedTree::costs_too_much(const double* node, Set alive, int h) {
  const double* row = node + static_cast<std::size_t>(h) * stride_;
  const double* y = minus_y(node);
  const double share = y[h] / row[h];
  for (int j = 0; j < stride_; ++j) scratch_[j] = y[j] - share * row[j];
  scratch_[h] = scratch_[count_] = 0.0;
  return above(scratch_.data(), alive & ~(Set{1} << h));
}

// Leave out what costs least until the rest is allowed.
void TiedTree::greedy(Set alive) {
  const double* node = columns_.root();
  for (int depth = 0; Set from = crowded(alive); depth ^= 1) {
    int cheapest = -1;
    double least = kInf;
    for (; from; from &= from - 1) {
      const int h = std::countr_zero(from);
      if (const double own = cost(node, h); own < least) least = own, cheapest = h;
    }
    if (cheapest < 0) return;
    node = drop(node, depth, cheapest);
    alive &= ~(Set{1} << cheapest);
  }
  leaf(node, alive);
}

void TiedTree::explore(const double* node, int depth, Set alive, Set in) {
  while (!lost_) {
    if (++nodes_ > most_nodes_) lost_ = true;
    for (Set out = no_room(alive, in); out;) {
      int dearest = -1;
      double most = -1.0;
      for (Set left = out; left; left &= left - 1) {
        const int h = std::countr_zero(left);
        if (const double own = cost(node, h); own > most) most = own, dearest = h;
      }
      if (dearest < 0) return void(lost_ = true);
      node = drop(node, depth, dearest);
      alive &= ~(Set{1} << dearest), out &= ~(Set{1} << dearest);
      if (-minus_y(node)[count_] > answers_.cut() && above(minus_y(node), alive)) return;
    }
    if (!crowded(alive)) return leaf(node, alive);
    int dearest = -1;
    double most = -1.0;
    for (Set left = alive & ~in; left; left &= left - 1) {
      const int h = std::countr_zero(left);
      if (const double own = cost(node, h); own > most) most = own, dearest = h;
    }
    if (dearest < 0) return void(lost_ = true);
    const Set own = Set{1} << dearest;
    if (!(-minus_y(node)[count_] + most > answers_.cut() && costs_too_much(node, alive, dearest))) {
      explore(node, depth + 1, alive, in | own);
      if (lost_) return;
      node = drop(node, depth, dearest);
      alive &= ~own;
      if (-minus_y(node)[count_] > answers_.cut() && above(minus_y(node), alive)) return;
      continue;
    }
    in |= own;
  }
}

// A support that is allowed: no part of it fits better.
void TiedTree::leaf(const double* node, Set alive) {
  for (const Leaf& known : leaves_)
    if (known.columns == alive) return;
  std::copy_n(minus_y(node), stride_, scratch_.data());
  scratch_[count_] = 0.0;
  const double own = -minus_y(node)[count_] * (1.0 + kBlur);
  // (Points with a larger value than what is asked about are above that.)
  const auto ask = [&](double cut) {
    TiedColumns::Value answer = columns_.value(scratch_.data(), alive, cut);
    answer.lower = std::min(answer.lower, cut);
    return answer;
  };
  TiedColumns::Value known = ask(own);
  for (int i = 0; i < kCorrections && !(known.lower >= known.value * (1.0 - kTight)); ++i) {
    std::copy_n(columns_.gradient(), count_, pivot_.data());
    std::fill(pivot_.data() + count_, pivot_.data() + stride_, 0.0);
    for (Set left = alive; left; left &= left - 1) {
      const int h = std::countr_zero(left);
      const double* row = node + static_cast<std::size_t>(h) * stride_;
      double by = 0.0;
      for (Set other = alive; other; other &= other - 1)
        by += row[std::countr_zero(other)] * pivot_[std::countr_zero(other)];
      scratch_[h] -= by;
    }
    known = ask(known.value * (1.0 + kBlur));
  }
  const double cut = answers_.cut();
  if (known.lower > cut) return;
  // Where coefficients are too large for the support to count, parts of it may still do.
  if (leaves_.size() == kMostLeaves || !columns_.within_limits(scratch_.data(), alive)) return void(lost_ = true);
  Leaf found{alive, known.value, known.lower, false, false};
  if (known.lower >= known.value * (1.0 - kTight)) {
    found.estimated = known.value <= cut;
    if (found.estimated) answers_.estimate(columns_.support(alive), known.value * (1.0 + kBlur));
  } else if (!fit(found)) {
    return void(lost_ = true);
  }
  leaves_.push_back(found);
}

bool TiedTree::fit(Leaf& leaf) {
  if (!columns_.fit(leaf.columns, fit_) || !fit_.counts) return false;
  if (!(fit_.lower >= fit_.error.hi * (1.0 - kResolved))) return false;
  if (leaf.estimated && fit_.error.hi > leaf.value * (1.0 + kBlur)) return false;
  leaf.fitted = true;
  leaf.lower = fit_.lower;
  answers_.remember(fit_, true);
  answers_.leave_open(fit_.lower);
  return true;
}

// Fit what may be among the answers. False: the answer has fewer terms than some support whose parts were not looked
// at.
bool TiedTree::settle() {
  std::sort(leaves_.begin(), leaves_.end(), [](const Leaf& a, const Leaf& b) { return a.value < b.value; });
  for (Leaf& leaf : leaves_)
    if (!leaf.fitted && leaf.lower <= answers_.cut() && !fit(leaf)) return false;
  const int best = static_cast<int>(answers_.best_size());
  return std::none_of(leaves_.begin(), leaves_.end(),
                      [&](const Leaf& leaf) { return leaf.lower <= answers_.cut() && terms(leaf.columns) > best; });
}

}  // namespace exactsindy::constrained
