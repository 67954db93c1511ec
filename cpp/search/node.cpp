#include "search/node.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace exactsindy {

namespace {

// Where a column stands among the free ones.
int position(const Frame& f, int column) {
  return static_cast<int>(std::find(f.free.begin(), f.free.begin() + f.m, column) - f.free.begin());
}

}  // namespace

std::unique_ptr<Frame> Worker::make_frame(bool whole) const {
  const Guide& g = equation_->guide;
  const std::size_t entries = static_cast<std::size_t>(g.columns) * g.stride;
  auto frame = std::make_unique<Frame>();
  frame->free.resize(g.columns);
  frame->s.reset(entries);
  frame->c.reset(g.stride);
  if (whole && g.invertible) {
    frame->dual.reset(entries);
    for (Array* a : {&frame->beta, &frame->norm2, &frame->r}) a->reset(g.stride);
  }
  return frame;
}

void Worker::prepare(Search& search) {
  search_ = &search;
  if (search_id_ != search.id) {
    search_id_ = search.id;
    perspective_tries_ = perspective_prunes_ = 0;
    perspective_on_ = perspective_tried_ = false;
  }
  const Instance& in = search.equation.instance;
  const int size = search.wanted.size;
  if (equation_id_ != search.equation.id) {
    equation_ = &search.equation;
    equation_id_ = search.equation.id;
    refitter_ = std::make_unique<Refitter>(in);
    projector_ = std::make_unique<Projector>(in);
    weight = 1 + static_cast<unsigned>(std::min(1e-4 * in.columns * in.columns, 64.0) / 2.0);
    frames_.clear();
    scratch_.reset();
    spare_.reset();
    perspective_.reset();
  }
  while (static_cast<int>(frames_.size()) < std::max(1, size - 2)) frames_.push_back(make_frame(true));
  to_come_.resize(frames_.size());
  if (!scratch_) {
    const int stride = equation_->guide.stride;
    scratch_ = make_frame(false);
    for (Array* a : {&u_, &c_, &d_, &square_, &vector_}) a->reset(std::max(stride, in.stride));
    const int length = projector_->length();
    w_.reset(length);
    pair_.reset(length);
    rests_.reset(static_cast<std::size_t>(in.columns) * length);
    rest_square_.assign(in.columns, 0.0);
    rest_stamp_.assign(in.columns, 0);
    basis_.reset(static_cast<std::size_t>(kMaxSize) * in.stride);
  }
}

void Worker::load_root(Frame& frame) {
  const Guide& g = equation_->guide;
  frame.m = g.columns;
  frame.in_count = 0;
  for (int j = 0; j < g.columns; ++j) frame.free[j] = j;
  const std::size_t bytes = static_cast<std::size_t>(g.columns) * g.stride * sizeof(double);
  std::memcpy(frame.s.data(), g.gram.data(), bytes);
  std::memcpy(frame.c.data(), g.moment.data(), g.stride * sizeof(double));
  frame.value = g.square;
  frame.det = 1.0;
  frame.since = 0;
  frame.start = equation_->instance.z_norm * equation_->instance.z_norm;
  frame.basis = 0.0;
  // Gram entries: stride / 8 + 3 roundings and the normalisation; then about 6 for each elimination step.
  frame.gamma = 2.0 * kEps * (equation_->instance.stride / kLane + 16 + 6 * search_->wanted.size);
  frame.slack = 0.0;
  frame.bound = 0.0;
  frame.backward = g.invertible;
  if (g.invertible) load_backward(frame);
  for (int j : search_->wanted.forbidden) {
    swap_to_last(frame, position(frame, j));
    exclude_last(frame);
  }
}

void Worker::load_backward(Frame& frame) const {
  const Guide& g = equation_->guide;
  const std::size_t bytes = static_cast<std::size_t>(g.columns) * g.stride * sizeof(double);
  std::memcpy(frame.dual.data(), g.dual.data(), bytes);
  std::memcpy(frame.beta.data(), g.beta.data(), g.stride * sizeof(double));
  std::memset(frame.r.data(), 0, g.stride * sizeof(double));
  const Kernels& k = kernels();
  for (int j = 0; j < g.columns; ++j) {
    const double* row = g.dual.data() + offset(j, g.stride);
    frame.norm2[j] = k.dot(row, row, g.stride);
  }
  frame.base = g.base;
}

