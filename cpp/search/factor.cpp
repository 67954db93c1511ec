#include "search/factor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace exactsindy {

namespace {

// Householder QR of the ridge-augmented columns, without pivoting. Row j of `work` is column j; ridge rows start at the
// padded end of the data rows, so that all loops run over whole vectors.
struct Householder {
  const Kernels& k = kernels();
  int first_ridge, length, n;
  Array work, reflector;     // n x length each; reflectors are zero before their diagonal
  std::vector<double> diag;  // diagonal of R

  Householder(const Instance& in, double regular)
      : first_ridge(in.stride),
        length(in.stride + (in.has_ridge || regular > 0.0 ? padded(in.columns) : 0)),
        n(in.columns),
        diag(n) {
    work.reset(static_cast<std::size_t>(n) * length);
    reflector.reset(static_cast<std::size_t>(n) * length);
    for (int j = 0; j < n; ++j) {
      std::copy(in.column(j), in.column(j) + in.rows, column(j));
      const double ridge = in.ridge[j] + regular * in.norm[j] * in.norm[j];
      if (ridge > 0.0) column(j)[first_ridge + j] = std::sqrt(ridge);
    }
    for (int j = 0; j < n; ++j) {
      double* v = reflector.data() + static_cast<std::size_t>(j) * length;
      std::copy(column(j) + j, column(j) + length, v + j);
      double norm = std::sqrt(k.dot(v, v, length));
      if (norm == 0.0) continue;
      if (v[j] > 0.0) norm = -norm;
      diag[j] = norm;
      v[j] -= norm;
      const double scale = std::sqrt(2.0 / k.dot(v, v, length));
      for (int i = j; i < length; ++i) v[i] *= scale;  // |v|^2 = 2: the reflection is I - v v'
      for (int l = j + 1; l < n; ++l) reflect(j, column(l));
    }
  }
  double* column(int j) { return work.data() + static_cast<std::size_t>(j) * length; }
  const double* column(int j) const { return work.data() + static_cast<std::size_t>(j) * length; }
  void reflect(int j, double* y) const {
    if (diag[j] == 0.0) return;
    const int from = j / kLane * kLane;
    const double* v = reflector.data() + static_cast<std::size_t>(j) * length + from;
    k.axpy(-k.dot(v, y + from, length - from), v, y + from, length - from);
  }
};

}  // namespace

