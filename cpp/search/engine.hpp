// Workers and limits: equations in parallel first, then parts of one search.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/clock.hpp"
#include "core/crew.hpp"
#include "search/frame.hpp"
#include "search/search.hpp"

namespace exactsindy {

// A part of the tree handed to another worker: a node, with its state, without the last of its free terms.
struct Task {
  Search* search;
  std::unique_ptr<Frame> frame;
  double bound;
  std::uint64_t chunk = 0;   // of the proof
  Branch* branch = nullptr;  // that it is a part of; null: no checkpoints are kept
};

// Parts of one piece of work, of which any free worker takes the next.
struct Batch {
  const std::function<void(int)>& part;
  const int count;
  int next = 0, running = 0;
};

// Called from the calling thread every `limits.tick` seconds; returns false to interrupt.
using Tick = std::function<bool()>;

class Worker;

class Engine {
 public:
  Engine(const Limits& limits, Tick tick);
  ~Engine();

  // Run `job(worker, i)` for i in 0..count-1 on all workers; jobs call explore().
  void run(int count, const std::function<void(Worker&, int)>& job);
  // Explore the whole tree of a search, with the help of idle workers.
  void explore(Worker& worker, Search& search);
  // Do all parts with the help of idle workers, as a Crew does. Looks at the clock between two parts.
  bool share(Worker& worker, int count, const std::function<void(int)>& part);

  Stop stop() const { return stop_.load(std::memory_order_relaxed); }
  // True if there is no time even for what comes before the nodes.
  bool hurried() const { return stop() == Stop::kTime || stop() == Stop::kInterrupted; }
  // True if it has been so for a while: not even for the first look at an equation.
  bool late() const { return hurried() && elapsed() > stopped_at_.load(std::memory_order_relaxed) + kGrace; }
  // Count a node. Workers report what they counted now and then: two that write one number at every short node wait for
  // each other's cache line longer than the node takes.
  void count(Worker& worker, Search& search);
  // Report what a worker has counted, before it leaves a search.
  void report(Worker& worker, Search& search);
  // Count a node, look at the clock now and then (every time, where nodes are long); true if the search must end.
  bool pause(Worker& worker, Search& search);
  // The same without counting.
  bool stopping(Worker& worker, Search& search);
  bool hungry() const { return idle_.load(std::memory_order_relaxed) > queued_.load(std::memory_order_relaxed); }
  void give(Task&& task);
  double elapsed() const { return clock_.elapsed(); }
  std::int64_t nodes() const { return nodes_.load(std::memory_order_relaxed); }

 private:
  static constexpr double kGrace = 0.05;  // seconds

  void work(Worker& worker);
  bool take(Worker& worker, bool jobs_too, std::unique_lock<std::mutex>& lock);
  bool help(Worker& worker, Batch& batch, std::unique_lock<std::mutex>& lock);
  void rest(Worker& worker, std::unique_lock<std::mutex>& lock);
  void guarded(const std::function<void()>& part);
  void check(Worker& worker);
  void spawn();

  const Limits limits_;
  const Tick tick_;
  Clock clock_;
  std::atomic<Stop> stop_{Stop::kNone};
  std::atomic<double> stopped_at_{0.0};  // seconds, once hurried
  alignas(kLine) std::atomic<std::int64_t> nodes_{0};
  alignas(kLine) std::atomic<int> idle_{0};
  std::atomic<int> queued_{0};
  std::mutex mutex_, error_mutex_;
  std::exception_ptr error_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;
  std::vector<Batch*> batches_;
  std::vector<std::thread> threads_;
  std::vector<std::unique_ptr<Worker>> workers_;
  const std::function<void(Worker&, int)>* job_ = nullptr;
  int next_job_ = 0, job_count_ = 0, jobs_left_ = 0;
};

}  // namespace exactsindy
