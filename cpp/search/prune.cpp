// What ends a subtree early: the bound of all terms that are left, the cost of dropping some of them, and the
// perspective bound. The guide proposes, and only what is certified counts.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "search/node.hpp"

namespace exactsindy {

namespace {

constexpr long kPatientNodes = 4000;              // of a search, before it tries perspective bounds
constexpr int kRootSteps = 200, kNodeSteps = 20;  // of the ascent to a perspective bound, at most
constexpr double kWorthwhile = 0.25;  // of the gap at the root that perspective bounds have to close to be used
constexpr long kTrials = 128;         // perspective bounds between two looks at how many of them pruned
// Measured on libraries of 45 to 120 terms: a certificate of a singular library takes as long as this share of (terms x
// rank) scans, and trying goes on while it costs less than ten times what it saved (a scan of dependent columns takes
// longer than most), but for a hundred thousand scans to begin with.
constexpr double kScansPerEntry = 0.15, kCostPerSaving = 10.0, kCredit = 1e5, kStricter = 4.0;

}  // namespace

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
    if (!perspective_tried_ && search_->nodes.load(std::memory_order_relaxed) + uncounted >= kPatientNodes)
      try_perspective(cut);
    proved = perspective_on_ && perspective_prunes(f, slots, depth, cut);
  }
  if (equation_->guide.regular > 0.0) {
    spent_ += certificate_cost(f);
    if (proved) saved_ += scans_below(f, slots);
    if (spent_ > kCostPerSaving * saved_ + kCredit) worth_ *= kStricter, spent_ = saved_ = 0.0;
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
  if (perspective_tries_ % kTrials == 0 && 3 * perspective_prunes_ < perspective_tries_)
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
  return kScansPerEntry * terms * std::min<double>(terms, equation_->instance.rows);
}

}  // namespace exactsindy
