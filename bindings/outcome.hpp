// The one way from the outcome of a search to Python, and from Python's progress function and Ctrl-C to a search.
#pragma once
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "core/units.hpp"

namespace exactsindy {

// The records that Python sees: as their namesakes in core/outcome.hpp, in the caller's columns and units.
namespace records {

struct Answer {
  std::vector<int> support;
  std::vector<double> coef;
  double objective;
  double fine;  // what the double of the objective leaves out
};

// A finished search that was written down; no support at or below the cut was discarded.
struct Written {
  std::uint64_t section;
  int size;
  double cut;
  // Of perspective bounds, one per column that was searched (checker/FORMAT.md); empty: there are none.
  std::vector<int> columns, exponents;
  std::vector<double> delta;
};

struct Outcome {
  std::vector<Answer> answers;
  double runner_up;  // inf: there is none; NaN: not proved
  double lower_bound;
  std::optional<std::string> stop;  // the limit that ended the search
  bool complete, dependent;
  std::int64_t nodes;
  double seconds;
  std::vector<Written> written;
};

struct Snapshot {
  double incumbent, lower_bound;
  std::vector<int> support;
};

}  // namespace records

records::Answer to_python(const Answer& answer, const Units& units);
records::Outcome to_python(const Outcome& outcome, const Units& units);
std::optional<std::string> name_of(Stop stop);

using Progress = nb::typed<nb::callable, void(nb::typed<nb::list, records::Snapshot>, int, double)>;
using Stopped = nb::typed<nb::callable, bool()>;

// The watch of a search: looks for Ctrl-C, and calls the progress function.
class Reporter {
 public:
  Reporter(const std::optional<Progress>& progress, const Stopped& stopped) : progress_(progress), stopped_(stopped) {}

  // False: the search must end. Takes the GIL. Snapshots are in the caller's columns and units.
  bool operator()(const std::vector<Snapshot>& now, std::int64_t nodes, double seconds);
  // Passes on what Python raised meanwhile.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const std::optional<Progress>& progress_;
  const Stopped& stopped_;
  std::exception_ptr failure_;
  double next_report_ = 0.0;
};

}  // namespace exactsindy
