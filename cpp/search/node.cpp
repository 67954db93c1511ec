#include "search/node.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace exactsindy {

namespace {

// Below this determinant the Gram elimination has lost too much: start again from orthonormal vectors.
constexpr double kSmallDet = 1e-6;
// Pairs a quick scan may leave in doubt before a better projection is worth its cost.
constexpr int kPatience = 8;

std::size_t offset(const Frame&, int row, int stride) { return static_cast<std::size_t>(row) * stride; }

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
  const Instance& in = search.equation.instance;
  const int size = search.wanted.size;
  if (equation_id_ != search.equation.id) {
    equation_ = &search.equation;
    equation_id_ = search.equation.id;
    refitter_ = std::make_unique<Refitter>(in);
    frames_.clear();
    scratch_.reset();
  }
  while (static_cast<int>(frames_.size()) < std::max(1, size - 2)) frames_.push_back(make_frame(true));
  if (!scratch_) {
    const int stride = equation_->guide.stride;
    scratch_ = make_frame(false);
    for (Array* a : {&u_, &c_, &d_, &square_, &vector_}) a->reset(std::max(stride, in.stride));
    w_.reset(in.stride + kMaxSize);
    basis_.reset(static_cast<std::size_t>(kMaxSize) * (in.stride + kMaxSize));
  }
}

// What rounding may add to (gain of a support) * det. Elimination on the normalised Gram matrix is exact for a matrix
// changed by at most gamma in each entry, so a value is off by at most
//   gamma (|z| + sum |x_j| n_j)^2  <=  gamma |z|^2 (2 + 11 size) / det,
// because |x| <= |z| / sigma and the smallest eigenvalue of a unit-diagonal matrix is at least det / e. The factor 2 is
// for the rounding of the test itself and of the determinant.
double Worker::kappa(const Frame& f, double det) const {
  const double z = equation_->instance.z_norm;
  return 2.0 * f.gamma * z * z * (2.0 + 12.0 * search_->wanted.size) / det + 1e-300;
}

void Worker::load_root(Frame& frame) const {
  const Guide& g = equation_->guide;
  frame.m = g.columns;
  frame.in_count = 0;
  for (int j = 0; j < g.columns; ++j) frame.free[j] = j;
  const std::size_t bytes = static_cast<std::size_t>(g.columns) * g.stride * sizeof(double);
  std::memcpy(frame.s.data(), g.gram.data(), bytes);
  std::memcpy(frame.c.data(), g.moment.data(), g.stride * sizeof(double));
  frame.value = g.square;
  frame.det = 1.0;
  frame.fresh = true;
  // Gram entries: stride / 8 + 3 roundings and the normalisation; then about 6 for each elimination step.
  frame.gamma = 2.0 * kEps * (equation_->instance.stride / kLane + 16 + 6 * search_->wanted.size);
  frame.slack = 0.0;
  if (!g.invertible) return;
  std::memcpy(frame.dual.data(), g.dual.data(), bytes);
  std::memcpy(frame.beta.data(), g.beta.data(), g.stride * sizeof(double));
  std::memset(frame.r.data(), 0, g.stride * sizeof(double));
  const Kernels& k = kernels();
  for (int j = 0; j < g.columns; ++j) {
    const double* row = g.dual.data() + offset(frame, j, g.stride);
    frame.norm2[j] = k.dot(row, row, g.stride);
  }
  frame.base = g.base;
}

void Worker::root(Search& search) {
  prepare(search);
  load_root(*frames_[0]);
  begin(*frames_[0]);
}

void Worker::begin(Frame& frame) {
  const int slots = search_->wanted.size - frame.in_count;
  if (slots >= 3)
    explore(0);
  else
    close(frame, slots);
  if (aborted_) search_->leave_open(0.0);
  aborted_ = false;
}

void Worker::run(Task& task) {
  prepare(*task.search);
  frames_[0] = std::move(task.frame);
  begin(*frames_[0]);
}

void Worker::swap_to_last(Frame& f, int i) {
  const int last = f.m - 1, stride = equation_->guide.stride;
  if (i == last) return;
  std::swap(f.free[i], f.free[last]);
  std::swap(f.c[i], f.c[last]);
  double* s = f.s.data();
  std::swap_ranges(s + offset(f, i, stride), s + offset(f, i, stride) + f.m, s + offset(f, last, stride));
  for (int a = 0; a < f.m; ++a) std::swap(s[offset(f, a, stride) + i], s[offset(f, a, stride) + last]);
  if (!equation_->guide.invertible) return;
  std::swap(f.beta[i], f.beta[last]);
  std::swap(f.norm2[i], f.norm2[last]);
  double* t = f.dual.data();
  std::swap_ranges(t + offset(f, i, stride), t + offset(f, i, stride) + stride, t + offset(f, last, stride));
}

