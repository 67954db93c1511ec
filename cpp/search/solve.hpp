// The calls of the outside: sizes, paths and pools for several equations.
#pragma once
#include <string>
#include <vector>

#include "search/engine.hpp"

namespace exactsindy {

struct Request {
  Instance instance;
  int size = 0;                          // the size, or the largest one of a path
  std::vector<std::vector<int>> starts;  // supports in instance columns
  double seconds = 0.0;                  // time the caller spent on making the instance
};

struct Options {
  bool path = false;  // all sizes 0..size
  bool pool = false;  // exactly `size` terms
  int keep = 2;
  double within = -1.0;
  std::size_t capacity = 1'000'000;
  double gap = 0.0;
  Limits limits;
};

// The answer for one size. Errors are in scaled units, without `rest`.
struct Outcome {
  std::vector<Answer> answers;  // best first (one, or the pool)
  double runner_up = -1.0;      // error of the next-best support of the same size; inf: there is none; < 0: not proved
  double lower = 0.0;           // lower bound of the error
  Stop stop = Stop::kNone;
  bool complete = false;  // the pool holds everything asked for
  long nodes = 0;
  double seconds = 0.0;
};

struct Snapshot {
  double incumbent, lower;  // errors in scaled units; incumbent inf if none yet
  std::vector<int> support;
};

// Called from the calling thread; one snapshot per request. Returns false to interrupt.
using Watch = std::function<bool(const std::vector<Snapshot>&, long nodes, double seconds)>;

std::vector<std::vector<Outcome>> solve(std::vector<Request>& requests, const Options& options, const Watch& watch);

}  // namespace exactsindy
