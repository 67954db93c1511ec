#include "search/engine.hpp"

#include <chrono>
#include <system_error>
#include <utility>

#include "search/node.hpp"

namespace exactsindy {

namespace {

constexpr double kSpawnAfter = 1e-3;     // seconds: shorter solves are not worth a second thread
constexpr unsigned kClockInterval = 16;  // short nodes between two looks at the clock
constexpr std::int64_t kReported = 64;   // nodes that a worker counts by itself, far from the limit

}  // namespace

Engine::Engine(const Limits& limits, Tick tick)
    : limits_(limits), tick_(std::move(tick)), clock_(limits.tick, limits.tick) {}

Engine::~Engine() = default;

void Engine::count(Worker& worker, Search& search) {
  if (++worker.uncounted >= worker.quota) report(worker, search);
}

void Engine::report(Worker& worker, Search& search) {
  const std::int64_t more = std::exchange(worker.uncounted, 0);
  search.nodes.fetch_add(more, std::memory_order_relaxed);
  const std::int64_t count = nodes_.fetch_add(more, std::memory_order_relaxed) + more;
  if (limits_.nodes == 0) {
    worker.quota = kReported;
    return;
  }
  worker.quota = count + kReported * limits_.threads > limits_.nodes ? 1 : kReported;
  if (count > limits_.nodes) {
    Stop none = Stop::kNone;
    stop_.compare_exchange_strong(none, Stop::kNodes);
  }
}

bool Engine::pause(Worker& worker, Search& search) {
  count(worker, search);
  return stopping(worker, search);
}

bool Engine::stopping(Worker& worker, Search& search) {
  if ((worker.countdown += worker.weight) >= kClockInterval) {
    worker.countdown = 0;
    check(worker);
  }
  return stop() != Stop::kNone || search.superseded() || search.satisfied();
}

void Engine::check(Worker& worker) {
  const double seconds = elapsed();
  const auto stop_for = [&](Stop reason) {
    Stop none = Stop::kNone;
    if (stop_.compare_exchange_strong(none, reason)) stopped_at_.store(seconds, std::memory_order_relaxed);
  };
  if (limits_.seconds > 0.0 && seconds > limits_.seconds) stop_for(Stop::kTime);
  if (worker.index != 0) return;
  if (clock_.due(seconds))
    guarded([&] {
      if (tick_ && !tick_()) stop_for(Stop::kInterrupted);
    });
  if (workers_.size() == 1 && limits_.threads > 1 && seconds > kSpawnAfter) spawn();
}

void Engine::spawn() {
  for (int i = 1; i < limits_.threads; ++i) {
    workers_.push_back(std::make_unique<Worker>(*this, i));
    Worker* worker = workers_.back().get();
    try {
      threads_.emplace_back([this, worker] { work(*worker); });
    } catch (const std::system_error&) {  // no more threads to be had: those that run will do
      return;
    }
  }
}

void Engine::give(Task&& task) {
  task.search->outstanding.fetch_add(1);
  task.search->task_started(task.bound);
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  queued_.store(static_cast<int>(tasks_.size()), std::memory_order_relaxed);
  wake_.notify_one();
}

// Take one piece of work and do it; false if there is none now.
bool Engine::take(Worker& worker, bool jobs_too, std::unique_lock<std::mutex>& lock) {
  if (jobs_too && next_job_ < job_count_) {
    const int i = next_job_++;
    lock.unlock();
    guarded([&] { (*job_)(worker, i); });
    lock.lock();
    if (--jobs_left_ == 0) wake_.notify_all();
    return true;
  }
  for (Batch* batch : batches_)
    if (help(worker, *batch, lock)) return true;
  if (tasks_.empty()) return false;
  Task task = std::move(tasks_.front());
  tasks_.pop_front();
  queued_.store(static_cast<int>(tasks_.size()), std::memory_order_relaxed);
  lock.unlock();
  if (stop() != Stop::kNone || task.search->satisfied())
    task.search->leave_open(task.bound);
  else if (!task.search->superseded())
    guarded([&] { worker.run(task); });
  task.search->task_ended(task.bound);
  lock.lock();
  task.search->outstanding.fetch_sub(1);
  wake_.notify_all();
  return true;
}

// Do one part of a batch; false if none is left.
bool Engine::help(Worker& worker, Batch& batch, std::unique_lock<std::mutex>& lock) {
  if (hurried()) batch.next = batch.count;
  if (batch.next == batch.count) return false;
  const int i = batch.next++;
  ++batch.running;
  lock.unlock();
  guarded([&] { batch.part(i); });
  check(worker);
  lock.lock();
  if (--batch.running == 0 && batch.next == batch.count) wake_.notify_all();
  return true;
}

bool Engine::share(Worker& worker, int count, const std::function<void(int)>& part) {
  check(worker);
  if (count == 1 && !late()) {
    part(0);
    return true;
  }
  if (hurried()) return false;
  Batch batch{part, count};
  std::unique_lock lock(mutex_);
  batches_.push_back(&batch);
  wake_.notify_all();
  while (help(worker, batch, lock)) {
  }
  std::erase(batches_, &batch);
  while (batch.running > 0) rest(worker, lock);
  return !hurried();
}

void Engine::guarded(const std::function<void()>& part) {
  try {
    part();
  } catch (...) {
    const std::lock_guard lock(error_mutex_);
    if (!error_) error_ = std::current_exception();
    stop_.store(Stop::kInterrupted);
  }
}

void Engine::rest(Worker& worker, std::unique_lock<std::mutex>& lock) {
  idle_.fetch_add(1, std::memory_order_relaxed);
  wake_.wait_for(lock, std::chrono::milliseconds(10));
  idle_.fetch_sub(1, std::memory_order_relaxed);
  if (worker.index == 0) {
    lock.unlock();
    check(worker);
    lock.lock();
  }
}

void Engine::work(Worker& worker) {
  std::unique_lock lock(mutex_);
  while (jobs_left_ > 0)
    if (!take(worker, true, lock)) rest(worker, lock);
}

void Engine::explore(Worker& worker, Search& search) {
  guarded([&] { worker.root(search); });  // (others may still work on this search: wait for them in any case)
  std::unique_lock lock(mutex_);
  while (search.outstanding.load() > 0)
    if (!take(worker, false, lock)) rest(worker, lock);
}

void Engine::run(int count, const std::function<void(Worker&, int)>& job) {
  job_ = &job;
  job_count_ = jobs_left_ = count;
  workers_.push_back(std::make_unique<Worker>(*this, 0));
  Worker& first = *workers_.front();
  workers_.reserve(limits_.threads);
  work(first);
  for (std::thread& thread : threads_) thread.join();
  if (error_) std::rethrow_exception(error_);
}

}  // namespace exactsindy
