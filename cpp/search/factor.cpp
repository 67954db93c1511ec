#include "search/factor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/products.hpp"
#include "search/rotation.hpp"

namespace exactsindy {

Guide::Guide(const Instance& in, bool backward, const Crew& crew, double regularisation)
    : columns(in.columns), stride(padded(std::max(in.columns, 1))), regular(regularisation) {
  const Kernels& k = kernels();
  square = k.dot(in.z.data(), in.z.data(), in.stride);
  if (!fill_gram(in, crew)) return;
  // Fewer rows than columns: only a ridge makes an inverse.
  if (!backward || (in.rows < columns && !in.has_ridge && regular == 0.0)) {
    ready = true;
    return;
  }
  // The triangular factor itself serves when there is no ridge and no column was left out.
  rotated = in.has_ridge || columns < in.rows || regular > 0.0;
  Array r(static_cast<std::size_t>(columns) * stride);  // row j is column j of the triangle
  Array target(in.stride + padded(columns));
  std::copy(in.z.data(), in.z.data() + in.rows, target.data());
  if (!rotated) {
    for (int j = 0; j < columns; ++j)
      std::copy(in.column(j), in.column(j) + j + 1, r.data() + static_cast<std::size_t>(j) * stride);
  } else if (!rotate(in, r, target, crew)) {
    return;
  }
  ready = invert(r, target, crew);
}

Guide::Guide(const Instance& in, const Guide& like)
    : columns(like.columns),
      stride(like.stride),
      scale(like.scale),
      gram(like.gram.view()),
      invertible(like.invertible),
      dual(like.dual.view()),
      ready(true) {
  const Kernels& k = kernels();
  square = k.dot(in.z.data(), in.z.data(), in.stride);
  moment.reset(stride);
  for (int i = 0; i < columns; ++i) moment[i] = k.dot(in.column(i), in.z.data(), in.length[i]) / scale[i];
  if (!invertible) return;
  beta.reset(stride);
  for (int i = 0; i < columns; ++i)
    beta[i] = k.dot(dual.data() + static_cast<std::size_t>(i) * stride, in.z.data(), stride);
}

bool Guide::rotate(const Instance& in, Array& triangle, Array& target, const Crew& crew) {
  const Rotation rotation(in, regular, triangle, stride, crew);
  if (!rotation.ready()) return false;
  rotation.apply(target.data());
  for (int i = columns; i < rotation.length(); ++i) base += target[i] * target[i];
  back.reset(static_cast<std::size_t>(columns) * in.stride);
  if (!rotation.basis(back, in.stride, crew)) return false;
  offset.reset(in.stride);
  std::copy(in.z.data(), in.z.data() + in.rows, offset.data());
  for (int j = 0; j < columns; ++j)
    kernels().axpy(-target[j], back.data() + static_cast<std::size_t>(j) * in.stride, offset.data(), in.stride);
  return true;
}

bool Guide::fill_gram(const Instance& in, const Crew& crew) {
  const Kernels& k = kernels();
  gram.reset(static_cast<std::size_t>(columns) * stride);
  moment.reset(stride);
  for (int i = 0; i < columns; ++i) {
    scale.push_back(std::sqrt(k.dot(in.column(i), in.column(i), in.length[i]) + in.ridge[i]));
    moment[i] = k.dot(in.column(i), in.z.data(), in.length[i]) / scale[i];
  }
  return in_blocks(crew, columns, [&](int first, int last) {
    double tile[kBlock * kBlock];
    for (int left = 0; left <= first; left += kBlock) {
      const int end = std::min(left + kBlock, last);
      // (Entries beyond the length of a column are zero and change nothing.)
      products({in.column(first), in.stride, last - first}, {in.column(left), in.stride, end - left},
               in.length[end - 1], tile, kBlock);
      for (int i = first; i < last; ++i)
        for (int j = left; j < std::min(end, i); ++j)
          gram[static_cast<std::size_t>(i) * stride + j] = gram[static_cast<std::size_t>(j) * stride + i] =
              tile[(i - first) * kBlock + j - left] / (scale[i] * scale[j]);
    }
    for (int i = first; i < last; ++i) gram[static_cast<std::size_t>(i) * stride + i] = 1.0;
  });
}

// Rows of the inverse T of a triangle, T R = I, block by block: what the finished blocks of a row contribute to the
// next one is a product of blocks. Row j of `triangle` is column j of R.
bool Guide::invert(const Array& triangle, const Array& target, const Crew& crew) {
  const Kernels& k = kernels();
  const auto column = [&](int j) { return triangle.data() + static_cast<std::size_t>(j) * stride; };
  for (int j = 0; j < columns; ++j)
    if (std::abs(column(j)[j]) <= 1e-14) return true;
  dual.reset(static_cast<std::size_t>(columns) * stride);
  beta.reset(stride);
  invertible = columns > 0;
  return in_blocks(crew, columns, [&](int first, int last) {
    double tile[kBlock * kBlock];
    double* rows = dual.data() + static_cast<std::size_t>(first) * stride;
    for (int left = first; left < columns; left += kBlock) {
      const int end = std::min(left + kBlock, columns);
      products({rows + first, stride, last - first}, {column(left) + first, stride, end - left}, left - first, tile,
               kBlock);
      for (int i = first; i < last; ++i) {
        double* row = rows + static_cast<std::size_t>(i - first) * stride;
        for (int j = std::max(left, i); j < end; ++j) {
          const double before = i == j ? -1.0 : tile[(i - first) * kBlock + j - left];
          row[j] = -(before + k.dot(row + left, column(j) + left, padded(j - left))) / column(j)[j];
        }
      }
    }
    for (int i = first; i < last; ++i) {
      const double* row = rows + static_cast<std::size_t>(i - first) * stride;
      beta[i] = k.dot(row, target.data(), stride);
    }
  });
}

Certifier::Certifier(const Instance& in, const Guide& guide, const Crew& crew)
    : instance_(in), kernels_(kernels()), limit_(in.limit), centre_(in.columns, kInf), spread_(in.columns, 0.0) {
  take_limits();
  ready_ = true;
  if (!guide.invertible || guide.regular > 0.0) return;
  // A ridge on every term bounds the coefficients well enough by itself.
  if (*std::min_element(in.ridge.begin(), in.ridge.end()) > 1e-14) {
    inverse_ = true;
    return;
  }
  const int n = in.columns;
  Inverse inverse{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
  ready_ = inspect(guide, crew, inverse);
  if (!ready_) return;
  const double gamma = (in.rows / kLane + 8) * 2.0 * kEps;
  double left_square = 0.0, defect_square = 0.0;
  for (int i = 0; i < n; ++i) {
    left_square += inverse.norm[i] * inverse.norm[i];
    defect_square += inverse.defect[i] * inverse.defect[i];
  }
  const double left_norm = std::sqrt(left_square) * (1.0 + gamma * n);
  const double defect_norm = std::sqrt(defect_square) * (1.0 + gamma * n);
  if (!(defect_norm < 0.5) || !std::isfinite(left_norm)) return;
  inverse_ = true;
  left_norm_ = left_norm / (1.0 - defect_norm) * (1.0 + 8.0 * kEps);
  left_ = std::move(inverse);
  for (int i = 0; i < n; ++i) spread_[i] = (left_.norm[i] + left_.defect[i] * left_norm_) * (1.0 + 8.0 * kEps);
  take_centres();
}

Certifier::Certifier(const Instance& in, const Guide& guide, const Certifier& like)
    : instance_(in),
      kernels_(kernels()),
      ready_(true),
      inverse_(like.inverse_),
      limit_(in.limit),
      centre_(in.columns, kInf),
      spread_(like.spread_),
      left_(like.left_),
      left_norm_(like.left_norm_) {
  take_limits();
  if (!inverse_) return;
  for (int i = 0; i < in.columns; ++i)
    left_.centre[i] =
        std::abs(kernels_.dot(guide.dual.data() + static_cast<std::size_t>(i) * guide.stride, in.z.data(), in.stride));
  take_centres();
}

// The limit on coefficients is tested with rounding: supports a little above it may count, too.
void Certifier::take_limits() {
  for (double& limit : limit_) limit *= 1.0 + kLimitSlack;
}

// |x| <= left_norm |A x| <= left_norm (|z| + sqrt(value)).
void Certifier::take_centres() {
  const double gamma = (instance_.rows / kLane + 8) * 2.0 * kEps;
  for (int i = 0; i < instance_.columns; ++i)
    centre_[i] = (left_.centre[i] + (gamma * left_.norm[i] + left_.defect[i] * left_norm_) * instance_.z_norm) *
                 (1.0 + 8.0 * kEps);
}

// Approximate left inverse L of the stored matrix (ridge rows left out where they exist), and row bounds of
// E = I - L A, rounding included: |fl(L A) - L A|_ij <= gamma |L_i| |a_j|, as `products` has n/8 + 3 roundings per
// term.
bool Certifier::inspect(const Guide& guide, const Crew& crew, Inverse& inverse) const {
  const Instance& in = instance_;
  const int n = in.columns, stride = in.stride;
  const double gamma = (in.rows / kLane + 8) * 2.0 * kEps;
  return in_blocks(crew, n, [&](int first, int last) {
    Rows left{guide.dual.data() + static_cast<std::size_t>(first) * guide.stride, guide.stride, last - first};
    Array own;
    if (guide.rotated) {
      own.reset(static_cast<std::size_t>(kBlock) * stride);
      kernels_.combine({left.data + first, guide.stride, last - first},
                       {guide.back.data() + static_cast<std::size_t>(first) * stride, stride, n - first}, own.data(),
                       stride, stride);
      left = {own.data(), stride, last - first};
    }
    std::vector<double> sum(last - first);
    for (int i = first; i < last; ++i) {
      const double* row = left.row(i - first);
      inverse.norm[i] = std::sqrt(kernels_.dot(row, row, stride)) * (1.0 + gamma);
      inverse.centre[i] = std::abs(kernels_.dot(row, in.z.data(), stride));
    }
    double tile[kBlock * kBlock];
    for (int from = 0; from < n; from += kBlock) {
      const int end = std::min(from + kBlock, n);
      // (Without rotation L is a triangle, too: the rows have zeros before their first entry, the columns after
      // theirs.)
      const int begin = guide.rotated ? 0 : first, length = in.length[end - 1];
      products({left.data + begin, left.stride, left.count}, {in.column(from) + begin, stride, end - from},
               std::max(length - begin, 0), tile, kBlock);
      for (int i = first; i < last; ++i)
        for (int j = from; j < end; ++j) {
          const double product = tile[(i - first) * kBlock + j - from];
          const double e = std::abs((i == j ? 1.0 : 0.0) - product) + gamma * inverse.norm[i] * in.norm[j] + 2.0 * kEps;
          sum[i - first] += e * e;
        }
    }
    for (int i = first; i < last; ++i) inverse.defect[i] = std::sqrt(sum[i - first]) * (1.0 + gamma * n);
  });
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
