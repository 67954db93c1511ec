// Linear rows on the coefficients of one support: first the equalities, then active inequalities. Elimination expresses
// some coefficients by the others, and remembers which combination of rows every reduced row is.
#pragma once
#include <span>
#include <vector>

#include "constrained/active_set.hpp"
#include "constrained/bound.hpp"

namespace exactsindy::constrained {

constexpr double kRounding = 1e-15;  // of the largest coefficient: what rounding may leave of one that is 0

class SupportRows {
 public:
  explicit SupportRows(const System& system) : system_(system) {}
  // The equalities that have some of these terms, or contradict themselves; support must be increasing.
  void start(std::span<const int> support);
  void add(const Active& which, const Box& box);
  void remove(int i) { rows_.erase(rows_.begin() + i); }
  bool held(const Active& which) const;
  // Gauss-Jordan elimination with complete pivoting; false if an equality contradicts the others.
  bool eliminate();
  // Active rows that depend on others were not solved for: whether they hold all the same.
  bool satisfied(const std::vector<Double2>& x) const;
  // One number per row as multipliers of the constraints behind them; those of inequalities are cut to >= 0.
  Multipliers multipliers(std::span<const Double2> of_rows) const;

  int count() const { return static_cast<int>(rows_.size()); }
  bool inequality(int i) const { return rows_[i].what.row >= 0 || rows_[i].what.variable >= 0; }
  // The reduced row i says: x[pivot] + sum over free positions of entry * x = rhs. No pivot (-1): it is empty.
  int pivot(int i) const { return pivot_[i]; }
  const std::vector<int>& free() const { return free_; }
  const Double2& entry(int i, int position) const { return reduced(i)[position]; }
  const Double2& rhs(int i) const { return reduced(i)[support_.size()]; }
  // The weights of the rows in it.
  std::span<const Double2> made_of(int i) const { return reduced(i).subspan(support_.size() + 1); }

 private:
  struct Row {
    std::vector<double> coefs;
    double rhs = 0.0, factor = 1.0;  // scaled by this
    int equality = -1;               // that it is, or
    Active what;
  };
  static void normalise(Row& row);
  std::size_t width() const { return support_.size() + 1 + rows_.size(); }
  std::span<Double2> reduced(int i) { return std::span(reduced_).subspan(i * width(), width()); }
  std::span<const Double2> reduced(int i) const { return std::span(reduced_).subspan(i * width(), width()); }

  const System& system_;
  std::vector<int> support_;
  std::vector<Row> rows_;
  std::vector<Double2> reduced_;  // row after row: coefficients, right side, and what they are made of
  std::vector<int> pivot_;        // support position solved for by each reduced row
  std::vector<int> free_;         // the other positions
};

}  // namespace exactsindy::constrained
