// The nouns of every search: its limits, its answers, how it ended, and what it shows on the way.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "core/constants.hpp"
#include "core/dd.hpp"

namespace exactsindy {

// Why a search ended before it was done; kNone: it was done.
enum class Stop { kNone, kTime, kNodes, kInterrupted };

struct Limits {
  double seconds = 0.0;    // 0: no limit
  std::int64_t nodes = 0;  // 0: no limit
  int threads = 1;
  double tick = 0.05;  // seconds between two calls of the watch
};

// A support with its coefficients, in the columns and scaled units of the search.
struct Answer {
  std::vector<int> support;  // increasing
  std::vector<double> coef;
  Double2 error;       // without the squared norm of the target outside all columns
  double blur = 0.0;   // the residual norm is known to this (plain search)
  double grain = 0.0;  // residual norms closer than this are a tie (plain search): a power of two

  // The error rounded so that rounding noise does not decide: answers are compared by this number only.
  Double2 key() const;

  // Safe bounds of the true error.
  double upper() const;
  double lower() const;
};

// Order of answers: smaller error, then fewer terms, then lexicographic.
bool better(const Answer& a, const Answer& b);

// A finished search of one size that was written down for a checker: no support was discarded at or below the cut.
struct Written {
  std::uint64_t section = 0;
  int size = 0;
  double cut = kInf;          // an error, as in Answer
  std::vector<double> delta;  // of perspective bounds; empty: there are none
};

// What a search says about one size or one pool. Errors are in scaled units, as in Answer.
struct Outcome {
  std::vector<Answer> answers;  // best first, perhaps with the next best, or the pool; none: infeasible, or a limit
  double runner_up = -1.0;      // error of the next-best support of the same size; inf: there is none; < 0: not proved
  double lower = 0.0;           // lower bound of the error; inf: proved infeasible
  Stop stop = Stop::kNone;
  bool complete = false;   // the pool holds everything asked for
  bool dependent = false;  // supports that are not admissible were passed over (plain search)
  std::int64_t nodes = 0;
  double seconds = 0.0;
  std::vector<Written> written;  // best first: the one that covers all sizes asked for
};

// What a running search knows: errors as in Answer; incumbent inf and no support if there is none yet.
struct Snapshot {
  double incumbent = kInf, lower = 0.0;
  std::vector<int> support;
};

// Called from the calling thread now and then with one snapshot per request; returns false to interrupt.
using Watch = std::function<bool(const std::vector<Snapshot>&, std::int64_t nodes, double seconds)>;

}  // namespace exactsindy
