// The search under constraints as one worker does it: a node, and everything that happens to it.
#pragma once
#include <memory>
#include <vector>

#include "constrained/active_set.hpp"
#include "constrained/answers.hpp"
#include "constrained/bound.hpp"
#include "constrained/fitter.hpp"
#include "constrained/logic.hpp"

namespace exactsindy::constrained {

constexpr double kZero = 1e-10;  // coefficients below this share of the largest may be zero: guidance only
constexpr double kRough = 1e-6;  // values above this share of |z|^2 are right to kBlur in doubles

struct Node {
  Frame frame;
  Logic logic;
  Box box;
  std::vector<char> sign;  // of semi-continuous terms: 0 undecided
  // While a child is explored: what is still to come of this node leaves out the term at this position of the frame
  // (-1: some other part of the node), unless it was given to another worker; and its safe lower bound once it was
  // asked for (< 0: not yet).
  int leaves_out = -1;
  bool given = false;
  double remaining = -1.0;
};

// An equality with 0 and its terms.
struct ZeroRow {
  int equality;
  std::vector<int> terms;
};

// What all workers read.
struct Ground {
  const System& system;
  const LogicRows& rows;
  const Space& space;
  std::vector<const PresenceRow*> budgets;  // rows that only count
  std::vector<char> removable;              // no constraint on supports needs the term
  std::vector<ZeroRow> zero_rows;
  bool postpone = false;  // supports are estimated first, and fitted at the end

  Ground(const System& system, const LogicRows& rows, const Space& space, int constraint_rows);
};

// A part of the tree that any worker may take: a node without one of its terms.
struct Task {
  std::unique_ptr<Node> node;
  int term = -1;
  double bound = 0.0;  // safe lower bound
};

class Search;

class Explorer {
 public:
  Explorer(Search& search, const Ground& ground, const Bound& bound, Answers& answers);

  Node& root() { return *levels_[0]; }
  void start(Node&& root);
  // The intervals of all variables of the root.
  void intervals();
  void greedy();
  void explore() { explore(0); }
  void explore(Task&& task);
  // Whether all columns together contradict the equalities: nothing is feasible.
  bool contradiction(const std::vector<int>& columns);
  void try_support(const std::vector<int>& support);
  // Whether a support may fit better than this with other signs of terms that must have a certain size.
  bool other_signs(const std::vector<int>& support, double error);
  // Fit what was only estimated. False: an estimate that the search relied on was wrong.
  bool settle();
  // A lower bound of the parts of the tree that this worker has before it, while it is at `depth`; at least `enough`.
  double current_bound(int depth, double enough);

  unsigned countdown = 0;  // nodes until the next look at the clock
  int index = 0;           // 0: the calling thread

 private:
  enum class State { kOpen, kPruned };

  void explore(int depth);
  State impose(Node& node);
  bool decide(Node& node, int v, Flag value);
  bool lonely(Node& node, int v);
  void from_frame(const Node& node);
  double bound_of(Node& node, const NodeSolution& solution, double cut);
  double refined(Node& node, double cut);
  bool certainly_above(Node& node, const NodeSolution& solution);
  double open_bound(Node& node);
  double bound_without(Node& node, int position);
  double remaining_bound(Node& node);
  void descend(Node& node, int leaves_out, int depth);
  void give(int depth);
  bool forced(Node& node, int position);
  int branching(const Node& node, const NodeSolution& solution) const;
  void both_signs(Node& node, int v, int depth);
  int undecided_sign(const Node& node, const NodeSolution& solution) const;
  void interval(Node& node, int v) const;
  void candidate(const Node& node, const NodeSolution& solution);
  bool leaf(Node& node);
  Node& level(int depth);
  void copy(const Node& from, Node& to) const;
  std::vector<int> included(const Node& node) const;

  Search& search_;
  const Ground& ground_;
  const System& system_;
  const Space& space_;
  Answers& answers_;
  const Bound& bound_;
  ActiveSet inequalities_;
  Fitter fitter_;
  std::vector<std::unique_ptr<Node>> levels_;
  NodeSolution node_solution_;
  Multipliers multipliers_;
  std::vector<char> used_;
  std::vector<int> changes_;
  Array pivot_, omega_, scratch_;
  Fit fit_;
  int split_ = -1;  // a semi-continuous term both of whose signs have to be looked at apart; -1: none
};

}  // namespace exactsindy::constrained