void Worker::root(Search& search) {
  prepare(search);
  Frame& f = *frames_[0];
  load_root(f);
  proof_.begin(search.proof, search.section, 0);
  Branch* trunk = search.branches ? search.branches->root() : nullptr;
  bool independent = true, whole = true;
  for (int j : search.wanted.required) {
    swap_to_last(f, position(f, j));
    if (!(independent = include_last(f, f))) break;
  }
  if (independent)
    whole = begin(f, trunk, false);
  else
    proof_.write(kStepDependent);
  proof_.flush();
  engine_.report(*this, search);
  if (trunk && whole) search.branches->finish(*trunk);
}

bool Worker::begin(Frame& frame, Branch* branch, bool rest) {
  const int slots = search_->wanted.size - frame.in_count;
  bool whole = true;
  if (slots >= 3) {
    whole = explore(0, branch, rest);
  } else {
    proof_.write(frame.m < slots ? kStepWhole : kStepScanned);
    close(frame, slots);
  }
  if (aborted_) {
    search_->leave_open(0.0);
    whole = false;
  }
  aborted_ = false;
  return whole;
}

void Worker::run(Task& task) {
  prepare(*task.search);
  spare_ = std::exchange(frames_[0], std::move(task.frame));
  proof_.begin(task.search->proof, task.search->section, task.chunk);
  exclude_last(*frames_[0]);
  const bool whole = begin(*frames_[0], task.branch, true);
  proof_.flush();
  engine_.report(*this, *search_);
  if (task.branch && whole) search_->branches->finish(*task.branch);
}

void Worker::swap_to_last(Frame& f, int i) {
  const int last = f.m - 1, stride = equation_->guide.stride;
  if (i == last) return;
  std::swap(f.free[i], f.free[last]);
  std::swap(f.c[i], f.c[last]);
  double* s = f.s.data();
  std::swap_ranges(s + offset(i, stride), s + offset(i, stride) + f.m, s + offset(last, stride));
  for (int a = 0; a < f.m; ++a) std::swap(s[offset(a, stride) + i], s[offset(a, stride) + last]);
  if (!f.backward) return;
  std::swap(f.beta[i], f.beta[last]);
  std::swap(f.norm2[i], f.norm2[last]);
  double* t = f.dual.data();
  std::swap_ranges(t + offset(i, stride), t + offset(i, stride) + stride, t + offset(last, stride));
}

// The last free term leaves: only the backward side changes.
void Worker::exclude_last(Frame& f) const {
  const Guide& g = equation_->guide;
  const int last = --f.m;
  if (!f.backward) return;
  const Kernels& k = kernels();
  const double* pivot = f.dual.data() + offset(last, g.stride);
  if (!(f.norm2[last] > 1e-290)) return;  // nothing to project off
  const double scale = 1.0 / f.norm2[last], beta = f.beta[last];
  k.exclude(f.dual.data(), g.stride, g.stride, last, pivot, scale, beta, f.beta.data(), f.norm2.data());
  k.axpy(beta * scale, pivot, f.r.data(), g.stride);
  f.base += beta * beta * scale;
}