// The last free term leaves: only the backward side changes.
void Worker::exclude_last(Frame& f) const {
  const Guide& g = equation_->guide;
  const int last = --f.m;
  if (!g.invertible) return;
  const Kernels& k = kernels();
  const double* pivot = f.dual.data() + offset(f, last, g.stride);
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
  const double* row = f.s.data() + offset(f, last, g.stride);
  const double pivot = row[last], det = f.det * pivot;
  const int entering = f.free[last];
  if (&child != &f) {
    std::copy(f.free.begin(), f.free.begin() + last, child.free.begin());
    std::copy(f.in, f.in + f.in_count, child.in);
    child.in_count = f.in_count;
    child.gamma = f.gamma;
    if (g.invertible) {
      std::memcpy(child.dual.data(), f.dual.data(), offset(f, last, g.stride) * sizeof(double));
      std::memcpy(child.beta.data(), f.beta.data(), last * sizeof(double));
      std::memcpy(child.norm2.data(), f.norm2.data(), last * sizeof(double));
      std::memcpy(child.r.data(), f.r.data(), g.stride * sizeof(double));
      child.base = f.base;
    }
  }
  child.m = last;
  child.in[child.in_count++] = entering;
  if (!(det > kSmallDet)) return rebuild(child);
  const double scale = 1.0 / std::sqrt(pivot), moment = f.c[last] * scale;
  child.value = f.value - moment * moment;
  child.det = det;
  child.fresh = false;
  child.slack = 0.0;
  for (int a = 0; a < last; ++a) u_[a] = row[a] * scale;
  std::fill(u_.data() + last, u_.data() + padded(last), 0.0);
  for (int a = 0; a < last; ++a) child.c[a] = f.c[a] - u_[a] * moment;
  kernels().include(f.s.data(), child.s.data(), g.stride, last, u_.data());
  return true;
}

// Forward side of a frame from scratch: project off an orthonormal basis of the terms in, made in double-double.
bool Worker::rebuild(Frame& f) {
  const Guide& g = equation_->guide;
  const Instance& in = equation_->instance;
  const Kernels& k = kernels();
  int sorted[kMaxSize];
  std::copy(f.in, f.in + f.in_count, sorted);
  std::sort(sorted, sorted + f.in_count);
  refitter_->fit({sorted, static_cast<std::size_t>(f.in_count)}, fit_);
  if (!fit_.admissible) return false;
  const int rank = fit_.size;
  refitter_->projection(basis_.data(), vector_.data(), in.stride);
  double* t = f.s.data();
  for (int a = 0; a < f.m; ++a)
    for (int b = 0; b < f.m; ++b) t[offset(f, a, g.stride) + b] = g.gram[offset(f, f.free[a], g.stride) + f.free[b]];
  for (int i = 0; i < rank; ++i) {
    const double* q = basis_.data() + static_cast<std::size_t>(i) * in.stride;
    for (int a = 0; a < f.m; ++a) u_[a] = k.dot(q, in.column(f.free[a]), in.length[f.free[a]]) / g.scale[f.free[a]];
    std::fill(u_.data() + f.m, u_.data() + padded(f.m), 0.0);
    k.include(t, t, g.stride, f.m, u_.data());
  }
  for (int a = 0; a < f.m; ++a)
    f.c[a] = k.dot(vector_.data(), in.column(f.free[a]), in.length[f.free[a]]) / g.scale[f.free[a]];
  f.gamma = 2.0 * kEps * (rank + 2) * (in.stride / kLane + 16 + search_->wanted.size);
  f.value = fit_.error.hi;
  // The projected target is known to the last bits of its own norm, and to the noise of the fit.
  f.slack = 4.0 * kEps * std::sqrt(f.value) + 2.0 * std::sqrt(fit_.floor);
  f.det = 1.0;
  f.fresh = true;
  return true;
}

