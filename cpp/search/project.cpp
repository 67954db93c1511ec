// Projections made anew where eliminations have lost too much: of a whole frame, and of single supports.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "search/node.hpp"

namespace exactsindy {

// Columns projected by a Projector in plain doubles are exact for columns changed by at most this share of their norms.
double Worker::backward_error(int columns) const { return 4.0 * kEps * (projector_->length() / kLane + 16) * columns; }

// Bound of |x_j| n_j for a support of columns with this determinant of their normalised Gram matrix, computed by a
// Projector: the smallest singular value of the normalised columns is at least sqrt(det / e) - sqrt(size) gamma, and
// |x| <= |z| / sigma. Infinite where rounding could make the determinant.
double Worker::coefficient_bound(double det, int size) const {
  const double lost = std::sqrt(size) * backward_error(size), sigma = 0.9 * std::sqrt(det / 2.72) - lost;
  return sigma > 10.0 * lost ? 1.01 * equation_->instance.z_norm / sigma : kInf;
}

// Forward side of a frame from scratch: project off orthonormal vectors of the terms in. False if the terms in are
// dependent, so that no support below counts.
//
// Directions in plain doubles span columns changed by a share gamma of their norms, so the residual norm of a support S
// is off by at most s = gamma sum |x_j| n_j <= gamma |z| sqrt(e size / det(S)). Where det(S) is the determinant of the
// terms in times that of what comes in later, f(S) exceeds the cut if the computed value exceeds it by 2 s sqrt(cut) +
// s^2; times the later determinant this is at most basis (2 sqrt(cut) + basis), basis = gamma |z| sqrt(e size /
// det(in)), taken twice for what rounding does to the determinants.
bool Worker::rebuild(Frame& f) {
  const Instance& in = equation_->instance;
  projector_->clear();
  for (int i = 0; i < f.in_count; ++i)
    if (!projector_->add(f.in[i])) return rebuild_exactly(f);
  const int size = search_->wanted.size;
  const double basis = 2.0 * backward_error(size) * in.z_norm * std::sqrt(2.72 * size / projector_->det());
  if (!(basis < 1e-6 * in.z_norm)) return rebuild_exactly(f);
  f.value = projector_->square();
  f.slack = 2.0 * backward_error(size) * in.z_norm;
  f.basis = basis;
  load_projection(f, projector_->direction(0), projector_->length(), projector_->count(), projector_->residual());
  return true;
}

// The same with directions in double-double, whose errors do not count.
bool Worker::rebuild_exactly(Frame& f) {
  const Instance& in = equation_->instance;
  int sorted[kMaxSize];
  std::copy(f.in, f.in + f.in_count, sorted);
  std::sort(sorted, sorted + f.in_count);
  refitter_->fit({sorted, static_cast<std::size_t>(f.in_count)}, fit_);
  if (!fit_.independent) {
    search_->passed_over();
    return false;
  }
  refitter_->projection(basis_.data(), vector_.data(), in.stride);
  f.value = fit_.error.hi;
  // The projected target is known to the last bits of its own norm, and to the noise of the fit.
  f.slack = 4.0 * kEps * std::sqrt(f.value) + 2.0 * std::sqrt(fit_.floor);
  f.basis = 0.0;
  load_projection(f, basis_.data(), in.stride, fit_.size, vector_.data());
  return true;
}

// Free columns and moments of a frame, projected off `rank` orthonormal vectors that leave this residual.
void Worker::load_projection(Frame& f, const double* directions, int length, int rank, const double* residual) {
  const Guide& g = equation_->guide;
  const Instance& in = equation_->instance;
  const Kernels& k = kernels();
  double* t = f.s.data();
  for (int a = 0; a < f.m; ++a)
    for (int b = 0; b < f.m; ++b) t[offset(a, g.stride) + b] = g.gram[offset(f.free[a], g.stride) + f.free[b]];
  for (int i = 0; i < rank; ++i) {
    const double* q = directions + static_cast<std::size_t>(i) * length;
    for (int a = 0; a < f.m; ++a) u_[a] = k.dot(q, in.column(f.free[a]), in.length[f.free[a]]) / g.scale[f.free[a]];
    std::fill(u_.data() + f.m, u_.data() + padded(f.m), 0.0);
    k.include(t, t, g.stride, f.m, u_.data());
  }
  for (int a = 0; a < f.m; ++a)
    f.c[a] = k.dot(residual, in.column(f.free[a]), in.length[f.free[a]]) / g.scale[f.free[a]];
  f.gamma = 2.0 * kEps * (rank + 2) * (in.stride / kLane + 16 + search_->wanted.size);
  f.start = f.value;
  f.det = 1.0;
  f.since = 0;
}

// A certified bound of one support in plain doubles, to spare the canonical value.
bool Worker::rejected(const int* sorted, double cut) {
  if (!std::isfinite(cut)) return false;
  const int size = search_->wanted.size;
  projector_->clear();
  for (int i = 0; i < size; ++i) projector_->add(sorted[i]);
  const double limit = coefficient_bound(projector_->det(), size);
  return equation_->certifier.bound(projector_->residual(), sorted, size, nullptr, 0, 0, cut, limit) > cut;
}

// The same for a pair of a scan: what the terms in leave of the target and of the columns is shared by all pairs.
bool Worker::pair_rejected(const PairScan& scan, int a, int b) {
  const double cut = search_->cut();
  if (!std::isfinite(cut)) return false;
  const Kernels& k = kernels();
  const int length = projector_->length();
  if (!pairs_ready_) {
    projector_->clear();
    for (int i = 0; i < scan.in_count; ++i) projector_->add(scan.in[i]);
    ++pairs_stamp_;
    pairs_ready_ = true;
  }
  const auto rest = [&](int j) {  // column j projected off the terms in
    double* q = rests_.data() + static_cast<std::size_t>(j) * length;
    if (rest_stamp_[j] != pairs_stamp_) {
      rest_stamp_[j] = pairs_stamp_;
      rest_square_[j] = projector_->project(j, q);
    }
    return q;
  };
  const double *first = rest(a), *second = rest(b);
  if (rest_square_[a] < rest_square_[b]) std::swap(a, b), std::swap(first, second);
  const Instance& in = equation_->instance;
  const auto share = [&](int j, double square) { return square / (in.norm[j] * in.norm[j]); };
  constexpr double kLeast = kDependent * kDependent;
  double det = projector_->det() * share(a, rest_square_[a]);
  double *w = w_.data(), *q = pair_.data();
  std::memcpy(w, projector_->residual(), length * sizeof(double));
  const auto leave = [&](const double* direction, double square, double* from) {
    k.axpy(-k.dot(direction, from, length) / square, direction, from, length);
  };
  if (share(a, rest_square_[a]) > kLeast) {
    leave(first, rest_square_[a], w);
    std::memcpy(q, second, length * sizeof(double));
    double square = rest_square_[b], before = 0.0;
    do {
      before = square;
      leave(first, rest_square_[a], q);
      square = k.dot(q, q, length);
      if (square < 0.01 * before) projector_->leave(q);
    } while (square < 0.01 * before && share(b, square) > kLeast);
    det *= share(b, square);
    if (share(b, square) > kLeast) leave(q, square, w);
    leave(first, rest_square_[a], w);
  }
  if (!(k.dot(w, w, length) > cut)) return false;
  int support[kMaxSize];
  std::copy(scan.in, scan.in + scan.in_count, support);
  support[scan.in_count] = a;
  support[scan.in_count + 1] = b;
  const int size = scan.in_count + 2;
  return equation_->certifier.bound(w, support, size, nullptr, 0, 0, cut, coefficient_bound(det, size)) > cut;
}

}  // namespace exactsindy
