// The canonical constrained fit of one support, in double-double.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "constrained/active_set.hpp"
#include "constrained/bound.hpp"

namespace exactsindy::constrained {

struct Fit {
  std::vector<int> support;  // increasing
  std::vector<double> coef;
  std::vector<Double2> x;
  Double2 error;       // weighted residual and ridge, rounded to 80 bits; compared by this number only
  double lower = 0.0;  // safe lower bound of the value of this support
  bool feasible = false;
  bool known = true;       // false: neither a fit nor a proof that there is none was found
  bool dependent = false;  // some direction changes the data by less than 1e-13: it was not used
};

class Fitter {
 public:
  Fitter(const System& system, const Bound& bound);
  // support must be increasing; `cut` as in Bound.
  void fit(std::span<const int> support, const Box& box, double cut, Fit& out);
  // Whether equalities and these inequalities prove that no coefficients on these terms are feasible.
  bool infeasible(std::span<const int> support, const Box& box, const std::vector<Active>& active, double cut);

 private:
  // Linear rows on the coefficients of the support: first the equalities, then active inequalities.
  struct Row {
    std::vector<double> coefs;
    double rhs = 0.0, factor = 1.0;  // scaled by this
    Active what;
  };
  bool guess(const Box& box, double cut);
  void start_rows();
  static void normalise(Row& row);
  void add(const Active& which, const Box& box);
  void spreads(const std::vector<int>& kept, const std::vector<std::vector<Double2>>& r);
  bool eliminate();
  void least_squares(Fit& out);
  void multipliers(const Fit& out);
  bool improve(const Box& box, const Fit& out);
  bool satisfied(const Fit& out) const;
  Double2 own_value(const Fit& out) const;
  int inequalities(const Box& box) const;
  void evaluate(const Box& box, double cut, Fit& out);
  Span2 vector(int i) {
    return {hi_.data() + static_cast<std::size_t>(i) * length_, lo_.data() + static_cast<std::size_t>(i) * length_};
  }
  void load(int column, Double2 factor, Span2 into, bool add);

  const System& system_;
  const Bound& bound_;
  const Kernels& kernels_;
  int length_ = 0;
  std::vector<int> support_;
  std::vector<Row> rows_;
  std::vector<std::vector<Double2>> work_;      // reduced rows: coefficients, right side, and what they are made of
  std::vector<int> pivot_;                      // support position solved for by each reduced row
  std::vector<int> free_;                       // the other positions
  std::vector<double> centre_, centre_spread_;  // of the fit without inequalities
  double centre_value_ = 0.0;
  std::vector<double> spread_;       // per position
  int kept_ = 0;                     // orthonormal vectors in use; the next one is the projected target
  std::vector<Double2> multiplier_;  // one per row
  std::vector<Double2> root_;        // of the blocks' weights
  Array hi_, lo_, omega_hi_, omega_lo_;
};

}  // namespace exactsindy::constrained
