// How far a search has come, so that another process can go on with it.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace exactsindy {

// Numbers that a search is stored as, by its section (see Job::section_of).
using Saved = std::map<std::uint64_t, std::vector<std::int64_t>>;

// A subtree: a term that came in, and the terms that were branched on below it, in their order.
struct Branch {
  Branch* parent = nullptr;
  int term = -1;
  int level = 0;
  bool done = false;
  int open = 1;             // parts that are not finished: itself, branches below, subtrees given to other workers
  std::uint64_t chunk = 0;  // of the proof; 0 below the root: the terms in depend on each other
  std::vector<std::uint64_t> chunks;           // others that belong to it
  std::vector<std::unique_ptr<Branch>> below;  // none once it is done
};

// The branches near the root of a search, shared by its workers. One worker at a time adds branches below a branch: the
// one that has what is still to come of its node.
class Branches {
 public:
  // Smaller subtrees are not told apart: what a killed process loses is at most one of them for each worker.
  static constexpr int kLevels = 3;

  Branch* root() { return &root_; }
  Branch* add(Branch& at, int term, std::uint64_t chunk);
  // A part of a branch goes to another worker, which writes a chunk of its own.
  void hold(Branch& at, std::uint64_t chunk);
  // A part of a branch is finished, all that it found was offered, and what it wrote was handed to the sink.
  void finish(Branch& at);

  // Appends the branches as numbers.
  void write(std::vector<std::int64_t>& numbers) const;
  // Takes them from the position `at` on. Branches that are not done get new chunks, from `next` on. Throws
  // std::invalid_argument unless each term is a column that is `free` and branched on once on each way down.
  void read(const std::vector<std::int64_t>& numbers, std::size_t& at, std::vector<bool> free, std::uint64_t& next);

 private:
  mutable std::mutex mutex_;
  Branch root_;
};

// The next of some stored numbers; throws std::invalid_argument if there is none, or if it is outside of [low, high].
std::int64_t next_number(const std::vector<std::int64_t>& numbers, std::size_t& at, std::int64_t low,
                         std::int64_t high);

}  // namespace exactsindy
