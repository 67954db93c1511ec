// The canonical constrained fit of one support, in double-double.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "constrained/support_rows.hpp"

namespace exactsindy::constrained {

struct Fit {
  std::vector<int> support;  // increasing
  std::vector<double> coef;
  std::vector<Double2> x;
  Double2 error;       // weighted residual and ridge, rounded to 80 bits; compared by this number only
  double lower = 0.0;  // safe lower bound of the value of this support
  bool feasible = false;
  bool counts = false;     // feasible, and all coefficients are within their limits
  bool known = true;       // false: neither a fit nor a proof that there is none was found
  bool dependent = false;  // some direction changes the data too little (see kDependent): it was not used
};

class Fitter {
 public:
  Fitter(const System& system, const Bound& bound);
  // support must be increasing; `cut` as in Bound.
  void fit(std::span<const int> support, const Box& box, double cut, Fit& out);
  // Whether equalities and these inequalities prove that no coefficients on these terms are feasible.
  bool infeasible(std::span<const int> support, const Box& box, const std::vector<Active>& active, double cut);

 private:
  bool guess(const Box& box, double cut);
  void spreads(const std::vector<int>& kept);
  void least_squares(Fit& out);
  void multipliers(const Fit& out);
  bool improve(const Box& box, const Fit& out);
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
  SupportRows rows_;
  std::vector<double> centre_, centre_spread_;  // of the fit without inequalities
  double centre_value_ = 0.0;
  std::vector<double> spread_;   // per position
  std::vector<Double2> factor_;  // triangular: what the vectors in use are of each other, row after row
  std::vector<double> inverse_;
  int kept_ = 0;                     // orthonormal vectors in use; the next one is the projected target
  std::vector<double> volume_;       // per block: product of the distances of its columns from those before
  std::vector<Double2> multiplier_;  // one per row
  std::vector<Double2> root_;        // of the blocks' weights
  Array hi_, lo_, omega_hi_, omega_lo_;
};

}  // namespace exactsindy::constrained
