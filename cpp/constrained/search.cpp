#include "constrained/search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <system_error>
#include <utility>

#include "constrained/tied_tree.hpp"

namespace exactsindy::constrained {

namespace {

constexpr unsigned kClockInterval = 32;  // nodes between two looks at the clock
constexpr double kAlone = 5e6;           // nodes times the square of variables that one worker searches alone
constexpr double kFewest = 300.0, kMost = 20'000.0;
constexpr std::int64_t kTiedNodes = 3'000;  // problems that need more are left to the general search

}  // namespace

Search::Search(const System& system, const Options& options, Watch watch)
    : system_(system),
      options_(options),
      watch_(std::move(watch)),
      clock_(0.0, options.limits.tick),
      rows_(system.variables, system.presence),
      answers_(system, rows_, options_) {}

Outcome Search::ended(Outcome&& out) const {
  out.nodes = nodes_;
  out.seconds = clock_.elapsed();
  return std::move(out);
}

// The whole search where coefficients are bound by ties alone and few columns are left.
std::optional<Outcome> Search::by_ties() {
  if (options_.general || options_.pool()) return std::nullopt;
  TiedColumns columns(system_);
  if (!columns.take(rows_)) return std::nullopt;
  const std::int64_t most = options_.limits.nodes > 0 ? std::min(options_.limits.nodes, kTiedNodes) : kTiedNodes;
  TiedTree tree(columns, answers_, most);
  const bool done = tree.run();
  nodes_ += tree.nodes();
  if (done) {
    Outcome out;
    answers_.finish(out);
    if (out.runner_up >= 0.0 || !options_.runner_up) return ended(std::move(out));
  }
  answers_.restart();
  return std::nullopt;
}

Outcome Search::run(const std::vector<std::vector<int>>& starts) {
  if (auto found = by_ties()) return std::move(*found);
  Outcome out;
  out.lower = kInf;
  out.complete = true;
  Logic logic(rows_);
  if (!logic.start()) return ended(std::move(out));
  for (int v = 0; v < system_.variables; ++v)
    if (!(system_.lower[v] <= 0.0 && 0.0 <= system_.upper[v]) && !logic.set(v, Flag::kIn)) return ended(std::move(out));
  std::vector<int> columns;
  for (int v = 0; v < system_.variables; ++v)
    if (!system_.inert[v] && logic[v] != Flag::kOut) columns.push_back(v);
  Space space(system_, columns);
  int contradictory = -1;
  Frame frame = space.root(contradictory);
  bound_.emplace(system_, space, frame);
  ground_.emplace(system_, rows_, space, options_.constraint_rows);
  Explorer first(*this, *ground_, *bound_, answers_);
  std::vector<int> known;
  logic.take_changes(known);
  first.start({std::move(frame), logic, {system_.lower, system_.upper}, std::vector<char>(system_.variables, 0)});
  first.intervals();
  if (contradictory >= 0 && first.contradiction(columns)) return ended(std::move(out));
  for (const auto& start : starts) {
    Logic trial = logic;
    bool fits = true;
    for (int v : start) fits = fits && trial.set(v, Flag::kIn);
    if (!fits || !trial.complete()) continue;
    std::vector<int> support;
    for (int v = 0; v < system_.variables; ++v)
      if (trial[v] == Flag::kIn) support.push_back(v);
    first.try_support(support);
  }
  ground_->postpone =
      !options_.pool() && std::all_of(system_.least.begin(), system_.least.end(), [](double x) { return x == 0.0; });
  first.greedy();
  explore(first);
  if (!first.settle()) {  // (rare: coefficients of very different size tied together)
    ground_->postpone = false;
    answers_.restart();
    first.start(
        {space.root(contradictory), logic, {system_.lower, system_.upper}, std::vector<char>(system_.variables, 0)});
    first.intervals();
    explore(first);
  }
  out.stop = stop_;
  if (out.stop == Stop::kNone && answers_.open() == kInf && answers_.empty()) return ended(std::move(out));
  answers_.finish(out);
  // (With other signs it may be a smaller support: then nothing is known about the next best one.)
  if (out.runner_up >= 0.0 && out.runner_up < kInf && first.other_signs(answers_.rival(), out.runner_up))
    out.runner_up = -1.0;
  return ended(std::move(out));
}

// Explore the whole tree, with the help of other workers once it has turned out to be large. Up to then everything goes
// in one order, so that what is decided there (see Answers::settle_on_size) is the same for any number of workers.
void Search::explore(Explorer& first) {
  const double square = static_cast<double>(system_.variables) * system_.variables;
  const double alone = std::clamp(kAlone / std::max(square, 1.0), kFewest, kMost);
  alone_ = nodes_ + (options_.alone > 0 ? options_.alone : static_cast<std::int64_t>(alone));
  done_ = false;
  std::exception_ptr own;
  try {
    first.explore();
  } catch (...) {
    own = std::current_exception();
    stop_for(Stop::kInterrupted);
  }
  work(first, true);
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  helpers_.clear();
  if (own || error_) std::rethrow_exception(own ? own : error_);
}

bool Search::pause(Explorer& worker, int depth) {
  const std::int64_t count = nodes_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (stopped()) return true;
  if (options_.limits.nodes > 0 && count > options_.limits.nodes) stop_for(Stop::kNodes);
  if (++worker.countdown >= kClockInterval) {
    worker.countdown = 0;
    look(worker, depth);
  }
  if (worker.index == 0 && count == alone_) {
    answers_.settle_on_size();
    spawn();
  }
  return stopped();
}

void Search::look(Explorer& worker, int depth) {
  const double now = clock_.elapsed();
  if (options_.limits.seconds > 0.0 && now > options_.limits.seconds) stop_for(Stop::kTime);
  if (worker.index == 0 && watch_ && clock_.due(now) && !watch_({snapshot(worker, depth)}, nodes_, now))
    stop_for(Stop::kInterrupted);
}

void Search::stop_for(Stop reason) {
  Stop none = Stop::kNone;
  stop_.compare_exchange_strong(none, reason);
}

// What the watch is shown. Every support is in a part of the tree that some worker has before it, in one that was left
// open or closed with a bound, or was excluded because its error is above a cut.
Snapshot Search::snapshot(Explorer& first, int depth) {
  Snapshot now = answers_.best();
  {
    const std::lock_guard lock(mutex_);
    if (!running_.empty()) now.lower = std::min(now.lower, *running_.begin());
  }
  if (now.lower > shown_bound_) now.lower = std::min(now.lower, first.current_bound(depth, shown_bound_));
  if (std::isfinite(now.lower)) shown_bound_ = std::max(shown_bound_, now.lower);
  now.lower = shown_bound_;
  return now;
}

void Search::spawn() {
  for (int i = 1; i < options_.limits.threads; ++i) {
    helpers_.push_back(std::make_unique<Explorer>(*this, *ground_, *bound_, answers_));
    Explorer* helper = helpers_.back().get();
    helper->index = i;
    try {
      threads_.emplace_back([this, helper] { work(*helper, false); });
    } catch (const std::system_error&) {  // no more threads to be had: those that run will do
      return;
    }
  }
}

void Search::give(Task&& task) {
  const std::lock_guard lock(mutex_);
  running_.insert(task.bound);
  tasks_.push_back(std::move(task));
  queued_.store(static_cast<int>(tasks_.size()), std::memory_order_relaxed);
  wake_.notify_one();
}

// Explore a part of the tree that waits; false if there is none now.
bool Search::take(Explorer& worker, std::unique_lock<std::mutex>& lock) {
  if (tasks_.empty()) return false;
  Task task = std::move(tasks_.front());
  tasks_.pop_front();
  queued_.store(static_cast<int>(tasks_.size()), std::memory_order_relaxed);
  const double bound = task.bound;
  lock.unlock();
  if (stopped()) {
    answers_.leave_open(bound);
  } else {
    try {
      worker.explore(std::move(task));
    } catch (...) {
      const std::lock_guard guard(mutex_);
      if (!error_) error_ = std::current_exception();
      stop_for(Stop::kInterrupted);
    }
  }
  lock.lock();
  running_.erase(running_.find(bound));
  if (running_.empty()) wake_.notify_all();
  return true;
}

// Explore parts of the tree until there are no more (the first worker), or until the first worker says so.
void Search::work(Explorer& worker, bool until_done) {
  std::unique_lock lock(mutex_);
  while (until_done ? !running_.empty() : !done_) {
    if (take(worker, lock)) continue;
    idle_.fetch_add(1, std::memory_order_relaxed);
    wake_.wait_for(lock, std::chrono::milliseconds(10));
    idle_.fetch_sub(1, std::memory_order_relaxed);
    if (worker.index != 0) continue;
    lock.unlock();
    look(worker, -1);
    lock.lock();
  }
}

}  // namespace exactsindy::constrained
