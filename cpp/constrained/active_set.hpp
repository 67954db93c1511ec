// The inequalities of a node: a dual active-set method (Goldfarb and Idnani 1983) from the node's own optimum, in plain
// doubles. Its multipliers go into a safe bound, so that nothing here has to be trusted.
#pragma once
#include <vector>

#include "constrained/bound.hpp"
#include "constrained/frame.hpp"

namespace exactsindy::constrained {

struct Active {
  int row = -1;       // an inequality, or
  int variable = -1;  // an end of the interval of a variable:
  bool upper = false;
};

struct NodeSolution {
  std::vector<double> x;  // per position of the frame
  Array r;
  double value = 0.0;
  std::vector<Active> active;
  Multipliers multipliers;
  bool infeasible = false;  // claimed: `multipliers` then hold the combination that should prove it
};

class ActiveSet {
 public:
  ActiveSet(const System& system, const Space& space) : system_(system), space_(space) {}
  void solve(const Frame& frame, const Box& box, NodeSolution& out);

 private:
  struct Row {
    Active what;
    Array u;
    double mu = 0.0;
  };
  bool most_violated(const Frame& frame, const Box& box, const NodeSolution& out, Active& which, double& by) const;
  void vector(const Frame& frame, const Active& which, double* u) const;
  bool held(const Active& which) const;
  double before(const Frame& frame, const Active& which) const;
  void coefficients(const double* u);
  void hold(const Active& what, double mu);
  void drop(std::size_t i);
  void finish(NodeSolution& out) const;
  void farkas(double mu_new, const Active& added, NodeSolution& out) const;

  const System& system_;
  const Space& space_;
  std::vector<Row> rows_;
  // Kept from node to node, so that solving takes no memory.
  std::vector<Array> spare_;  // vectors of rows that are not held
  Array u_, z_;
  std::vector<double> rho_, cholesky_, products_;
};

}  // namespace exactsindy::constrained
