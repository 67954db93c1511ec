// One search: the best supports of one size, for one equation. Shared by the workers that explore it.
#pragma once
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/outcome.hpp"
#include "search/checkpoint.hpp"
#include "search/factor.hpp"
#include "search/proof.hpp"

namespace exactsindy {

// An equation ready to be searched, for any size.
struct Equation {
  Instance instance;
  Guide guide;
  Certifier certifier;
  const long id;     // unique: workers keep what they prepared for an equation
  const bool ready;  // false: the crew was told to stop before all was prepared, and only the instance may be used
  const int most;    // no support with more terms is independent
  Equation(Instance&& given, bool backward, const Crew& crew = alone);
  // Another target of the columns of an equation that may be shared: what depends on the columns alone is taken from
  // there. To the bit what the other constructor makes.
  Equation(std::shared_ptr<const Equation> like, Instance&& given);
  // Whether all that depends on the target can be found without a new factorisation.
  bool shares() const { return ready && !guide.rotated && guide.regular == 0.0 && !instance.has_ridge; }

 private:
  const std::shared_ptr<const Equation> columns_;  // whose columns these are
};

// A fit as an answer.
Answer answer_of(const Fit& fit);

// What to keep: the `keep` best supports, or all with objective <= best * (1 + within) when within >= 0.
struct Wanted {
  int size = 1;
  int keep = 2;
  double within = -1.0;
  bool smaller_too = true;           // smaller supports with the same error count (not for pools)
  std::size_t capacity = 1'000'000;  // most supports a pool may hold
  double gap = 0.0;                  // stop when the objective is proved to this relative gap; 0: only when done
  double limit = -1.0;               // >= 0: all supports with an error of at most this, the `capacity` best of them
  std::vector<int> required{};       // columns that every support holds, increasing
  std::vector<int> forbidden{};      // columns that none holds
};

class Search {
 public:
  Search(const Equation& equation, const Wanted& wanted, const ProofSink* proof = nullptr, std::uint64_t section = 0);

  const Equation& equation;
  const Wanted wanted;
  const long id;                 // unique: addresses may be used again
  const ProofSink* const proof;  // null: nothing is written down
  const std::uint64_t section;

  // Supports with an error above this cannot be among the answers. Decreases only.
  double cut() const { return cut_.load(std::memory_order_relaxed); }
  // All kept supports fit exactly: only earlier ones can enter.
  bool all_exact() const { return zero_.load(std::memory_order_relaxed); }
  // True if a support of the same size that is lexicographically not before `first` cannot enter (ties at zero error).
  bool tied_out(const int* first) const;
  bool needs(int column) const { return std::binary_search(wanted.required.begin(), wanted.required.end(), column); }
  void offer(const Fit& fit);
  // A smaller support with the same error as one of the wanted size.
  void offer_smaller(const Fit& fit);
  // Supports of the wanted size were passed over because their terms depend on each other. They say nothing about the
  // supports they contain, so smaller ones have to be searched as well.
  void passed_over() { dependent_.store(true, std::memory_order_relaxed); }
  bool saw_dependent() const { return dependent_.load(std::memory_order_relaxed); }
  // Nothing of the wanted size can win: a smaller support fits exactly.
  bool superseded() const { return superseded_.load(std::memory_order_relaxed); }
  // Proved to the gap asked for: the rest is left open.
  bool satisfied() const { return satisfied_.load(std::memory_order_relaxed); }

  // Certified lower bounds of parts that were left open (interrupted searches).
  void leave_open(double bound);
  // For progress: the bound of what the root still has to do, and of tasks handed to other workers.
  void root_bound(double bound);
  void task_started(double bound);
  void task_ended(double bound);
  double current_bound();

  std::vector<Answer> answers() const;  // sorted, best first; after the search
  std::optional<Answer> smaller() const { return smaller_; }
  double open_bound() const { return open_; }
  bool overflow() const { return overflow_; }
  // The search as numbers, from which restore() goes on: what is found is the same, to the bit.
  std::vector<std::int64_t> saved() const;
  // Throws std::invalid_argument if the numbers are not those of a search of this size. Before any worker begins.
  void restore(const std::vector<std::int64_t>& numbers);
  bool done() const { return branches && branches->root()->done; }

  std::pair<double, std::vector<int>> best();  // error and support of the incumbent; infinity if there is none

  alignas(kLine) std::atomic<std::int64_t> nodes{0};
  std::atomic<int> outstanding{0};       // tasks not finished
  std::atomic<bool> perspective{false};  // a perspective bound was used
  std::atomic<std::uint64_t> chunks{1};  // of the proof
  std::unique_ptr<Branches> branches;    // null: no checkpoints are kept

 private:
  void update_cut();

  mutable std::mutex mutex_;
  struct Better {
    bool operator()(const Answer& a, const Answer& b) const { return better(a, b); }
  };
  std::set<Answer, Better> kept_;  // (a sorted vector would take quadratic time for a pool of a million)
  std::optional<Answer> smaller_;
  alignas(kLine) std::atomic<double> cut_{kInf};  // read at every node, so apart from what is often written
  std::atomic<bool> superseded_{false}, satisfied_{false}, zero_{false}, dependent_{false};
  double open_ = kInf;
  double root_ = 0.0;
  std::multiset<double> running_;
  bool overflow_ = false;
};

}  // namespace exactsindy
