#include "constrained/answers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "constrained/supports.hpp"

namespace exactsindy::constrained {

namespace {

constexpr std::size_t kMostSeen = 100'000;

double upper(Double2 error) { return error.hi * (1.0 + 4e-16); }

}  // namespace

std::optional<Known> Answers::known(const std::vector<int>& support) const {
  const std::lock_guard lock(mutex_);
  const auto found = seen_.find(support);
  return found == seen_.end() ? std::nullopt : std::optional(found->second);
}

bool Answers::noted(const std::vector<int>& support) const {
  const std::lock_guard lock(mutex_);
  if (const auto found = seen_.find(support); found != seen_.end()) return found->second.error.hi < kInf;
  return std::any_of(estimates_.begin(), estimates_.end(), [&](const Estimate& e) { return e.support == support; });
}

bool Answers::empty() const {
  const std::lock_guard lock(mutex_);
  return answers_.empty();
}

std::size_t Answers::best_size() const {
  const std::lock_guard lock(mutex_);
  return answers_.empty() ? 0 : answers_[0].support.size();
}

std::size_t Answers::count() const {
  const std::lock_guard lock(mutex_);
  return answers_.size() + estimates_.size();
}

void Answers::remember(const Fit& fit, bool final) {
  const std::lock_guard lock(mutex_);
  if (final && fit.known) {
    if (seen_.size() > kMostSeen) seen_.clear();
    seen_[fit.support] = fit.counts ? Known{fit.error, fit.lower} : Known{{kInf, 0.0}, kInf};
  }
  if (fit.known && fit.counts) offer(fit);
}

void Answers::offer(const Fit& fit) {
  const std::vector<int> smaller = reduced(system_, rows_, options_.constraint_rows, fit);
  Answer answer{fit.support, fit.coef, fit.error};
  if (smaller.size() < fit.support.size()) {
    if (options_.pool()) return;  // pools hold supports all of whose terms matter
    answer.support = smaller;
    answer.coef.clear();
    for (int v : smaller) {
      const auto at = std::lower_bound(fit.support.begin(), fit.support.end(), v) - fit.support.begin();
      answer.coef.push_back(fit.coef[at]);
    }
  }
  std::erase_if(estimates_, [&](const Estimate& e) { return e.support == fit.support || e.support == answer.support; });
  if (answer.error.hi > cut()) return;
  for (const Answer& a : answers_)
    if (a.support == answer.support && !better(answer, a)) return;
  std::erase_if(answers_, [&](const Answer& a) { return a.support == answer.support; });
  answers_.insert(std::upper_bound(answers_.begin(), answers_.end(), answer, better), std::move(answer));
  if (!options_.pool()) {
    std::map<std::size_t, int> count;  // two per size are enough
    std::erase_if(answers_, [&](const Answer& a) { return ++count[a.support.size()] > 2; });
  } else if (options_.keep > 0 && static_cast<int>(answers_.size()) > options_.keep) {
    answers_.resize(options_.keep);
  } else if (answers_.size() > options_.capacity) {
    const double limit = pool_limit();
    std::erase_if(answers_, [&](const Answer& a) { return (a.error + system_.rest).hi > limit; });
    if (answers_.size() > options_.capacity) answers_.resize(options_.capacity), overflow_ = true;
  }
  update_cut();
}

// Where the same support was estimated before, the lower value counts.
void Answers::estimate(std::vector<int> support, double value) {
  const std::lock_guard lock(mutex_);
  if (seen_.contains(support)) return;
  const auto same =
      std::find_if(estimates_.begin(), estimates_.end(), [&](const Estimate& e) { return e.support == support; });
  if (same != estimates_.end() && same->value <= value) return;
  if (same != estimates_.end())
    same->value = value;
  else
    estimates_.push_back({std::move(support), value});
  std::sort(estimates_.begin(), estimates_.end(), [](const Estimate& a, const Estimate& b) {
    return a.value < b.value || (a.value == b.value && a.support < b.support);
  });
  update_cut();
  std::erase_if(estimates_, [&](const Estimate& e) { return e.value > cut() * (1.0 + kBlur); });
}

// Those whose values matter.
std::vector<Estimate> Answers::take_estimates() {
  const std::lock_guard lock(mutex_);
  std::vector<Estimate> all = std::exchange(estimates_, {});
  std::erase_if(all, [&](const Estimate& e) { return !(e.value <= least_cut_ * (1.0 + kBlur)); });
  return all;
}

double Answers::pool_limit() const { return (answers_[0].error + system_.rest).hi * (1.0 + options_.within); }

void Answers::update_cut() {
  if (answers_.empty() && estimates_.empty()) return;
  double cut = cut_;
  if (options_.within >= 0.0) {
    const double limit = pool_limit() * (1.0 + 1e-15);
    cut = (Double2{limit, 0.0} - system_.rest).hi + 1e-15 * limit;
    if (answers_.size() >= options_.capacity) cut = std::min(cut, upper(answers_.back().error));
  } else if (options_.keep > 0) {
    cut = static_cast<int>(answers_.size()) >= options_.keep ? upper(answers_.back().error) : kInf;
  } else {
    const bool estimated = !estimates_.empty() && (answers_.empty() || estimates_[0].value < upper(answers_[0].error));
    const double best = estimated ? estimates_[0].value : upper(answers_[0].error);
    const std::size_t own = estimated ? estimates_[0].support.size() : answers_[0].support.size();
    const std::size_t size = size_.value_or(own);
    double first = kInf, second = kInf;  // of that size
    const auto take = [&](const std::vector<int>& support, double value) {
      if (support.size() == size && value < second) second = value;
      if (second < first) std::swap(first, second);
    };
    for (const Answer& a : answers_) take(a.support, upper(a.error));
    for (const Estimate& e : estimates_) take(e.support, e.value);
    cut = options_.runner_up && size_ != 0 ? second : best;
  }
  cut_.store(cut, std::memory_order_relaxed);
  least_cut_ = std::min(least_cut_, cut);
}

void Answers::settle_on_size() {
  const std::lock_guard lock(mutex_);
  if (size_ || options_.pool()) return;
  const bool estimated = !estimates_.empty() && (answers_.empty() || estimates_[0].value < upper(answers_[0].error));
  if (cut() == kInf)
    size_ = 0;
  else
    size_ = estimated ? estimates_[0].support.size() : answers_[0].support.size();
  update_cut();
}

void Answers::leave_open(double bound) {
  const std::lock_guard lock(mutex_);
  open_ = std::min(open_, bound);
}

void Answers::leave_unknown() {
  const std::lock_guard lock(mutex_);
  overflow_ = true;
}

void Answers::restart() {
  const std::lock_guard lock(mutex_);
  seen_.clear();
  answers_.clear();
  estimates_.clear();
  cut_ = least_cut_ = open_ = kInf;
  size_.reset();
}

Snapshot Answers::best() const {
  const std::lock_guard lock(mutex_);
  Snapshot now;
  if (!estimates_.empty() && (answers_.empty() || estimates_[0].value < answers_[0].error.hi))
    now.incumbent = estimates_[0].value, now.support = estimates_[0].support;
  else if (!answers_.empty())
    now.incumbent = answers_[0].error.hi, now.support = answers_[0].support;
  now.lower = std::min(open_, least_cut_);
  if (!answers_.empty()) now.lower = std::min(now.lower, answers_[0].error.hi);
  return now;
}

double Answers::open() const {
  const std::lock_guard lock(mutex_);
  return open_;
}

void Answers::finish(Outcome& out) {
  const std::lock_guard lock(mutex_);
  std::sort(answers_.begin(), answers_.end(), better);
  out.complete = out.stop == Stop::kNone && !overflow_;
  out.lower = answers_.empty() ? open_ : std::min(open_, answers_[0].error.hi);
  if (options_.within >= 0.0 && !answers_.empty()) {
    const double limit = pool_limit();
    std::erase_if(answers_, [&](const Answer& a) { return (a.error + system_.rest).hi > limit; });
  }
  if (options_.keep > 0 && static_cast<int>(answers_.size()) > options_.keep) answers_.resize(options_.keep);
  if (!options_.pool() && !answers_.empty()) {
    double rival = kInf;
    for (std::size_t i = 1; i < answers_.size() && rival == kInf; ++i)
      if (answers_[i].support.size() == answers_[0].support.size())
        rival = answers_[i].error.hi, rival_ = answers_[i].support;
    if (out.stop == Stop::kNone && options_.runner_up && rival <= least_cut_) out.runner_up = rival;
    answers_.resize(1);
  }
  out.answers = answers_;
}

}  // namespace exactsindy::constrained
