#include "outcome.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace exactsindy {

namespace {

constexpr double kReportInterval = 0.1;  // seconds between two calls of the progress function

// True if Ctrl-C was pressed: its exception is taken off, because the search ends with its best answer. What any other
// signal handler raises is thrown.
bool interrupted() {
  if (PyErr_CheckSignals() == 0) return false;
  if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) nb::raise_python_error();
  PyErr_Clear();
  return true;
}

}  // namespace

std::optional<std::string> name_of(Stop stop) {
  switch (stop) {
    case Stop::kTime:
      return "TIME_LIMIT";
    case Stop::kNodes:
      return "NODE_LIMIT";
    case Stop::kInterrupted:
      return "INTERRUPTED";
    case Stop::kNone:
      break;
  }
  return std::nullopt;
}

records::Answer to_python(const Answer& answer, const Units& units) {
  return {units.support(answer.support), units.coefficients(answer), units.objective(answer.error),
          units.remainder(answer.error)};
}

records::Outcome to_python(const Outcome& outcome, const Units& units) {
  std::vector<records::Answer> answers;
  for (const Answer& answer : outcome.answers) answers.push_back(to_python(answer, units));
  double runner_up = std::numeric_limits<double>::quiet_NaN();
  if (outcome.runner_up >= 0.0) {
    runner_up = units.objective({outcome.runner_up, 0.0});
    // It is never below the best, which has more bits than a double before it is rounded.
    if (!answers.empty()) runner_up = std::max(runner_up, answers.front().objective);
  }
  std::vector<records::Written> written;
  for (const Written& w : outcome.written) {
    records::Written part{w.section, w.size, units.lower(w.cut), {}, {}, {}};
    for (std::size_t j = 0; j < w.delta.size(); ++j) {
      part.columns.push_back(units.original[j]);
      part.exponents.push_back(units.target_exponent - units.exponent[j]);
      part.delta.push_back(std::ldexp(w.delta[j], 2 * units.exponent[j]));
    }
    written.push_back(std::move(part));
  }
  return {std::move(answers),    runner_up,        units.lower(outcome.lower),
          name_of(outcome.stop), outcome.complete, outcome.dependent,
          outcome.nodes,         outcome.seconds,  std::move(written)};
}

bool Reporter::operator()(const std::vector<Snapshot>& now, std::int64_t nodes, double seconds) {
  nb::gil_scoped_acquire gil;
  try {
    if (interrupted() || nb::cast<bool>(stopped_())) return false;
    if (!progress_ || seconds < next_report_) return true;
    next_report_ = seconds + kReportInterval;
    nb::list snapshots;
    for (const Snapshot& one : now) snapshots.append(records::Snapshot{one.incumbent, one.lower, one.support});
    (*progress_)(snapshots, nodes, seconds);
    return true;
  } catch (...) {
    failure_ = std::current_exception();
    return false;
  }
}

void bind_outcome(nb::module_& m) {
  using records::Answer, records::Outcome, records::Snapshot;
  using WrittenPart = records::Written;
  nb::class_<Answer>(m, "Answer", "A support with its coefficients and its objective.")
      .def_ro("support", &Answer::support, "Columns, increasing.")
      .def_ro("coef", &Answer::coef, "One coefficient per column of the support.")
      .def_ro("objective", &Answer::objective)
      .def_ro("fine", &Answer::fine, "What the double of the objective leaves out.");
  nb::class_<WrittenPart>(m, "Written", "A finished search in a proof file.")
      .def_ro("section", &WrittenPart::section)
      .def_ro("size", &WrittenPart::size)
      .def_ro("cut", &WrittenPart::cut, "No support with an objective at or below this was discarded.")
      .def_ro("columns", &WrittenPart::columns, "The columns of `delta` and `exponents`.")
      .def_ro("exponents", &WrittenPart::exponents, "Powers of two of the points of perspective bounds.")
      .def_ro("delta", &WrittenPart::delta, "Of perspective bounds; empty: there are none.");
  nb::class_<Outcome>(m, "Outcome", "What a search says about one size or one pool.")
      .def_ro("answers", &Outcome::answers, "Best first; empty: infeasible, or nothing met before a limit.")
      .def_ro("runner_up", &Outcome::runner_up,
              "Objective of the next-best support of the same size; inf: there is none; NaN: not proved.")
      .def_ro("lower_bound", &Outcome::lower_bound, "Proved lower bound of the objective; inf: infeasible.")
      .def_ro("stop", &Outcome::stop, "Name of the limit that ended the search; None: it was done.")
      .def_ro("complete", &Outcome::complete, "True if the pool holds everything asked for.")
      .def_ro("dependent", &Outcome::dependent, "True if supports that are not admissible were passed over.")
      .def_ro("nodes", &Outcome::nodes)
      .def_ro("written", &Outcome::written, "Finished searches that were written down, the largest size first.")
      .def_ro("seconds", &Outcome::seconds);
  nb::class_<Snapshot>(m, "Snapshot", "What a running search knows about one request.")
      .def_ro("incumbent", &Snapshot::incumbent, "Objective of the best support so far; inf: none yet.")
      .def_ro("lower_bound", &Snapshot::lower_bound, "Proved lower bound of the objective.")
      .def_ro("support", &Snapshot::support, "Columns of the best support so far.");
}

}  // namespace exactsindy