// The last free term enters: only the forward side changes. `child` may be `f` itself. False if the terms in are
// dependent, so that no support below counts.
bool Worker::include_last(const Frame& f, Frame& child) {
  const Guide& g = equation_->guide;
  const int last = f.m - 1;
  const double* row = f.s.data() + offset(last, g.stride);
  const double pivot = row[last], det = f.det * pivot;
  const int entering = f.free[last];
  if (&child != &f) {
    std::copy(f.free.begin(), f.free.begin() + last, child.free.begin());
    std::copy(f.in, f.in + f.in_count, child.in);
    child.in_count = f.in_count;
    child.gamma = f.gamma;
    child.bound = f.bound;
    child.backward = f.backward;
    if (f.backward) {
      std::memcpy(child.dual.data(), f.dual.data(), offset(last, g.stride) * sizeof(double));
      std::memcpy(child.beta.data(), f.beta.data(), last * sizeof(double));
      std::memcpy(child.norm2.data(), f.norm2.data(), last * sizeof(double));
      std::memcpy(child.r.data(), f.r.data(), g.stride * sizeof(double));
      child.base = f.base;
    }
  }
  child.m = last;
  child.in[child.in_count++] = entering;
  if (!(det > kSmallInnerDet)) return rebuild(child);
  child.since = f.since + 1;
  child.start = f.start;
  child.slack = f.slack;
  child.basis = f.basis;
  const double scale = 1.0 / std::sqrt(pivot), moment = f.c[last] * scale;
  child.value = f.value - moment * moment;
  child.det = det;
  for (int a = 0; a < last; ++a) u_[a] = row[a] * scale;
  std::fill(u_.data() + last, u_.data() + padded(last), 0.0);
  for (int a = 0; a < last; ++a) child.c[a] = f.c[a] - u_[a] * moment;
  kernels().include(f.s.data(), child.s.data(), g.stride, last, u_.data());
  return true;
}

// The last free term is branched on.
void Worker::write_branch(const Frame& f) {
  proof_.write(kStepBranch + static_cast<std::uint64_t>(equation_->instance.original[f.free[f.m - 1]]));
}

bool Worker::explore(int depth, Branch* branch, bool rest) {
  Frame& f = *frames_[depth];
  const int slots = search_->wanted.size - f.in_count;
  const bool marked = branch && branch->level < Branches::kLevels && slots > 3;  // terms become branches
  const std::size_t known = branch ? branch->below.size() : 0;                   // from an earlier process
  std::size_t next = rest ? known : 0;
  bool whole = true;
  if (perspective_on_) points_[depth] = depth > 0 ? points_[depth - 1] : root_point_;
  if (f.m < slots) proof_.write(kStepWhole);
  while (f.m >= slots) {
    if (f.m == slots) {
      proof_.write(kStepWhole);
      int support[kMaxSize];
      std::copy(f.in, f.in + f.in_count, support);
      std::copy(f.free.begin(), f.free.begin() + f.m, support + f.in_count);
      candidate(support);
      return whole;
    }
    if (engine_.pause(*this, *search_)) {
      if (!search_->superseded()) search_->leave_open(safe_bound(f));
      return false;
    }
    if (depth > 0 && engine_.hungry()) give(depth);
    to_come_[depth] = {branch, next == known};
    if (next < known) {
      Branch* below = branch->below[next++].get();
      swap_to_last(f, position(f, below->term));
      write_branch(f);
      whole &= explore_below(depth, branch, below);
      exclude_last(f);
      continue;
    }
    if (equation_->guide.regular > 0.0 && f.backward) f.backward = scans_below(f, slots) > worth_ * certificate_cost(f);
    rank_terms(f, slots);
    if (pruned(f, slots, depth) || tied_out(f, slots)) return whole;
    if (weight > 1 && engine_.stopping(*this, *search_)) continue;  // (what follows takes long; it is left open above)
    if (f.in_count == static_cast<int>(search_->wanted.required.size())) search_->root_bound(safe_bound(f));
    swap_to_last(f, costly_[0]);
    write_branch(f);
    if (slots == 3) {
      scan_last(f);
      if (aborted_) {
        aborted_ = false;
        search_->leave_open(safe_bound(f));
        return false;
      }
    } else {
      const std::uint64_t chunk = marked ? search_->chunks.fetch_add(1, std::memory_order_relaxed) : 0;
      whole &= explore_below(depth, branch, marked ? search_->branches->add(*branch, f.free[f.m - 1], chunk) : nullptr);
      if (const Rest& to_come = to_come_[depth]; to_come.given) {
        search_->task_ended(to_come.bound);
        proof_.write(kStepGoto);
        proof_.write(to_come.chunk);
        return whole;
      }
    }
    exclude_last(f);
  }
  return whole;
}