Guide::Guide(const Instance& in, bool backward, double regularisation)
    : columns(in.columns), stride(padded(std::max(in.columns, 1))), regular(regularisation) {
  const Kernels& k = kernels();
  gram.reset(static_cast<std::size_t>(columns) * stride);
  moment.reset(stride);
  for (int i = 0; i < columns; ++i)
    scale.push_back(std::sqrt(k.dot(in.column(i), in.column(i), in.length[i]) + in.ridge[i]));
  for (int i = 0; i < columns; ++i) {
    for (int j = 0; j < i; ++j) {
      const double s = k.dot(in.column(i), in.column(j), std::min(in.length[i], in.length[j]));
      gram[static_cast<std::size_t>(i) * stride + j] = gram[static_cast<std::size_t>(j) * stride + i] =
          s / (scale[i] * scale[j]);
    }
    gram[static_cast<std::size_t>(i) * stride + i] = 1.0;
    moment[i] = k.dot(in.column(i), in.z.data(), in.length[i]) / scale[i];
  }
  square = k.dot(in.z.data(), in.z.data(), in.stride);
  if (!backward) return;

  // Fewer rows than columns: only a ridge makes an inverse.
  if (in.rows < columns && !in.has_ridge && regular == 0.0) return;
  // The triangular factor itself serves when there is no ridge and no column was left out.
  rotated = in.has_ridge || columns < in.rows || regular > 0.0;
  Array r(static_cast<std::size_t>(columns) * stride);  // row j is column j of the triangle
  Array target(in.stride + padded(columns));
  std::copy(in.z.data(), in.z.data() + in.rows, target.data());
  if (rotated) {
    const Householder qr(in, regular);
    for (int j = 0; j < columns; ++j) {
      double* to = r.data() + static_cast<std::size_t>(j) * stride;
      std::copy(qr.column(j), qr.column(j) + j, to);
      to[j] = qr.diag[j];
      qr.reflect(j, target.data());
    }
    back.reset(static_cast<std::size_t>(columns) * in.stride);
    offset.reset(in.stride);
    Array unit(qr.length);
    std::copy(in.z.data(), in.z.data() + in.rows, offset.data());
    for (int j = 0; j < columns; ++j) {
      std::fill(unit.data(), unit.data() + qr.length, 0.0);
      unit[j] = 1.0;
      for (int l = j; l >= 0; --l) qr.reflect(l, unit.data());
      double* row = back.data() + static_cast<std::size_t>(j) * in.stride;
      std::copy(unit.data(), unit.data() + in.rows, row);
      k.axpy(-target[j], row, offset.data(), in.stride);
    }
    for (int i = columns; i < qr.length; ++i) base += target[i] * target[i];
  } else {
    for (int j = 0; j < columns; ++j)
      std::copy(in.column(j), in.column(j) + j + 1, r.data() + static_cast<std::size_t>(j) * stride);
  }
  for (int j = 0; j < columns; ++j)
    if (std::abs(r[static_cast<std::size_t>(j) * stride + j]) <= 1e-14) return;

  // Inverse of the triangle by rows: T R = I.
  dual.reset(static_cast<std::size_t>(columns) * stride);
  beta.reset(stride);
  for (int i = 0; i < columns; ++i) {
    double* row = dual.data() + static_cast<std::size_t>(i) * stride;
    const int from = i / kLane * kLane;
    row[i] = 1.0 / r[static_cast<std::size_t>(i) * stride + i];
    for (int j = i + 1; j < columns; ++j) {
      const double* column = r.data() + static_cast<std::size_t>(j) * stride;
      row[j] = -k.dot(row + from, column + from, padded(j) - from) / column[j];
    }
    beta[i] = k.dot(row, target.data(), stride);
  }
  invertible = columns > 0;
}

Certifier::Certifier(const Instance& in, const Guide& guide)
    : instance_(in), kernels_(kernels()), limit_(in.limit), centre_(in.columns, kInf), spread_(in.columns, 0.0) {
  // The limit on coefficients is tested with rounding: supports a little above it may count, too.
  for (double& limit : limit_) limit *= 1.0 + kLimitSlack;
  if (!guide.invertible || guide.regular > 0.0) return;
  // A ridge on every term bounds the coefficients well enough by itself.
  if (*std::min_element(in.ridge.begin(), in.ridge.end()) > 1e-14) {
    inverse_ = true;
    return;
  }
  const int n = in.columns, rows = in.rows, stride = in.stride;
  // Approximate left inverse L of the stored matrix (ridge rows left out where they exist).
  Array left(static_cast<std::size_t>(n) * stride);
  for (int i = 0; i < n; ++i) {
    const double* row = guide.dual.data() + static_cast<std::size_t>(i) * guide.stride;
    double* out = left.data() + static_cast<std::size_t>(i) * stride;
    if (!guide.rotated) {
      std::copy(row, row + n, out);
      continue;
    }
    for (int j = 0; j < n; ++j)
      if (row[j] != 0.0) kernels_.axpy(row[j], guide.back.data() + static_cast<std::size_t>(j) * stride, out, stride);
  }
  // Row bounds of E = I - L A, rounding included: |fl(L A) - L A|_ij <= gamma |L_i| |a_j|.
  const double gamma = (rows / kLane + 8) * 2.0 * kEps;
  std::vector<double> row_norm(n), defect(n);
  double left_square = 0.0, defect_square = 0.0;
  for (int i = 0; i < n; ++i) {
    const double* row = left.data() + static_cast<std::size_t>(i) * stride;
    row_norm[i] = std::sqrt(kernels_.dot(row, row, stride)) * (1.0 + gamma);
    double sum = 0.0;
    for (int j = 0; j < n; ++j) {
      const double e = std::abs((i == j ? 1.0 : 0.0) - kernels_.dot(row, in.column(j), in.length[j])) +
                       gamma * row_norm[i] * in.norm[j] + 2.0 * kEps;
      sum += e * e;
    }
    defect[i] = std::sqrt(sum) * (1.0 + gamma * n);
    left_square += row_norm[i] * row_norm[i];
    defect_square += defect[i] * defect[i];
  }
  const double left_norm = std::sqrt(left_square) * (1.0 + gamma * n);
  const double defect_norm = std::sqrt(defect_square) * (1.0 + gamma * n);
  if (!(defect_norm < 0.5) || !std::isfinite(left_norm)) return;
  inverse_ = true;
  const double inverse_norm = left_norm / (1.0 - defect_norm) * (1.0 + 8.0 * kEps);
  for (int i = 0; i < n; ++i) {
    const double* row = left.data() + static_cast<std::size_t>(i) * stride;
    // |x| <= inverse_norm |A x| <= inverse_norm (|z| + sqrt(value)).
    spread_[i] = (row_norm[i] + defect[i] * inverse_norm) * (1.0 + 8.0 * kEps);
    centre_[i] = (std::abs(kernels_.dot(row, in.z.data(), stride)) +
                  (gamma * row_norm[i] + defect[i] * inverse_norm) * in.z_norm) *
                 (1.0 + 8.0 * kEps);
  }
}

