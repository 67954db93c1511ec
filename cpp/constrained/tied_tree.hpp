// The search where coefficients are bound by ties alone, for a few dozen columns: a tree whose nodes cost a tenth of a
// microsecond. What it removes from consideration goes through TiedColumns::value; what it cannot prove it leaves to
// the general search.
#pragma once
#include <cstdint>
#include <vector>

#include "constrained/answers.hpp"
#include "constrained/tied_columns.hpp"

namespace exactsindy::constrained {

class TiedTree {
 public:
  TiedTree(TiedColumns& columns, Answers& answers, std::int64_t most_nodes);
  // False: not everything could be proved within so many nodes.
  bool run();
  std::int64_t nodes() const { return nodes_; }

 private:
  using Set = std::uint32_t;  // of columns
  struct Leaf {
    Set columns;
    double value, lower;
    bool fitted, estimated;
  };

  void greedy(Set alive);
  void explore(const double* node, int depth, Set alive, Set in);
  const double* drop(const double* node, int depth, int h);
  double cost(const double* node, int h) const;
  bool costs_too_much(const double* node, Set alive, int h);
  bool above(const double* minus_y, Set alive);
  void leaf(const double* node, Set alive);
  bool fit(Leaf& leaf);
  bool settle();
  Set crowded(Set alive) const;
  Set no_room(Set alive, Set in) const;
  int terms(Set columns) const;
  const double* minus_y(const double* node) const { return node + static_cast<std::size_t>(count_) * stride_; }
  double* level(int depth) { return levels_.data() + depth * level_size_; }

  TiedColumns& columns_;
  Answers& answers_;
  const Kernels& kernels_;
  const int count_, stride_;
  const std::size_t level_size_;
  const std::int64_t most_nodes_;
  std::int64_t nodes_ = 0;
  bool lost_ = false;  // something could not be proved
  Array levels_, pivot_, scratch_;
  std::vector<Leaf> leaves_;
  Fit fit_;
};

}  // namespace exactsindy::constrained
