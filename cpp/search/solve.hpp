// The calls of the outside: sizes, paths and pools for several equations.
#pragma once
#include <vector>

#include "search/engine.hpp"

namespace exactsindy {

struct Request {
  Factor factor;
  int size = 0;                          // the size, or the largest one of a path
  std::vector<std::vector<int>> starts;  // supports in the caller's columns, as the next two
  std::vector<int> required{};           // columns that every support holds
  std::vector<int> forbidden{};          // those that none holds
  // Not empty: one outcome per size 0..size, the pool of all supports with an objective (in the caller's units) of at
  // most limits[s]; < 0: not asked.
  std::vector<double> limits{};
};

struct Solved {
  std::vector<Outcome> outcomes;  // one, or one per size of a path
  Units units;                    // of the outcomes
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
  const ProofSink* proof = nullptr;  // sections: first_section + number of the request * kSections + size
  std::uint64_t first_section = 0;
  // Called from the calling thread every `save_every` seconds and at the end with all searches as numbers; false ends
  // the search. Empty: no checkpoints are kept.
  std::function<bool(const Saved&)> save{};
  double save_every = 10.0;
  Saved resume{};  // searches of an earlier call that these go on with
};

// The limits hold for the call as a whole, preparation included. Snapshots are in the caller's columns and units.
std::vector<Solved> solve(const std::vector<Request>& requests, const Options& options, const Watch& watch);

}  // namespace exactsindy