// Find the slots + 1 free terms that are dearest to drop from the fit of everything.
void Worker::rank_terms(Frame& f, int slots) {
  if (!equation_->guide.invertible) {
    dear_[0] = f.m - 1;
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
      for (; at > 0 && drop_[at - 1] < d_[a]; --at) drop_[at] = drop_[at - 1], dear_[at] = dear_[at - 1];
      drop_[at] = d_[a];
      dear_[at] = a;
    }
    // Pythagoras loses digits when little is left of a dual vector: rank again with its true norm.
    sure = true;
    for (int i = 0; i < held; ++i) {
      const int a = dear_[i];
      const double* row = f.dual.data() + offset(f, a, stride);
      const double norm2 = kernels().dot(row, row, stride);
      if (std::abs(norm2 - f.norm2[a]) <= 1e-3 * norm2 || !std::isfinite(norm2)) continue;
      f.norm2[a] = norm2;
      d_[a] = cost(a);
      sure = false;
    }
  }
}

// Safe lower bound for the supports below a frame, from a residual in guide coordinates.
double Worker::certified(const Frame& f, const double* r, int free_count, int slots, double cut) {
  const Equation& e = *equation_;
  const double* w = r;
  if (e.guide.rotated) {
    std::memcpy(w_.data(), e.guide.offset.data(), e.instance.stride * sizeof(double));
    for (int j = 0; j < e.guide.columns; ++j)
      kernels().axpy(r[j], e.guide.back.data() + static_cast<std::size_t>(j) * e.instance.stride, w_.data(),
                     e.instance.stride);
    w = w_.data();
  }
  return e.certifier.bound(w, f.in, f.in_count, f.free.data(), free_count, slots, cut);
}

// A lower bound for all supports below a frame; never below the trivial 0. The certifier speaks about supports with an
// error of at most the cut; all others are above the cut.
double Worker::safe_bound(const Frame& f) {
  const double cut = search_->cut();
  if (!equation_->guide.invertible || !std::isfinite(cut)) return 0.0;
  return std::clamp(certified(f, f.r.data(), f.m, search_->wanted.size - f.in_count, cut), 0.0, cut);
}

// At least one of the slots + 1 dearest free terms is not in the support: if dropping any one of them is too much,
// nothing is left. Each drop is certified on its own.
bool Worker::dear_terms_prune(Frame& f, int slots, double cut) {
  if (f.m <= slots) return false;
  if (!(f.base + drop_[slots] > cut)) return false;
  const int stride = equation_->guide.stride;
  for (int i = slots; i >= 0; --i) {
    const int a = dear_[i];
    std::memcpy(vector_.data(), f.r.data(), stride * sizeof(double));
    kernels().axpy(f.beta[a] / f.norm2[a], f.dual.data() + offset(f, a, stride), vector_.data(), stride);
    std::swap(f.free[a], f.free[f.m - 1]);
    const double bound = certified(f, vector_.data(), f.m - 1, slots, cut);
    std::swap(f.free[a], f.free[f.m - 1]);
    if (!(bound > cut)) return false;
  }
  return true;
}

bool Worker::pruned(Frame& f, int slots) {
  const double cut = search_->cut();
  if (!equation_->guide.invertible || !std::isfinite(cut)) return false;
  if (f.base > cut && certified(f, f.r.data(), f.m, slots, cut) > cut) return true;
  return dear_terms_prune(f, slots, cut);
}

