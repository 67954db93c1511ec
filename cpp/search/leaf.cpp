// The ends of the tree: scans of the last one or two terms, and the value of single supports.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "search/node.hpp"

namespace exactsindy {

namespace {

// Pairs a quick scan may leave in doubt before a better projection is worth its cost.
constexpr int kPatience = 16;

}  // namespace

// What rounding may add to (gain of a support) * (determinant of its last pair), where the determinant of the terms
// that came in since the last projection off orthonormal vectors is `det`. Elimination on the normalised Gram matrix is
// exact for a matrix changed by at most gamma in each entry, so with the projected target r a value is off by at most
//   gamma (|r| + sum |x_j| n_j)^2  <=  gamma |r|^2 (2 + 11 terms) / (det * determinant of the pair),
// because |x| <= |r| / sigma, and the smallest eigenvalue of a matrix with a diagonal of at most 1 is at least its
// determinant / e. The factor 2 is for the rounding of the test itself and of the determinant.
double Worker::kappa(const Frame& f, double det, int since, double cut) const {
  const double terms = since + 2.0, root = std::sqrt(cut);
  double error = 2.0 * f.gamma * f.start * (2.0 + 12.0 * terms) / det + 1e-300;
  if (f.basis > 0.0) error += f.basis / std::sqrt(det) * (2.0 * root + f.basis / std::sqrt(det));
  return error;
}

// Include the last free term and test all pairs of the others, without storing the projected matrix.
void Worker::scan_last(Frame& f) {
  const Guide& g = equation_->guide;
  const int last = f.m - 1;
  const double* row = f.s.data() + offset(last, g.stride);
  const double pivot = row[last], det = f.det * pivot, cut = search_->cut();
  engine_.count(*this, *search_);
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
    if (scan_pairs(f, {last, u_.data(), c_.data(), d_.data(), f.value - moment * moment, f.slack,
                       kappa(f, det, f.since + 1, cut), in, f.in_count + 1, kPatience})) {
      proof_.write(kStepScanned);
      return;
    }
  }
  // The quick projection leaves too much in doubt: make a better one.
  Frame& child = *scratch_;
  std::copy(f.free.begin(), f.free.begin() + last, child.free.begin());
  std::copy(f.in, f.in + f.in_count, child.in);
  child.in_count = f.in_count;
  child.in[child.in_count++] = f.free[last];
  child.m = last;
  const bool independent = rebuild(child);
  proof_.write(independent ? kStepScanned : kStepDependent);
  if (independent) close(child, 2);
}

bool Worker::scan_pairs(const Frame& f, const PairScan& scan) {
  const int stride = equation_->guide.stride;
  const Kernels& k = kernels();
  const double *s = f.s.data(), *u = scan.u, *c = scan.c, *d = scan.d;
  for (int a = 0; a < scan.m; ++a) square_[a] = c[a] * c[a];
  int support[kMaxSize], doubts = 0;
  pairs_ready_ = false;
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
      if (pair_rejected(scan, f.free[a], f.free[b])) continue;
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
  const double error = kappa(f, f.det, f.since, search_->cut());
  for (int a = 0; a < f.m; ++a) {
    const double d = f.s[offset(a, stride) + a];
    const double gap = f.value - search_->cut();
    if (gap > 0.0 && f.c[a] * f.c[a] + error < gap * d) continue;
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
    scan_pairs(f, {f.m, u_.data(), f.c.data(), d_.data(), f.value, f.slack, kappa(f, f.det, f.since, search_->cut()),
                   f.in, f.in_count, std::numeric_limits<int>::max()});
  }
}

// Give a support its canonical value and offer it.
void Worker::candidate(const int* support) {
  const int size = search_->wanted.size;
  int sorted[kMaxSize];
  std::copy(support, support + size, sorted);
  std::sort(sorted, sorted + size);
  const double cut = search_->cut();
  if (search_->tied_out(sorted)) return;
  if (rejected(sorted, cut)) return;
  refitter_->fit({sorted, static_cast<std::size_t>(size)}, fit_);
  if (!fit_.admissible()) {
    search_->passed_over();
    if (fit_.within) search_->offer_smaller(fit_);
    return;
  }
  if (fit_.error.hi > search_->cut()) return;
  search_->offer(fit_);
  if (search_->wanted.limit >= 0.0) engine_.count(*this, *search_);  // members of a pool are work too
  reduce(fit_);
}

// Terms that cost nothing to drop have the coefficient 0, so all of them can go at once: what is left is the smallest
// support with the same error. Where each alone costs nothing but all together do (copies of a column), they go one by
// one, the cheapest first.
void Worker::reduce(const Fit& fit) {
  if (!search_->wanted.smaller_too) return;
  const double grain = fit.grain * std::sqrt(fit.error.hi);
  const double tiny = std::ldexp(fit.error.hi, -74) + 4.0 * fit.floor + 0.25 * grain;
  const auto ties = [&](const int* support, int count) {
    refitter_->fit({support, static_cast<std::size_t>(count)}, smaller_fit_);
    if (!smaller_fit_.admissible() || !(quantise(smaller_fit_.error, grain) == quantise(fit.error, grain)))
      return false;
    search_->offer_smaller(smaller_fit_);
    return true;
  };
  int fewer[kMaxSize], count = 0;
  for (int i = 0; i < fit.size; ++i)
    if (!(fit.drop[i] <= tiny) || search_->needs(fit.support[i])) fewer[count++] = fit.support[i];
  if (count == fit.size || ties(fewer, count)) return;
  double drop[kMaxSize];
  const auto take = [&](const Fit& from) {
    for (int i = 0; i < from.size; ++i) drop[i] = search_->needs(from.support[i]) ? kInf : from.drop[i];
  };
  std::copy(fit.support, fit.support + fit.size, fewer);
  take(fit);
  for (count = fit.size; count > 0;) {
    const auto cheapest = std::min_element(drop, drop + count) - drop;
    if (!(drop[cheapest] <= tiny)) return;
    std::copy(fewer + cheapest + 1, fewer + count, fewer + cheapest);
    if (!ties(fewer, --count)) return;
    take(smaller_fit_);
  }
}

}  // namespace exactsindy
