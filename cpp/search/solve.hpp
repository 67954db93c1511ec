// The calls of the outside: sizes, paths and pools for several equations.
#pragma once
#include <vector>

#include "search/engine.hpp"

namespace exactsindy {

struct Request {
  Instance instance;
  int size = 0;                          // the size, or the largest one of a path
  std::vector<std::vector<int>> starts;  // supports in instance columns
  double seconds = 0.0;                  // time the caller spent on making the instance
  std::vector<int> required{};           // instance columns that every support holds, increasing
  std::vector<int> forbidden{};          // those that none holds
  // Not empty: one outcome per size 0..size, the pool of all supports with an error of at most limits[s]; < 0: not
  // asked.
  std::vector<double> limits{};
};

constexpr int kSections = 2 * kMaxSize;

struct Options {
  bool path = false;  // all sizes 0..size
  bool pool = false;  // exactly `size` terms
  int keep = 2;
  double within = -1.0;
  std::size_t capacity = 1'000'000;
  double gap = 0.0;
  Limits limits;
  const ProofSink* proof = nullptr;  // sections: number of the request * kSections + size
};

std::vector<std::vector<Outcome>> solve(std::vector<Request>& requests, const Options& options, const Watch& watch);

}  // namespace exactsindy
