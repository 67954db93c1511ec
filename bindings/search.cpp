// Python side of the search without constraints.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "outcome.hpp"
#include "search/solve.hpp"

namespace exactsindy {

namespace {

// (factor, target, rest, ridge, size, starts)
using GivenRequest = std::tuple<Matrix, Vector, Vector, Vector, int, std::vector<std::vector<int>>>;

Instance instance_of(const Matrix& factor, const Vector& target, const Vector& rest, const Vector& ridge,
                     double coefficient_limit) {
  need_equation(factor, target, ridge);
  return Instance::from_factor(view(factor), view(target), view(rest), view(ridge), coefficient_limit);
}

Request request_of(const GivenRequest& given, double coefficient_limit) {
  const auto& [factor, target, rest, ridge, size, starts] = given;
  if (size < 0 || size > kMaxSize) throw std::invalid_argument("size out of range");
  const auto begin = std::chrono::steady_clock::now();
  Request request{instance_of(factor, target, rest, ridge, coefficient_limit), size, {}};
  request.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const std::vector<int>& original = request.instance.original;
  for (const auto& start : starts) {
    std::vector<int> columns;
    for (int j : start) {
      const auto at = std::find(original.begin(), original.end(), j);
      if (at != original.end()) columns.push_back(static_cast<int>(at - original.begin()));
    }
    request.starts.push_back(columns);
  }
  return request;
}

std::vector<std::vector<records::Outcome>> solve_all(const std::vector<GivenRequest>& given, bool path, bool pool,
                                                     int keep, double within, std::size_t capacity, double gap,
                                                     double seconds, std::int64_t nodes, int threads,
                                                     double coefficient_limit, const std::optional<Progress>& progress,
                                                     const Stopped& stopped) {
  std::vector<Request> requests;
  std::vector<Units> units;
  for (const GivenRequest& one : given) {
    requests.push_back(request_of(one, coefficient_limit));
    units.push_back(requests.back().instance.units());
  }
  const Options options{path, pool, keep, within, capacity, gap, {seconds, nodes, threads}};
  Reporter reporter(progress, stopped, units);
  std::vector<std::vector<Outcome>> results;
  {
    nb::gil_scoped_release release;
    results = solve(requests, options, std::ref(reporter));
  }
  reporter.rethrow();
  std::vector<std::vector<records::Outcome>> out(results.size());
  for (std::size_t i = 0; i < results.size(); ++i)
    for (const Outcome& outcome : results[i]) out[i].push_back(to_python(outcome, units[i]));
  return out;
}

std::pair<records::Answer, double> refit_one(const Matrix& factor, const Vector& target, const Vector& rest,
                                             const Vector& ridge, const std::vector<int>& support) {
  const Instance instance = instance_of(factor, target, rest, ridge, kCoefficientLimit);
  const Units units = instance.units();
  std::vector<int> columns;
  for (std::size_t j = 0; j < instance.original.size(); ++j)
    if (std::find(support.begin(), support.end(), instance.original[j]) != support.end())
      columns.push_back(static_cast<int>(j));
  if (columns.size() > kMaxSize) throw std::invalid_argument("support too large");
  Refitter refitter(instance);
  Fit fit;
  refitter.fit(columns, fit);
  const Answer answer = answer_of(fit);
  return {to_python(answer, units), units.lower(answer.lower())};
}

}  // namespace

void bind_search(nb::module_& m) {
  m.attr("max_size") = kMaxSize;
  m.def("kernel_name", [] { return kernels().name; }, "Return the instruction set chosen at run time.");
  m.def("solve", &solve_all, nb::arg("requests"), nb::arg("path"), nb::arg("pool"), nb::arg("keep"), nb::arg("within"),
        nb::arg("capacity"), nb::arg("gap"), nb::arg("seconds"), nb::arg("nodes"), nb::arg("threads"),
        nb::arg("coefficient_limit"), nb::arg("progress").none(), nb::arg("stopped"),
        "Solve (factor, target, rest, ridge, size, starts) requests; one list of outcomes per request.");
  m.def("refit", &refit_one, nb::arg("factor"), nb::arg("target"), nb::arg("rest"), nb::arg("ridge"),
        nb::arg("support"),
        "Return the canonical least-squares fit of one support, and a lower bound of its objective.");
}

}  // namespace exactsindy
