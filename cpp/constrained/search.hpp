// Branch and bound over the presence of terms, under constraints.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "constrained/active_set.hpp"
#include "constrained/bound.hpp"
#include "constrained/fitter.hpp"
#include "constrained/logic.hpp"
#include "constrained/supports.hpp"
#include "core/clock.hpp"
#include "core/outcome.hpp"

namespace exactsindy::constrained {

constexpr double kZero = 1e-10;           // coefficients below this share of the largest may be zero: guidance only
constexpr double kRough = 1e-6;           // values above this share of |z|^2 are right to kBlur in doubles
constexpr std::int64_t kLonely = 20'000;  // nodes after which a rival is no longer looked for, if none has turned up

struct Options {
  bool runner_up = true;  // also the next-best support of the same size
  int keep = 0;           // > 0: a pool of this many supports
  double within = -1.0;   // >= 0: a pool of all with objective <= best (1 + within)
  std::size_t capacity = 200'000;
  int constraint_rows = 0;  // of the presence rows; those after them are sizes
  Limits limits;
};

class Search {
 public:
  Search(const System& system, const Options& options, Watch watch);
  Outcome run(const std::vector<std::vector<int>>& starts);

 private:
  struct Node {
    Frame frame;
    Logic logic;
    Box box;
    std::vector<char> sign;  // of semi-continuous terms: 0 undecided
    // While a child is explored: what is still to come of this node leaves out the term at this position of the frame
    // (-1: some other part of the node), and its safe lower bound once it was asked for (< 0: not yet).
    int leaves_out = -1;
    double remaining = -1.0;
  };
  enum class State { kOpen, kPruned };

  void greedy(const Node& root);
  void explore(int depth);
  State impose(Node& node);
  bool decide(Node& node, int v, Flag value);
  bool lonely(Node& node, int v);
  void prepare_equalities();
  double certified(Node& node, const NodeSolution& solution, bool refine);
  double open_bound(Node& node);
  double bound_without(Node& node, int position);
  double current_bound(int depth);
  void descend(Node& node, int leaves_out, int depth);
  bool forced(Node& node, int position);
  int branching(const Node& node, const NodeSolution& solution) const;
  void both_signs(Node& node, int v, int depth);
  int undecided_sign(const Node& node, const NodeSolution& solution) const;
  void interval(Node& node, int v) const;
  void candidate(const Node& node, const NodeSolution& solution);
  void try_support(const std::vector<int>& support);
  bool leaf(Node& node);
  bool settle();
  void offer(const Fit& fit);
  void update_cut();
  bool pause(int depth);
  Snapshot snapshot(int depth);
  void leave_open(double bound) { open_ = std::min(open_, bound); }
  Node& level(int depth);
  void copy(const Node& from, Node& to) const;
  std::vector<int> included(const Node& node) const;

  const System& system_;
  const Options options_;
  const Watch watch_;
  Clock clock_;
  LogicRows rows_;
  std::vector<int> columns_;
  std::unique_ptr<Space> space_;
  std::unique_ptr<Bound> bound_;
  std::unique_ptr<ActiveSet> inequalities_;
  std::unique_ptr<Fitter> fitter_;
  std::vector<std::unique_ptr<Node>> levels_;
  NodeSolution node_solution_;
  Multipliers multipliers_;
  std::vector<const PresenceRow*> budgets_;  // rows that only count
  std::vector<char> used_;
  std::vector<char> removable_;                           // no constraint on supports needs the term
  std::vector<std::vector<std::vector<int>>> zero_rows_;  // per variable: the terms of its equalities with 0
  Array pivot_, omega_, scratch_;
  Fit fit_;
  struct Pending {  // a support that a node's solution has, with its value from there
    std::vector<int> support;
    double value;
  };
  struct Known {
    Double2 error;
    double lower;
  };
  std::map<std::vector<int>, Known> seen_;  // supports fitted without signs to choose; infinite error: infeasible
  std::vector<Answer> answers_;
  std::vector<Pending> pending_;
  int split_ = -1;  // a semi-continuous term both of whose signs have to be looked at apart; -1: none
  bool postpone_ = false;
  bool overflow_ = false;
  double cut_ = kInf, least_cut_ = kInf, open_ = kInf;
  Stop stop_ = Stop::kNone;
  std::int64_t nodes_ = 0;
  double shown_bound_ = 0.0;  // the largest lower bound shown so far
};

}  // namespace exactsindy::constrained
