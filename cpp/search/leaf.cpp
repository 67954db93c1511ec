// The ends of the tree: scans of the last one or two terms, and the value of single supports.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "search/node.hpp"

namespace exactsindy {

namespace {

// Pairs a quick scan may leave in doubt before a better projection is worth its cost.
constexpr int kPatience = 8;

}  // namespace

// What rounding may add to (gain of a support) * det. Elimination on the normalised Gram matrix is exact for a matrix
// changed by at most gamma in each entry, so a value is off by at most
//   gamma (|z| + sum |x_j| n_j)^2  <=  gamma |z|^2 (2 + 11 size) / det,
// because |x| <= |z| / sigma and the smallest eigenvalue of a unit-diagonal matrix is at least det / e. The factor 2 is
// for the rounding of the test itself and of the determinant.
double Worker::kappa(const Frame& f, double det) const {
  const double z = equation_->instance.z_norm;
  return 2.0 * f.gamma * z * z * (2.0 + 12.0 * search_->wanted.size) / det + 1e-300;
}

// Include the last free term and test all pairs of the others, without storing the projected matrix.
void Worker::scan_last(Frame& f) {
  const Guide& g = equation_->guide;
  const int last = f.m - 1;
  const double* row = f.s.data() + offset(last, g.stride);
  const double pivot = row[last], det = f.det * pivot;
  engine_.count(*search_);
  if (det > kSmallDet) {
    const double scale = 1.0 / std::sqrt(pivot), moment = f.c[last] * scale;
    for (int a = 0; a < last; ++a) {
      u_[a] = row[a] * scale;
      c_[a] = f.c[a] - u_[a] * moment;
      d_[a] = f.s[offset(a, g.stride) + a] - u_[a] * u_[a];
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
      const double schur = s[offset(a, stride) + b] - u[a] * u[b];
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
    const double d = f.s[offset(a, stride) + a];
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
    for (int a = 0; a < f.m; ++a) d_[a] = f.s[offset(a, equation_->guide.stride) + a];
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
  if (!fit_.admissible()) {
    search_->passed_over();
    if (fit_.within) search_->offer_smaller(fit_);
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
  if (smaller_fit_.admissible() && smaller_fit_.error == fit.error) search_->offer_smaller(smaller_fit_);
}

}  // namespace exactsindy
