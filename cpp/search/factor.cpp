#include "search/factor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace exactsindy {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// Householder QR of the ridge-augmented columns, LINPACK style, without pivoting. Column-major, leading dimension m.
struct Householder {
  int m, n;
  std::vector<double> v;      // m x n: reflectors below and on the diagonal, R above
  std::vector<double> diag;   // diagonal of R

  Householder(const Instance& in) : m(in.rows + (in.has_ridge ? in.columns : 0)), n(in.columns), diag(n) {
    v.assign(static_cast<std::size_t>(m) * n, 0.0);
    for (int j = 0; j < n; ++j) {
      std::copy(in.column(j), in.column(j) + in.rows, at(j));
      if (in.has_ridge) at(j)[in.rows + j] = std::sqrt(in.ridge[j]);
    }
    for (int j = 0; j < n; ++j) {
      double norm = 0.0;
      for (int i = j; i < m; ++i) norm += at(j)[i] * at(j)[i];
      norm = std::sqrt(norm);
      if (norm == 0.0) {
        diag[j] = 0.0;
        continue;
      }
      if (at(j)[j] < 0.0) norm = -norm;
      for (int i = j; i < m; ++i) at(j)[i] /= norm;
      at(j)[j] += 1.0;
      diag[j] = -norm;
      for (int l = j + 1; l < n; ++l) reflect(j, at(l));
    }
  }
  double* at(int j) { return v.data() + static_cast<std::size_t>(j) * m; }
  const double* at(int j) const { return v.data() + static_cast<std::size_t>(j) * m; }
  void reflect(int j, double* y) const {
    const double* h = at(j);
    if (h[j] == 0.0 || diag[j] == 0.0) return;
    double sum = 0.0;
    for (int i = j; i < m; ++i) sum += h[i] * y[i];
    sum = -sum / h[j];
    for (int i = j; i < m; ++i) y[i] += sum * h[i];
  }
};

}  // namespace

Guide::Guide(const Instance& in) : columns(in.columns), stride(padded(std::max(in.columns, 1))) {
  const Kernels& k = kernels();
  gram.reset(static_cast<std::size_t>(columns) * stride);
  moment.reset(stride);
  for (int i = 0; i < columns; ++i) {
    for (int j = 0; j < i; ++j) {
      const double s = k.dot(in.column(i), in.column(j), std::min(in.length[i], in.length[j]));
      gram[static_cast<std::size_t>(i) * stride + j] = gram[static_cast<std::size_t>(j) * stride + i] =
          s / (in.norm[i] * in.norm[j]);
    }
    gram[static_cast<std::size_t>(i) * stride + i] = 1.0;
    moment[i] = k.dot(in.column(i), in.z.data(), in.length[i]) / in.norm[i];
  }
  square = k.dot(in.z.data(), in.z.data(), in.stride);

  // The triangular factor itself serves when there is no ridge and no column was left out.
  rotated = in.has_ridge || columns < in.rows;
  std::vector<double> r(static_cast<std::size_t>(columns) * columns, 0.0);  // column-major
  std::vector<double> target(std::max(in.rows + (in.has_ridge ? columns : 0), columns), 0.0);
  std::copy(in.z.data(), in.z.data() + in.rows, target.begin());
  if (rotated) {
    const Householder qr(in);
    if (qr.m < columns) return;
    for (int j = 0; j < columns; ++j) {
      std::copy(qr.at(j), qr.at(j) + j, r.begin() + static_cast<std::size_t>(j) * columns);
      r[static_cast<std::size_t>(j) * columns + j] = qr.diag[j];
      qr.reflect(j, target.data());
    }
    back.reset(static_cast<std::size_t>(columns) * in.stride);
    offset.reset(in.stride);
    std::vector<double> unit(qr.m);
    std::copy(in.z.data(), in.z.data() + in.rows, offset.data());
    for (int j = 0; j < columns; ++j) {
      std::fill(unit.begin(), unit.end(), 0.0);
      unit[j] = 1.0;
      for (int l = columns - 1; l >= 0; --l) qr.reflect(l, unit.data());
      double* row = back.data() + static_cast<std::size_t>(j) * in.stride;
      std::copy(unit.begin(), unit.begin() + in.rows, row);
      k.axpy(-target[j], row, offset.data(), in.stride);
    }
    for (int i = columns; i < qr.m; ++i) base += target[i] * target[i];
  } else {
    for (int j = 0; j < columns; ++j)
      std::copy(in.column(j), in.column(j) + j + 1, r.begin() + static_cast<std::size_t>(j) * columns);
  }
  for (int j = 0; j < columns; ++j)
    if (std::abs(r[static_cast<std::size_t>(j) * columns + j]) <= 1e-14) return;

  // Inverse of the triangle by rows: T R = I.
  dual.reset(static_cast<std::size_t>(columns) * stride);
  beta.reset(stride);
  for (int i = 0; i < columns; ++i) {
    double* row = dual.data() + static_cast<std::size_t>(i) * stride;
    row[i] = 1.0 / r[static_cast<std::size_t>(i) * columns + i];
    for (int j = i + 1; j < columns; ++j) {
      const double* column = r.data() + static_cast<std::size_t>(j) * columns;
      double sum = 0.0;
      for (int l = i; l < j; ++l) sum += row[l] * column[l];
      row[j] = -sum / column[j];
    }
    double sum = 0.0;
    for (int j = i; j < columns; ++j) sum += row[j] * target[j];
    beta[i] = sum;
  }
  invertible = columns > 0;
}

