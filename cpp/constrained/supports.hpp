// The values of given supports under the constraints, in double-double, without any search.
#pragma once
#include <vector>

#include "constrained/fitter.hpp"
#include "constrained/logic.hpp"
#include "core/outcome.hpp"

namespace exactsindy::constrained {

// The support of a fit without the terms whose coefficients the constraints make zero, as far as the first
// `constraint_rows` presence rows let them go.
std::vector<int> reduced(const System& system, const LogicRows& rows, int constraint_rows, const Fit& fit);

// What is known of a support.
struct Fitted {
  bool known = true;  // false: neither a fit nor a proof that there is none was found
  bool feasible = false;
  Answer answer;        // its best fit, on the terms that matter
  double lower = kInf;  // safe lower bound of its error
};

// Presence rows are not looked at, but for which terms without a coefficient may be left out.
class Supports {
 public:
  Supports(const System& system, int constraint_rows);
  // support must be increasing.
  Fitted fit(const std::vector<int>& support);

 private:
  void signs(const std::vector<int>& support, const Box& box, Fitted& out);
  void leave_idle(const Fit& fit, const Box& box, Answer& answer);

  const System& system_;
  const int constraint_rows_;
  LogicRows rows_;
  Space space_;
  Frame root_;
  Bound bound_;
  Fitter fitter_;
};

}  // namespace exactsindy::constrained
