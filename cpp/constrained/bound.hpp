// Safe lower bounds. For any vector omega over the data rows and any multipliers lambda, mu >= 0,
//
//   sum_b w_b |z_b - A_b x|^2 + sum_v ridge_v x_v^2
//     >=  sum_b w_b (2 omega_b'z_b - |omega_b|^2) - 2 lambda'd - 2 mu'h - sum_v max_{lo_v <= x_v <= hi_v} (2 delta_v
//     x_v
//         - ridge_v x_v^2),      delta = W A'omega - C'lambda - G'mu,
//
// for all x with C x = d, G x <= h and x_v in [lo_v, hi_v], since |z - A x|^2 >= 2 omega'(z - A x) - |omega|^2. The
// intervals are those of the constraints, cut to what any point not worse than the incumbent can reach. Everything is
// evaluated in double-double and its rounding subtracted. Where a pure combination of the constraints (omega = 0) gives
// a positive value, it can be multiplied by any number: nothing is feasible.
#pragma once
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "constrained/frame.hpp"

namespace exactsindy::constrained {

// lo <= x_v <= hi per variable; lo = hi = 0 where the term is left out.
struct Box {
  std::vector<double> lo, hi;
};

struct Multipliers {
  std::vector<Double2> equal;  // one per equality
  std::vector<Double2> below;  // one per inequality, >= 0
};

class Bound {
 public:
  Bound(const System& system, const Space& space, const Frame& root);

  // Whether the columns are independent enough for `reach` to say something.
  bool verified() const {
    prepare();
    return verified_;
  }
  // Coefficients within their limits of points with a value (without rest) of at most `cut` are at most this in size.
  double reach(int v, double cut) const;
  // omega in double-double over the rows; lo may be null.
  double value(const double* omega_hi, const double* omega_lo, const Multipliers& multipliers,
               std::span<const int> variables, const Box& box, double cut) const;
  // Whether that bound is above the cut. Plain doubles with a bound of their error decide wherever they can.
  bool above(const double* omega, const Multipliers& multipliers, std::span<const int> variables, const Box& box,
             double cut) const;
  // Whether the multipliers alone (omega = 0) prove that nothing in the box is feasible.
  bool infeasible(const Multipliers& multipliers, std::span<const int> variables, const Box& box, double cut) const;

 private:
  struct Sum {
    Double2 value;
    double magnitude = 0.0;
  };
  Sum largest_gain(int v, Double2 delta, double error, const Box& box, double root) const;
  Double2 slope(int v, const double* hi, const double* lo, double norm, const Multipliers& m, double& magnitude) const;
  double reach_at(int v, double root) const;
  // Whether a gain is so small that it is as good as any smaller one.
  bool negligible(double gain) const { return gain <= kEps * system_.z_norm * system_.z_norm; }
  // An estimate of the bound in doubles, and how far it may be off.
  std::pair<double, double> rough(const double* omega, const Multipliers& multipliers, std::span<const int> variables,
                                  const Box& box, double root) const;

  // Find out how far coefficients can reach: when it is first asked for, because many searches never do.
  void prepare() const {
    std::call_once(prepared_, [this] { find_reaches(); });
  }
  void find_reaches() const;

  const System& system_;
  const Space& space_;
  const Frame root_;
  const Kernels& kernels_;
  struct Entry {
    int row;
    double coef;
  };
  mutable std::once_flag prepared_;
  mutable std::vector<double> centre_, spread_;
  mutable bool verified_ = false;
  std::vector<double> by_ridge_;
  ByVariable<Entry> equal_of_, below_of_;  // the rows of each variable
};

}  // namespace exactsindy::constrained
