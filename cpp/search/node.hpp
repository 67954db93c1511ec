// The two-sided cover search of one worker.
#pragma once
#include <memory>
#include <vector>

#include "search/engine.hpp"
#include "search/perspective.hpp"
#include "search/projector.hpp"

namespace exactsindy {

// All pairs of the first m free terms of a frame, on top of the terms `in`; u is a rank-one change of its matrix that
// has not been carried out.
struct PairScan {
  int m;
  const double *u, *c, *d;
  double value;
  double slack;  // see Frame
  double kappa;  // what rounding may add to a gain times a determinant
  const int* in;
  int in_count;
  int patience;  // give up (return false) after this many pairs that could not be excluded
};

// Terms of a good support in the order they were added, one by one, each the best next to those before it: for when
// there is no time to prepare anything. Takes `size` passes over the columns.
std::vector<int> greedy(const Instance& instance, int size);

// Apart from what other workers write: each writes its own counters at every node.
class alignas(kLine) Worker {
 public:
  Worker(Engine& engine, int number) : index(number), engine_(engine) {}

  // Whole tree of a search.
  void root(Search& search);
  // A part of it.
  void run(Task& task);
  // Good supports to start from; `starts` are supports the caller knows.
  void incumbents(Search& search, const std::vector<std::vector<int>>& starts);

  const int index;
  unsigned countdown = 0, weight = 1;     // see Engine::stopping
  std::int64_t uncounted = 0, quota = 1;  // nodes of the search at hand that were not reported yet, and how many may be

 private:
  void prepare(Search& search);
  std::unique_ptr<Frame> make_frame(bool whole) const;
  void load_root(Frame& frame);
  void load_backward(Frame& frame) const;
  // These return true if nothing was left open; `branch` is null if no checkpoints are kept. `rest`: other workers
  // explored what the branch knows to be below it.
  bool begin(Frame& frame, Branch* branch, bool rest);
  bool explore(int depth, Branch* branch, bool rest);
  bool explore_below(int depth, Branch* branch, Branch* below);
  void write_branch(const Frame& frame);
  void swap_to_last(Frame& frame, int position);
  void exclude_last(Frame& frame) const;
  bool include_last(const Frame& frame, Frame& child);
  bool tied_out(const Frame& frame, int slots) const;
  void give(int depth);
  std::unique_ptr<Frame> copy(const Frame& frame);

  // prune.cpp
  void rank_terms(Frame& frame, int slots);
  bool pruned(Frame& frame, int slots, int depth);
  bool perspective_prunes(const Frame& frame, int slots, int depth, double cut);
  void try_perspective(double cut);
  void write_drops(const Frame& frame, int slots);
  bool costly_terms_prune(Frame& frame, int slots, double cut);
  bool regularised_drops_prune(const Frame& frame, int slots, double cut);
  bool project(const Frame& frame, const int* free, int kept, double cut);
  double certified(const Frame& frame, const double* r, int free_count, double cut);
  double safe_bound(const Frame& frame);
  double scans_below(const Frame& frame, int slots) const;
  double certificate_cost(const Frame& frame) const;

  // leaf.cpp
  double kappa(const Frame& frame, double det, int since, double cut) const;
  void scan_last(Frame& frame);
  bool scan_pairs(const Frame& frame, const PairScan& scan);
  void scan_single(const Frame& frame);
  void close(Frame& frame, int slots);
  void candidate(const int* support);
  void reduce(const Fit& fit);

  // project.cpp
  double backward_error(int columns) const;
  double coefficient_bound(double det, int size) const;
  bool rebuild(Frame& frame);
  bool rebuild_exactly(Frame& frame);
  void load_projection(Frame& frame, const double* directions, int length, int rank, const double* residual);
  bool rejected(const int* sorted, double cut);
  bool pair_rejected(const PairScan& scan, int a, int b);

  // incumbent.cpp
  double noise(double value) const;
  std::vector<int> forward_greedy(int size);
  std::vector<int> backward_greedy(int size);
  bool swap_one(std::vector<int>& support, std::vector<int>& runner_up);
  bool swap_two(std::vector<int>& support);

  Engine& engine_;
  Search* search_ = nullptr;
  const Equation* equation_ = nullptr;
  long equation_id_ = -1;  // addresses may be used again
  std::unique_ptr<Refitter> refitter_;
  std::unique_ptr<Projector> projector_;
  std::vector<std::unique_ptr<Frame>> frames_;
  // What is still to come of each node above the one at hand, once its last free term has been looked at.
  struct Rest {
    Branch* branch = nullptr;
    bool whole = false;  // nothing of it was explored by an earlier process
    bool given = false;  // to another worker, which writes this chunk of the proof
    std::uint64_t chunk = 0;
    double bound = 0.0;  // of the node, when the rest was given
  };
  std::vector<Rest> to_come_;
  std::unique_ptr<Frame> scratch_, spare_;  // spare_: for the next copy that is given, so that it takes no new memory
  int costly_[kMaxSize + 1];                // positions of the slots + 1 costliest free terms, costliest first
  double drop_[kMaxSize + 1];               // what dropping them costs
  std::vector<int> order_;                  // of free terms, for projections
  Array u_, c_, d_, square_, w_, vector_, basis_;
  // Columns projected off the terms in of a scan, made when a pair in doubt needs them.
  Array rests_, pair_;
  std::vector<double> rest_square_;
  std::vector<long> rest_stamp_;
  long pairs_stamp_ = 0;
  bool pairs_ready_ = false;
  Fit fit_, smaller_fit_;
  bool aborted_ = false;  // a scan was left before its end
  ProofChunk proof_;
  // Perspective bounds are tried once a search turns out to be long, and used if they close enough of the root's gap.
  std::unique_ptr<Perspective> perspective_;
  long search_id_ = -1;
  bool perspective_on_ = false, perspective_tried_ = false;
  long perspective_tries_ = 0, perspective_prunes_ = 0;
  std::vector<std::vector<double>> points_;  // the last point at each depth
  std::vector<double> root_point_;
  std::vector<float> rounded_;
  // Certificates of a singular library are tried where more than `worth_` times their cost could be saved; costs are
  // counted in scans.
  double worth_ = 1.0, spent_ = 0.0, saved_ = 0.0;
};

}  // namespace exactsindy
