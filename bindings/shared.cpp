// Python side of the search for supports that several equations have in common.
#include "search/shared.hpp"

#include <limits>

#include "outcome.hpp"

namespace exactsindy {

namespace {

// (factor, target, rest, ridge)
using GivenEquation = std::tuple<StridedMatrix, Vector, Vector, Vector>;

Factor factor_of(const GivenEquation& given, double coefficient_limit) {
  const auto& [factor, target, rest, ridge] = given;
  need_equation(factor, target, ridge);
  if (factor.stride(1) != 1 || factor.stride(0) < 0) throw std::invalid_argument("the rows of factor have gaps");
  return {factor.data(),    static_cast<std::size_t>(factor.stride(0)), view(target), view(rest), view(ridge),
          coefficient_limit};
}

records::Outcome solve_together(const std::vector<GivenEquation>& given, int size, int keep,
                                const std::vector<std::vector<int>>& starts, double seconds, std::int64_t nodes,
                                double coefficient_limit, const std::optional<Progress>& progress,
                                const Stopped& stopped) {
  if (given.empty() || keep < 1 || size < 0 || size > kMaxSize) throw std::invalid_argument("size out of range");
  SharedRequest request{{}, size, keep, starts, {seconds, nodes, 1}};
  for (const GivenEquation& one : given) {
    request.factors.push_back(factor_of(one, coefficient_limit));
    if (request.factors.back().target.size() != request.factors.front().target.size())
      throw std::invalid_argument("the equations have different columns");
  }
  Reporter reporter(progress, stopped);
  SharedOutcome found;
  {
    nb::gil_scoped_release release;
    found = solve_shared(request, std::ref(reporter));
  }
  reporter.rethrow();
  records::Outcome out{};
  for (const SharedAnswer& answer : found.answers)
    out.answers.push_back({answer.support, answer.coef, found.objective(answer.error), found.remainder(answer.error)});
  const bool done = found.stop == Stop::kNone;
  out.runner_up = std::numeric_limits<double>::quiet_NaN();
  if (done && keep > 1) out.runner_up = found.answers.size() < 2 ? kInf : out.answers[1].objective;
  out.lower_bound = found.lower_objective(found.lower);
  out.stop = name_of(found.stop);
  out.complete = done;
  out.dependent = found.dependent;
  out.nodes = found.nodes;
  out.seconds = found.seconds;
  return out;
}

}  // namespace

void bind_shared(nb::module_& m) {
  m.def("solve_together", &solve_together, nb::arg("equations"), nb::arg("size"), nb::arg("keep"), nb::arg("starts"),
        nb::arg("seconds"), nb::arg("nodes"), nb::arg("coefficient_limit"), nb::arg("progress").none(),
        nb::arg("stopped"),
        "Find the best supports of exactly `size` terms that the equations (factor, target, rest, ridge) have in "
        "common; coefficients are those of one equation after the other.");
}

}  // namespace exactsindy
