#include "search/node.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

namespace exactsindy {

namespace {

constexpr long kPatientNodes = 4000;  // of a search, before it tries perspective bounds
constexpr int kRootSteps = 200, kNodeSteps = 20;
constexpr double kWorthwhile = 0.25;  // of the gap at the root that perspective bounds have to close
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
    perspective_.reset();
  }
  while (static_cast<int>(frames_.size()) < std::max(1, size - 2)) frames_.push_back(make_frame(true));
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
  bool independent = true;
  for (int j : search.wanted.required) {
    swap_to_last(f, position(f, j));
    if (!(independent = include_last(f, f))) break;
  }
  if (independent)
    begin(f);
  else
    proof_.write(kStepDependent);
  proof_.flush();
}

void Worker::begin(Frame& frame) {
  const int slots = search_->wanted.size - frame.in_count;
  if (slots >= 3) {
    explore(0);
  } else {
    proof_.write(frame.m < slots ? kStepWhole : kStepScanned);
    close(frame, slots);
  }
  if (aborted_) search_->leave_open(0.0);
  aborted_ = false;
}

void Worker::run(Task& task) {
  prepare(*task.search);
  frames_[0] = std::move(task.frame);
  proof_.begin(task.search->proof, task.search->section, task.chunk);
  begin(*frames_[0]);
  proof_.flush();
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
  k.exclude(f.dual.data(), g.stride, last, pivot, scale, beta, f.beta.data(), f.norm2.data());
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

// Find the slots + 1 free terms that are costliest to drop from the fit of everything.
void Worker::rank_terms(Frame& f, int slots) {
  if (!f.backward) {
    costly_[0] = f.m - 1;
    return;
  }
  const int stride = equation_->guide.stride;
  // The guide may break down (overflow, vanished vectors): such terms count as free to drop.
  const auto cost = [&](int a) {
    const double drop = f.beta[a] * f.beta[a] / f.norm2[a];
    return std::isfinite(drop) ? drop : 0.0;
  };
  for (int a = 0; a < f.m; ++a) d_[a] = cost(a);
  for (bool sure = false; !sure;) {
    int held = 0;
    for (int a = 0; a < f.m; ++a) {
      if (held > slots && !(d_[a] > drop_[held - 1])) continue;
      if (held <= slots) ++held;
      int at = held - 1;
      for (; at > 0 && drop_[at - 1] < d_[a]; --at) drop_[at] = drop_[at - 1], costly_[at] = costly_[at - 1];
      drop_[at] = d_[a];
      costly_[at] = a;
    }
    // Pythagoras loses digits when little is left of a dual vector: rank again with its true norm.
    sure = true;
    for (int i = 0; i < held; ++i) {
      const int a = costly_[i];
      const double* row = f.dual.data() + offset(a, stride);
      const double norm2 = kernels().dot(row, row, stride);
      if (std::abs(norm2 - f.norm2[a]) <= 1e-3 * norm2 || !std::isfinite(norm2)) continue;
      f.norm2[a] = norm2;
      d_[a] = cost(a);
      sure = false;
    }
  }
}

// Project the target off the terms in and `kept` free terms; false if too little of it is left to exceed the
// cut. The residual of a regularised fit would not do: it is not orthogonal to the terms, which costs far too much
// where nothing but the limit bounds their coefficients.
bool Worker::project(const Frame& f, const int* free, int kept, double cut) {
  projector_->clear();
  for (int i = 0; i < f.in_count; ++i) projector_->add(f.in[i]);
  for (int a = 0; a < kept && projector_->square() > cut; ++a) projector_->add(free[a]);
  return projector_->square() > cut;
}

// Safe lower bound for the supports below a frame, from a residual in guide coordinates.
double Worker::certified(const Frame& f, const double* r, int free_count, double cut) {
  const Equation& e = *equation_;
  const double* w = r;
  if (e.guide.regular > 0.0) {
    project(f, f.free.data(), free_count, cut);
    w = projector_->residual();
  } else if (e.guide.rotated) {
    std::memcpy(w_.data(), e.guide.offset.data(), e.instance.stride * sizeof(double));
    for (int j = 0; j < e.guide.columns; ++j)
      kernels().axpy(r[j], e.guide.back.data() + static_cast<std::size_t>(j) * e.instance.stride, w_.data(),
                     e.instance.stride);
    w = w_.data();
  }
  const int slots = search_->wanted.size - f.in_count;
  return e.certifier.bound(w, f.in, f.in_count, f.free.data(), free_count, slots, cut);
}

// A lower bound for all supports below a frame; never below the trivial 0. The certifier speaks about supports with an
// error of at most the cut; all others are above the cut.
double Worker::safe_bound(const Frame& f) {
  const double cut = search_->cut();
  if (!f.backward || !std::isfinite(cut)) return std::min(f.bound, cut);
  return std::clamp(certified(f, f.r.data(), f.m, cut), std::min(f.bound, cut), cut);
}

// At least one of the slots + 1 costliest free terms is not in the support: if dropping any one of them is too much,
// nothing is left. Each drop is certified on its own.
bool Worker::costly_terms_prune(Frame& f, int slots, double cut) {
  if (f.m <= slots) return false;
  if (!(f.base + drop_[slots] > cut)) return false;
  const int stride = equation_->guide.stride;
  if (equation_->guide.regular > 0.0) return regularised_drops_prune(f, slots, cut);
  for (int i = slots; i >= 0; --i) {
    if (engine_.stopping(*this, *search_)) return false;
    const int a = costly_[i];
    std::memcpy(vector_.data(), f.r.data(), stride * sizeof(double));
    kernels().axpy(f.beta[a] / f.norm2[a], f.dual.data() + offset(a, stride), vector_.data(), stride);
    std::swap(f.free[a], f.free[f.m - 1]);
    const double bound = certified(f, vector_.data(), f.m - 1, cut);
    std::swap(f.free[a], f.free[f.m - 1]);
    if (!(bound > cut)) return false;
  }
  return true;
}

// The same with residuals made anew: that of all other terms is shared.
bool Worker::regularised_drops_prune(const Frame& f, int slots, double cut) {
  order_.assign(f.free.begin(), f.free.begin() + f.m);
  int kept = f.m;
  int costly[kMaxSize + 1];
  std::copy(costly_, costly_ + slots + 1, costly);
  std::sort(costly, costly + slots + 1, std::greater<>());
  for (int i = 0; i <= slots; ++i) std::swap(order_[costly[i]], order_[--kept]);  // the costly terms go to the end
  if (!project(f, order_.data(), kept, cut)) return false;
  projector_->mark();
  for (int i = kept; i < f.m; ++i) {
    projector_->reset();
    std::swap(order_[i], order_[f.m - 1]);
    for (int a = kept; a + 1 < f.m && projector_->square() > cut; ++a) projector_->add(order_[a]);
    const double bound =
        equation_->certifier.bound(projector_->residual(), f.in, f.in_count, order_.data(), f.m - 1, slots, cut);
    std::swap(order_[i], order_[f.m - 1]);
    if (!(bound > cut)) return false;
  }
  return true;
}

bool Worker::pruned(Frame& f, int slots, int depth) {
  const double cut = search_->cut();
  if (!f.backward || !std::isfinite(cut)) return false;
  bool proved = false;
  if (f.base > cut) {
    const double bound = certified(f, f.r.data(), f.m, cut);
    proved = bound > cut;
    f.bound = std::max(f.bound, bound);
    if (proved) proof_.write(kStepBounded);
  }
  if (!proved && costly_terms_prune(f, slots, cut)) {
    proved = true;
    write_drops(f, slots);
  }
  if (!proved && equation_->guide.regular == 0.0) {
    if (!perspective_tried_ && search_->nodes.load(std::memory_order_relaxed) >= kPatientNodes) try_perspective(cut);
    proved = perspective_on_ && perspective_prunes(f, slots, depth, cut);
  }
  if (equation_->guide.regular > 0.0) {
    spent_ += certificate_cost(f);
    if (proved) saved_ += scans_below(f, slots);
    if (spent_ > 10.0 * saved_ + 1e5) worth_ *= 4.0, spent_ = saved_ = 0.0;
  }
  return proved;
}

// See what perspective bounds do at the root.
void Worker::try_perspective(double cut) {
  const Guide& g = equation_->guide;
  perspective_tried_ = true;
  if (search_->wanted.size < 4) return;
  if (!perspective_) perspective_ = std::make_unique<Perspective>(equation_->instance, g);
  if (!perspective_->usable()) return;
  std::vector<int> all(g.columns);
  for (int j = 0; j < g.columns; ++j) all[j] = j;
  Array point(g.stride);
  for (int j = 0; j < g.columns; ++j) point[j] = g.beta[j] * g.scale[j];
  const double bound =
      perspective_->ascend({nullptr, 0, all.data(), g.columns, search_->wanted.size}, cut, kRootSteps, point.data());
  perspective_on_ = bound - g.base > kWorthwhile * (cut - g.base);
  if (!perspective_on_) return;
  root_point_.assign(point.data(), point.data() + g.stride);
  points_.assign(frames_.size(), root_point_);
}

// The point of the last node at this depth, or else of its parent, is where the ascent begins.
bool Worker::perspective_prunes(const Frame& f, int slots, int depth, double cut) {
  std::vector<double>& point = points_[depth];
  Array& v = vector_;
  std::fill(v.data(), v.data() + equation_->guide.stride, 0.0);
  for (int i = 0; i < f.in_count; ++i) v[f.in[i]] = point[f.in[i]];
  for (int a = 0; a < f.m; ++a) v[f.free[a]] = point[f.free[a]];
  const Perspective::Terms terms{f.in, f.in_count, f.free.data(), f.m, slots};
  const double bound = perspective_->ascend(terms, cut, kNodeSteps, v.data());
  point.assign(v.data(), v.data() + equation_->guide.stride);
  ++perspective_tries_;
  if (perspective_tries_ % 128 == 0 && 3 * perspective_prunes_ < perspective_tries_)
    perspective_on_ = false;  // no gain
  if (!(bound > cut) || !(perspective_->certified(terms, v.data(), rounded_) > cut)) return false;
  ++perspective_prunes_;
  if (search_->proof) {
    proof_.write(kStepPerspective);
    order_.assign(f.in, f.in + f.in_count);
    order_.insert(order_.end(), f.free.begin(), f.free.begin() + f.m);
    std::sort(order_.begin(), order_.end());
    for (int j : order_) proof_.write_float(rounded_[j]);
    search_->perspective.store(true);
  }
  return true;
}

// The last free term is branched on.
void Worker::write_branch(const Frame& f) {
  proof_.write(kStepBranch + static_cast<std::uint64_t>(equation_->instance.original[f.free[f.m - 1]]));
}

// Every support misses one of the costliest terms, and that is too much.
void Worker::write_drops(const Frame& f, int slots) {
  proof_.write(kStepDrops);
  proof_.write(1);
  for (int i = 0; i <= slots; ++i)
    proof_.write(static_cast<std::uint64_t>(equation_->instance.original[f.free[costly_[i]]]));
}

// How many scans it takes to look at everything below a frame.
double Worker::scans_below(const Frame& f, int slots) const {
  double scans = 1.0;
  for (int i = 0; i < slots - 2; ++i) scans *= static_cast<double>(f.m - i) / (i + 1);
  return scans;
}

// What a certificate of a singular library takes, in scans.
double Worker::certificate_cost(const Frame& f) const {
  const double terms = f.m + f.in_count;
  return 0.15 * terms * std::min<double>(terms, equation_->instance.rows);
}

void Worker::explore(int depth) {
  Frame& f = *frames_[depth];
  const int slots = search_->wanted.size - f.in_count;
  if (perspective_on_) points_[depth] = depth > 0 ? points_[depth - 1] : root_point_;
  if (f.m < slots) proof_.write(kStepWhole);
  while (f.m >= slots) {
    if (f.m == slots) {
      proof_.write(kStepWhole);
      int support[kMaxSize];
      std::copy(f.in, f.in + f.in_count, support);
      std::copy(f.free.begin(), f.free.begin() + f.m, support + f.in_count);
      candidate(support);
      return;
    }
    if (engine_.pause(*this, *search_)) {
      if (!search_->superseded()) search_->leave_open(safe_bound(f));
      return;
    }
    if (equation_->guide.regular > 0.0 && f.backward) f.backward = scans_below(f, slots) > worth_ * certificate_cost(f);
    rank_terms(f, slots);
    if (pruned(f, slots, depth) || tied_out(f, slots)) return;
    if (weight > 1 && engine_.stopping(*this, *search_)) continue;  // (what follows takes long; it is left open above)
    if (f.in_count == static_cast<int>(search_->wanted.required.size())) search_->root_bound(safe_bound(f));
    swap_to_last(f, costly_[0]);
    write_branch(f);
    if (slots == 3) {
      scan_last(f);
      if (aborted_) {
        aborted_ = false;
        search_->leave_open(safe_bound(f));
        return;
      }
    } else {
      Frame& child = *frames_[depth + 1];
      if (include_last(f, child)) {
        if (engine_.hungry())
          hand_over(child);
        else
          explore(depth + 1);
      } else {
        proof_.write(kStepDependent);
      }
    }
    exclude_last(f);
  }
}

// The subtree goes with a copy of its state: to make that anew could cost more than the work handed over.
void Worker::hand_over(const Frame& child) {
  const Guide& g = equation_->guide;
  auto frame = make_frame(true);
  frame->m = child.m;
  frame->in_count = child.in_count;
  std::copy(child.in, child.in + child.in_count, frame->in);
  std::copy(child.free.begin(), child.free.begin() + child.m, frame->free.begin());
  const std::size_t bytes = offset(child.m, g.stride) * sizeof(double);
  std::memcpy(frame->s.data(), child.s.data(), bytes);
  std::memcpy(frame->c.data(), child.c.data(), g.stride * sizeof(double));
  frame->value = child.value;
  frame->det = child.det;
  frame->since = child.since;
  frame->start = child.start;
  frame->gamma = child.gamma;
  frame->slack = child.slack;
  frame->basis = child.basis;
  if (child.backward) {
    std::memcpy(frame->dual.data(), child.dual.data(), bytes);
    std::memcpy(frame->beta.data(), child.beta.data(), g.stride * sizeof(double));
    std::memcpy(frame->norm2.data(), child.norm2.data(), g.stride * sizeof(double));
    std::memcpy(frame->r.data(), child.r.data(), g.stride * sizeof(double));
    frame->base = child.base;
  }
  frame->backward = child.backward;
  frame->bound = child.bound;
  const std::uint64_t chunk = search_->chunks.fetch_add(1, std::memory_order_relaxed);
  proof_.write(kStepGoto);
  proof_.write(chunk);
  engine_.give({search_, std::move(frame), safe_bound(child), chunk});
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