double Certifier::reach(int j, double root) const {
  double value = std::min((centre_[j] + spread_[j] * root) * (1.0 + 4.0 * kEps), limit_[j]);
  if (instance_.ridge[j] > 0.0) value = std::min(value, root / std::sqrt(instance_.ridge[j]) * (1.0 + 8.0 * kEps));
  return value;
}

double Certifier::bound(const double* w, const int* in, int in_count, const int* free, int free_count, int slots,
                        double cut, double norm_limit) const {
  const int stride = instance_.stride;
  const double gamma = (stride / kLane + 8) * 2.0 * kEps;
  const double w_square = kernels_.dot(w, w, stride);
  if (!(w_square > 1e-280)) return -kInf;  // products may underflow, which no error term below accounts for
  const double w_norm = std::sqrt(w_square) * (1.0 + gamma);
  const double wz = kernels_.dot(w, instance_.z.data(), stride);
  const double root = std::sqrt(cut) * (1.0 + 4.0 * kEps);

  const auto largest_gain = [&](int j, double limit) {
    // Largest value of 2 g x - ridge x^2 for |x| <= reach, with |g| as large as rounding allows.
    const double g =
        std::abs(kernels_.dot(w, instance_.column(j), instance_.length[j])) + gamma * w_norm * instance_.norm[j];
    const double x = std::min(reach(j, root), limit / instance_.norm[j]);
    const double ridge = instance_.ridge[j];
    if (ridge > 0.0 && g <= ridge * x) return g / ridge * g * (1.0 + 8.0 * kEps);
    return 2.0 * g * x * (1.0 + 8.0 * kEps);  // (the ridge part is left out: smaller is safe)
  };

  double total = 0.0, magnitude = 2.0 * std::abs(wz) + w_square;
  for (int i = 0; i < in_count; ++i) total += largest_gain(in[i], norm_limit);
  // The costliest `slots` free terms.
  double top[kMaxSize];
  int held = 0;
  for (int i = 0; slots > 0 && i < free_count; ++i) {
    const double p = largest_gain(free[i], kInf);
    if (held == slots && !(p > top[held - 1])) continue;
    if (held < slots) ++held;
    int at = held - 1;
    for (; at > 0 && top[at - 1] < p; --at) top[at] = top[at - 1];
    top[at] = p;
  }
  for (int i = 0; i < held; ++i) total += top[i];
  magnitude += total;
  const double result = 2.0 * wz - w_square - total - gamma * (2.0 * w_norm * instance_.z_norm + w_square) -
                        (2.0 * kMaxSize + 16.0) * kEps * magnitude;
  return std::isnan(result) ? -kInf : result;
}

}  // namespace exactsindy