void Worker::explore(int depth) {
  Frame& f = *frames_[depth];
  const int slots = search_->wanted.size - f.in_count;
  while (f.m >= slots) {
    if (f.m == slots) {
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
    rank_terms(f, slots);
    if (pruned(f, slots) || tied_out(f, slots)) return;
    if (f.in_count == 0) search_->root_bound(safe_bound(f));
    swap_to_last(f, dear_[0]);
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
  const std::size_t bytes = offset(child, child.m, g.stride) * sizeof(double);
  std::memcpy(frame->s.data(), child.s.data(), bytes);
  std::memcpy(frame->c.data(), child.c.data(), g.stride * sizeof(double));
  frame->value = child.value;
  frame->det = child.det;
  frame->fresh = child.fresh;
  frame->gamma = child.gamma;
  frame->slack = child.slack;
  if (g.invertible) {
    std::memcpy(frame->dual.data(), child.dual.data(), bytes);
    std::memcpy(frame->beta.data(), child.beta.data(), g.stride * sizeof(double));
    std::memcpy(frame->norm2.data(), child.norm2.data(), g.stride * sizeof(double));
    std::memcpy(frame->r.data(), child.r.data(), g.stride * sizeof(double));
    frame->base = child.base;
  }
  engine_.give({search_, std::move(frame), safe_bound(child)});
}

// Ties at zero error: only supports that come earlier in the order still matter.
bool Worker::tied_out(const Frame& f, int slots) const {
  if (search_->cut() != 0.0) return false;
  std::vector<int> first(f.free.begin(), f.free.begin() + f.m);
  std::partial_sort(first.begin(), first.begin() + slots, first.end());
  first.resize(slots);
  first.insert(first.end(), f.in, f.in + f.in_count);
  std::sort(first.begin(), first.end());
  return search_->tied_out(first.data());
}

// Include the last free term and test all pairs of the others, without storing the projected matrix.
void Worker::scan_last(Frame& f) {
  const Guide& g = equation_->guide;
  const int last = f.m - 1;
  const double* row = f.s.data() + offset(f, last, g.stride);
  const double pivot = row[last], det = f.det * pivot;
  search_->nodes.fetch_add(1, std::memory_order_relaxed);
  if (det > kSmallDet) {
    const double scale = 1.0 / std::sqrt(pivot), moment = f.c[last] * scale;
    for (int a = 0; a < last; ++a) {
      u_[a] = row[a] * scale;
      c_[a] = f.c[a] - u_[a] * moment;
      d_[a] = f.s[offset(f, a, g.stride) + a] - u_[a] * u_[a];
    }
    int in[kMaxSize];
    std::copy(f.in, f.in + f.in_count, in);
    in[f.in_count] = f.free[last];
    if (scan_pairs(f, {last, u_.data(), c_.data(), d_.data(), f.value - moment * moment, 0.0, kappa(f, det), in,
                       f.in_count + 1, kPatience}))
      return;
  }
  // The quick projection leaves too much in doubt: make a better one.
  Frame& child = *scratch_;
  std::copy(f.free.begin(), f.free.begin() + last, child.free.begin());
  std::copy(f.in, f.in + f.in_count, child.in);
  child.in_count = f.in_count;
  child.in[child.in_count++] = f.free[last];
  child.m = last;
  if (rebuild(child)) close(child, 2);
}

bool Worker::scan_pairs(const Frame& f, const PairScan& scan) {
  const int stride = equation_->guide.stride;
  const Kernels& k = kernels();
  const double *s = f.s.data(), *u = scan.u, *c = scan.c, *d = scan.d;
  for (int a = 0; a < scan.m; ++a) square_[a] = c[a] * c[a];
  int support[kMaxSize], doubts = 0;
  const auto gap_now = [&] {
    const double cut = search_->cut();
    if (scan.slack == 0.0 || !std::isfinite(cut)) return scan.value - cut;
    const double root = std::sqrt(cut) + scan.slack;
    return scan.value - root * root * (1.0 + 8.0 * kEps);
  };
  double gap = gap_now();
  for (int a = 1; a < scan.m; ++a) {
    // A gap of 0 or less: the terms in alone reach the cut, so every pair does (and rounding could turn the test
    // round).
    if (gap > 0.0) a = k.scan(s, stride, a, scan.m, u, c, square_.data(), d, gap, scan.kappa);
    if (a >= scan.m) return true;
    for (int b = 0; b < a; ++b) {
      const double schur = s[offset(f, a, stride) + b] - u[a] * u[b];
      const double gain = square_[a] * d[b] - 2.0 * c[a] * c[b] * schur + square_[b] * d[a];
      if (gap > 0.0 && gain + scan.kappa < gap * (d[a] * d[b] - schur * schur)) continue;
      if (++doubts > scan.patience) return false;
      std::copy(scan.in, scan.in + scan.in_count, support);
      support[scan.in_count] = f.free[a];
      support[scan.in_count + 1] = f.free[b];
      candidate(support);
      gap = gap_now();
    }
    if (engine_.stopping(*this, *search_)) {
      aborted_ = !search_->superseded();
      return true;
    }
  }
  return true;
}

void Worker::scan_single(const Frame& f) {
  const int stride = equation_->guide.stride;
  int support[kMaxSize];
  std::copy(f.in, f.in + f.in_count, support);
  for (int a = 0; a < f.m; ++a) {
    const double d = f.s[offset(f, a, stride) + a];
    const double gap = f.value - search_->cut();
    if (gap > 0.0 && f.c[a] * f.c[a] + kappa(f, f.det) < gap * d) continue;
    support[f.in_count] = f.free[a];
    candidate(support);
  }
}

// Finish a frame with at most two slots left.
void Worker::close(Frame& f, int slots) {
  if (f.m < slots) return;
  if (slots == 0) {
    candidate(f.in);
  } else if (slots == 1) {
    scan_single(f);
  } else {
    for (int a = 0; a < f.m; ++a) d_[a] = f.s[offset(f, a, equation_->guide.stride) + a];
    std::fill(u_.data(), u_.data() + padded(f.m), 0.0);
    // Projected off orthonormal vectors, only the pair itself can be ill-conditioned: with the projected target r,
    // the error is at most gamma (|r| + |x_a| + |x_b|)^2 <= 10 gamma |r|^2 / det of the pair.
    const double error = f.fresh ? 20.0 * f.gamma * f.value + 1e-300 : kappa(f, f.det);
    scan_pairs(f, {f.m, u_.data(), f.c.data(), d_.data(), f.value, f.slack, error, f.in, f.in_count,
                   std::numeric_limits<int>::max()});
  }
}

// Give a support its canonical value and offer it.
void Worker::candidate(const int* support) {
  const int size = search_->wanted.size;
  int sorted[kMaxSize];
  std::copy(support, support + size, sorted);
  std::sort(sorted, sorted + size);
  const double cut = search_->cut();
  if (cut == 0.0 && search_->tied_out(sorted)) return;
  if (rejected(sorted, cut)) return;
  refitter_->fit({sorted, static_cast<std::size_t>(size)}, fit_);
  if (!fit_.admissible) {
    search_->offer_smaller(fit_);
    return;
  }
  if (fit_.error.hi > search_->cut()) return;
  search_->offer(fit_);
  reduce(fit_);
}

// A certified bound of one support in plain doubles, to spare the canonical value.
bool Worker::rejected(const int* sorted, double cut) {
  if (!std::isfinite(cut)) return false;
  const Instance& in = equation_->instance;
  const Kernels& k = kernels();
  const int size = search_->wanted.size;
  double det = 1.0;  // of the normalised Gram matrix
  const int n = in.stride + (in.has_ridge ? padded(size) : 0);
  double* w = w_.data();
  std::memcpy(w, in.z.data(), in.stride * sizeof(double));
  std::memset(w + in.stride, 0, (n - in.stride) * sizeof(double));
  const auto direction = [&](int i) { return basis_.data() + static_cast<std::size_t>(i) * n; };
  for (int i = 0; i < size; ++i) {
    double* q = direction(i);
    std::memcpy(q, in.column(sorted[i]), in.stride * sizeof(double));
    std::memset(q + in.stride, 0, (n - in.stride) * sizeof(double));
    if (in.has_ridge) q[in.stride + i] = std::sqrt(in.ridge[sorted[i]]);
    for (int l = 0; l < i; ++l) k.axpy(-k.dot(direction(l), q, n), direction(l), q, n);
    const double norm2 = k.dot(q, q, n);
    det *= norm2 / (in.norm[sorted[i]] * in.norm[sorted[i]]);
    if (!(norm2 > 1e-24)) return false;
    const double scale = 1.0 / std::sqrt(norm2);
    for (int j = 0; j < n; ++j) q[j] *= scale;
    k.axpy(-k.dot(q, w, n), q, w, n);
  }
  for (int i = size - 1; i >= 0; --i) k.axpy(-k.dot(direction(i), w, n), direction(i), w, n);
  // The triangle is exact for columns changed by gamma of their norms, so the smallest singular value of the normalised
  // columns is at least sqrt(det / e) - sqrt(size) gamma, and |x| <= |z| / sigma.
  const double gamma = 4.0 * kEps * (n / kLane + 16) * size;
  const double sigma = 0.9 * std::sqrt(det / 2.72) - std::sqrt(size) * gamma;
  const double limit =
      sigma > 10.0 * std::sqrt(size) * gamma ? 1.01 * in.z_norm / sigma : std::numeric_limits<double>::infinity();
  return equation_->certifier.bound(w, sorted, size, nullptr, 0, 0, cut, limit) > cut;
}

// Terms that cost nothing to drop have the coefficient 0, so all of them can go at once: what is left is the smallest
// support with the same error.
void Worker::reduce(const Fit& fit) {
  if (!search_->wanted.smaller_too) return;
  const double tiny = std::ldexp(fit.error.hi, -74) + 4.0 * fit.floor;
  int fewer[kMaxSize], count = 0;
  for (int i = 0; i < fit.size; ++i)
    if (!(fit.drop[i] <= tiny)) fewer[count++] = fit.support[i];
  if (count == fit.size) return;
  refitter_->fit({fewer, static_cast<std::size_t>(count)}, smaller_fit_);
  if (smaller_fit_.error == fit.error) search_->offer_smaller(smaller_fit_);
}

}  // namespace exactsindy
