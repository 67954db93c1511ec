// Branch and bound over the presence of terms, under constraints: what comes before the tree, its workers and limits.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "constrained/answers.hpp"
#include "constrained/node.hpp"
#include "core/clock.hpp"
#include "core/outcome.hpp"

namespace exactsindy::constrained {

class Search {
 public:
  Search(const System& system, const Options& options, Watch watch);
  Outcome run(const std::vector<std::vector<int>>& starts);

  // For workers. Count a node, and look at the clock now and then; true if the search must end.
  bool pause(Explorer& worker, int depth);
  bool stopped() const { return stop_.load(std::memory_order_relaxed) != Stop::kNone; }
  // True if some worker waits for a part of the tree.
  bool hungry() const { return idle_.load(std::memory_order_relaxed) > queued_.load(std::memory_order_relaxed); }
  void give(Task&& task);

 private:
  Outcome ended(Outcome&& out) const;
  std::optional<Outcome> by_ties();
  void explore(Explorer& first);
  void spawn();
  void work(Explorer& worker, bool until_done);
  bool take(Explorer& worker, std::unique_lock<std::mutex>& lock);
  void look(Explorer& worker, int depth);
  Snapshot snapshot(Explorer& first, int depth);
  void stop_for(Stop reason);

  const System& system_;
  const Options options_;
  const Watch watch_;
  Clock clock_;
  LogicRows rows_;
  Answers answers_;
  std::optional<Ground> ground_;
  std::optional<Bound> bound_;
  std::atomic<Stop> stop_{Stop::kNone};
  std::atomic<std::int64_t> nodes_{0};
  std::int64_t alone_ = 0;    // the first worker searches alone until so many nodes
  double shown_bound_ = 0.0;  // the largest lower bound shown so far

  std::vector<std::unique_ptr<Explorer>> helpers_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;
  std::multiset<double> running_;  // bounds of tasks that wait or run
  std::exception_ptr error_;
  bool done_ = false;
  std::atomic<int> idle_{0}, queued_{0};
};

}  // namespace exactsindy::constrained