// The last free term of a frame comes in; `below` is its branch, if it has one.
bool Worker::explore_below(int depth, Branch* branch, Branch* below) {
  if (below && below->done) {
    proof_.write(below->chunk > 0 ? kStepGoto : kStepDependent);
    if (below->chunk > 0) proof_.write(below->chunk);
    return true;
  }
  Frame& child = *frames_[depth + 1];
  if (!include_last(*frames_[depth], child)) {
    proof_.write(kStepDependent);
    if (below) {
      below->chunk = 0;
      search_->branches->finish(*below);
    }
    return true;
  }
  if (!below) return explore(depth + 1, branch, false);
  const std::uint64_t own = proof_.chunk();
  proof_.write(kStepGoto);
  proof_.write(below->chunk);
  proof_.flush();
  proof_.begin(search_->proof, search_->section, below->chunk);
  const bool whole = explore(depth + 1, below, false);
  proof_.flush();
  if (whole) search_->branches->finish(*below);
  proof_.begin(search_->proof, search_->section, own);
  return whole;
}

// Hand what is still to come of the highest node above to another worker: the larger a part, the fewer change hands. It
// goes with a copy of its state, because to make that anew could cost more than the work handed over.
void Worker::give(int depth) {
  for (int i = 0; i < depth; ++i) {
    Rest& to_come = to_come_[i];
    const Frame& f = *frames_[i];
    const int slots = search_->wanted.size - f.in_count;
    if (!to_come.whole || to_come.given || f.m <= slots + 1) continue;
    to_come.given = true;
    to_come.chunk = search_->chunks.fetch_add(1, std::memory_order_relaxed);
    to_come.bound = safe_bound(f);
    if (to_come.branch) search_->branches->hold(*to_come.branch, to_come.chunk);
    search_->task_started(to_come.bound);  // (for what this worker goes on with)
    return engine_.give({search_, copy(f), to_come.bound, to_come.chunk, to_come.branch});
  }
}

std::unique_ptr<Frame> Worker::copy(const Frame& f) {
  const Guide& g = equation_->guide;
  auto frame = spare_ ? std::move(spare_) : make_frame(true);
  frame->m = f.m;
  frame->in_count = f.in_count;
  std::copy(f.in, f.in + f.in_count, frame->in);
  std::copy(f.free.begin(), f.free.begin() + f.m, frame->free.begin());
  const std::size_t bytes = offset(f.m, g.stride) * sizeof(double);
  std::memcpy(frame->s.data(), f.s.data(), bytes);
  std::memcpy(frame->c.data(), f.c.data(), g.stride * sizeof(double));
  frame->value = f.value;
  frame->det = f.det;
  frame->since = f.since;
  frame->start = f.start;
  frame->gamma = f.gamma;
  frame->slack = f.slack;
  frame->basis = f.basis;
  if (f.backward) {
    std::memcpy(frame->dual.data(), f.dual.data(), bytes);
    std::memcpy(frame->beta.data(), f.beta.data(), g.stride * sizeof(double));
    std::memcpy(frame->norm2.data(), f.norm2.data(), g.stride * sizeof(double));
    std::memcpy(frame->r.data(), f.r.data(), g.stride * sizeof(double));
    frame->base = f.base;
  }
  frame->backward = f.backward;
  frame->bound = f.bound;
  return frame;
}

// Ties at zero error: only supports that come earlier in the order still matter.
bool Worker::tied_out(const Frame& f, int slots) const {
  if (!search_->all_exact()) return false;
  std::vector<int> first(f.free.begin(), f.free.begin() + f.m);
  std::partial_sort(first.begin(), first.begin() + slots, first.end());
  first.resize(slots);
  first.insert(first.end(), f.in, f.in + f.in_count);
  std::sort(first.begin(), first.end());
  return search_->tied_out(first.data());
}

}  // namespace exactsindy
