// What a search under constraints has found so far: shared by its workers.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "constrained/fitter.hpp"
#include "constrained/logic.hpp"
#include "core/outcome.hpp"

namespace exactsindy::constrained {

constexpr double kBlur = 1e-6;  // relative: what values in doubles may be off, with room to spare

struct Options {
  bool runner_up = true;  // also the next-best support of the same size
  int keep = 0;           // > 0: a pool of this many supports
  double within = -1.0;   // >= 0: a pool of all with objective <= best (1 + within)
  std::size_t capacity = 200'000;
  bool general = false;     // no short way for small problems
  int constraint_rows = 0;  // of the presence rows; those after them are sizes
  std::int64_t alone = 0;   // nodes that one worker searches before others join in; 0: by the number of variables
  Limits limits;

  bool pool() const { return keep > 0 || within >= 0.0; }
};

// A support that a node's solution has, with its value from there: it is fitted when the search is done.
struct Estimate {
  std::vector<int> support;
  double value;
};

// The fit of a support; an infinite error says that it does not count.
struct Known {
  Double2 error;
  double lower;
};

class Answers {
 public:
  Answers(const System& system, const LogicRows& rows, const Options& options)
      : system_(system), rows_(rows), options_(options) {}

  // Supports with an error above this cannot be among the answers.
  double cut() const { return cut_.load(std::memory_order_relaxed); }
  std::optional<Known> known(const std::vector<int>& support) const;
  // True if a support was fitted and counts, or is an estimate that will be fitted.
  bool noted(const std::vector<int>& support) const;
  bool empty() const;
  // How many terms the best support has that was fitted.
  std::size_t best_size() const;
  std::size_t count() const;
  // Take note of a fit; `final`: no other signs of its terms have to be looked at.
  void remember(const Fit& fit, bool final);
  void estimate(std::vector<int> support, double value);
  std::vector<Estimate> take_estimates();
  // From here on several workers search, so that what they find must not depend on its order: the size whose next-best
  // support is looked for no longer changes, and none is looked for if none has turned up.
  void settle_on_size();
  // A part of the search that ends with this lower bound; or that is unknown, so that nothing is complete.
  void leave_open(double bound);
  void leave_unknown();
  void restart();

  // The value of a support that is not fitted yet is an estimate.
  Snapshot best() const;
  double open() const;
  // The best answer and the proved error of its rival (negative: not proved), or the pool; after the search.
  void finish(Outcome& out);
  // The support whose error that of the rival is; after `finish`.
  const std::vector<int>& rival() const { return rival_; }

 private:
  void offer(const Fit& fit);
  void update_cut();
  double pool_limit() const;

  const System& system_;
  const LogicRows& rows_;
  const Options& options_;
  mutable std::mutex mutex_;
  std::map<std::vector<int>, Known> seen_;
  std::vector<Answer> answers_;      // sorted
  std::vector<Estimate> estimates_;  // least first
  std::atomic<double> cut_{kInf};
  double least_cut_ = kInf, open_ = kInf;
  bool overflow_ = false;
  std::vector<int> rival_;
  std::optional<std::size_t> size_;  // see settle_on_size; 0: no next-best support is looked for
};

}  // namespace exactsindy::constrained