Certifier::Certifier(const Instance& in, const Guide& guide)
    : instance_(in), kernels_(kernels()), centre_(in.columns, 0.0), spread_(in.columns, kInf) {
  if (!guide.invertible) return;
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

double Certifier::reach(int j, double cut) const {
  const double root = std::sqrt(cut) * (1.0 + 4.0 * kEps);
  double value = (centre_[j] + spread_[j] * root) * (1.0 + 4.0 * kEps);
  if (instance_.ridge[j] > 0.0) value = std::min(value, root / std::sqrt(instance_.ridge[j]) * (1.0 + 8.0 * kEps));
  return value;
}

double Certifier::bound(const double* w, const int* in, int in_count, const int* free, int free_count, int slots,
                        double cut) const {
  const int stride = instance_.stride;
  const double gamma = (stride / kLane + 8) * 2.0 * kEps;
  const double w_square = kernels_.dot(w, w, stride);
  const double w_norm = std::sqrt(w_square) * (1.0 + gamma);
  const double wz = kernels_.dot(w, instance_.z.data(), stride);
  const double root = std::sqrt(cut) * (1.0 + 4.0 * kEps);

  const auto price = [&](int j) {
    // Largest value of 2 g x - ridge x^2 for |x| <= reach, with |g| as large as rounding allows.
    const double g = std::abs(kernels_.dot(w, instance_.column(j), instance_.length[j])) +
                     gamma * w_norm * instance_.norm[j];
    double x = (centre_[j] + spread_[j] * root) * (1.0 + 4.0 * kEps);
    const double ridge = instance_.ridge[j];
    if (ridge > 0.0) {
      x = std::min(x, root / std::sqrt(ridge) * (1.0 + 8.0 * kEps));
      if (g <= ridge * x) return g / ridge * g * (1.0 + 8.0 * kEps);
    }
    return 2.0 * g * x * (1.0 + 8.0 * kEps);  // (the ridge part is left out: smaller is safe)
  };

  double total = 0.0, magnitude = 2.0 * std::abs(wz) + w_square;
  for (int i = 0; i < in_count; ++i) total += price(in[i]);
  // The dearest `slots` free terms.
  double top[kMaxSize];
  int held = 0;
  for (int i = 0; i < free_count; ++i) {
    const double p = price(free[i]);
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
