#include "constrained/frame.hpp"

#include <algorithm>
#include <cmath>

namespace exactsindy::constrained {

namespace {

constexpr double kSingular = 1e-12;  // a diagonal entry (of columns of norm 1) that doubles cannot invert
constexpr double kTiny = 1e-9;       // the ridge's root that then helps
constexpr double kVanished = 1e-20;  // |t|^2 after projection over before: the coefficient is determined

}  // namespace

Space::Space(const System& system, std::span<const int> variables)
    : system_(system),
      kernels_(kernels()),
      variables_(variables.begin(), variables.end()),
      dims_(padded(std::max<int>(static_cast<int>(variables.size()), 1))),
      stride_(dims_ + (system.equal_count ? padded(system.equal_count) : 0)) {
  const int n = static_cast<int>(variables_.size());
  triangle_.reset(static_cast<std::size_t>(n) * dims_);
  target_.reset(dims_);
  for (int p = 0; p < n;) {
    Part part{};
    part.block = system.block_of[variables_[p]], part.first = p;
    while (p < n && system.block_of[variables_[p]] == part.block) ++p, ++part.count;
    factor(part, 0.0);
    bool singular = false;
    for (int j = part.first; j < part.first + part.count; ++j)
      singular |= std::abs(triangle_[static_cast<std::size_t>(j) * dims_ + j]) <= kSingular;
    if (singular) factor(part, kTiny), regularised_ = true;
    parts_.push_back(std::move(part));
  }
  std::vector<char> seen(system.blocks.size(), 0);
  for (const Part& part : parts_) outside_ += part.outside, seen[part.block] = 1;
  for (std::size_t k = 0; k < system.blocks.size(); ++k) {
    const Block& b = system.blocks[k];
    for (int i = 0; !seen[k] && i < b.count; ++i) outside_ += b.weight * system.z[b.row + i] * system.z[b.row + i];
  }
  original_.assign(system.variables, 0.0);
  original_norm_.assign(system.variables, 0.0);
}

// Householder QR of [root A; sqrt(ridge); tau] for the columns of one block.
void Space::factor(Part& part, double tau) {
  const Block& b = system_.blocks[part.block];
  const int n = part.count;
  bool ridge = false, natural = n == b.count;
  for (int j = 0; j < n; ++j) {
    ridge |= system_.ridge[variables_[part.first + j]] > 0.0;
    natural &= variables_[part.first + j] == b.first + j;
  }
  for (int j = 0; j < n; ++j)
    std::fill_n(triangle_.data() + static_cast<std::size_t>(part.first + j) * dims_, dims_, 0.0);
  part.rotated = !natural || ridge || tau > 0.0;
  if (!part.rotated) {
    for (int j = 0; j < n; ++j) {
      const double* column = system_.column[b.first + j];
      for (int i = 0; i <= j; ++i)
        triangle_[static_cast<std::size_t>(part.first + j) * dims_ + part.first + i] = b.root * column[i];
      target_[part.first + j] = b.root * system_.z[b.row + j];
    }
    return;
  }
  // Columns are padded with zeros, so that whole vectors may be taken from the lane of their first entry on.
  const int data = b.count, length = data + (ridge ? n : 0) + (tau > 0.0 ? n : 0), stride = padded(length);
  Array work(static_cast<std::size_t>(n + 1) * stride), reflectors(static_cast<std::size_t>(n) * stride), unit(stride);
  const auto column = [&](int j) { return work.data() + static_cast<std::size_t>(j) * stride; };
  for (int j = 0; j < n; ++j) {
    const int v = variables_[part.first + j];
    for (int i = 0; i < data; ++i) column(j)[i] = b.root * system_.column[v][i];
    if (ridge) column(j)[data + j] = std::sqrt(system_.ridge[v]);
    if (tau > 0.0) column(j)[length - n + j] = tau;
  }
  for (int i = 0; i < data; ++i) column(n)[i] = b.root * system_.z[b.row + i];
  const auto reflect = [&](int j, double* y) {
    const int from = j / kLane * kLane;
    const double* v = reflectors.data() + static_cast<std::size_t>(j) * stride + from;
    kernels_.axpy(-kernels_.dot(v, y + from, stride - from), v, y + from, stride - from);
  };
  for (int j = 0; j < n; ++j) {
    double* v = reflectors.data() + static_cast<std::size_t>(j) * stride;
    const int from = j / kLane * kLane;
    std::copy(column(j) + j, column(j) + length, v + j);
    const double sum = kernels_.dot(v + from, v + from, stride - from);
    const double norm = v[j] > 0.0 ? -std::sqrt(sum) : std::sqrt(sum);
    v[j] -= norm;
    const double size = kernels_.dot(v + from, v + from, stride - from);
    const double scale = size > 0.0 ? std::sqrt(2.0 / size) : 0.0;
    for (int i = j; i < length; ++i) v[i] *= scale;
    for (int l = j; l <= n; ++l) reflect(j, column(l));
    for (int i = 0; i <= j; ++i)
      triangle_[static_cast<std::size_t>(part.first + j) * dims_ + part.first + i] = column(j)[i];
  }
  for (int i = 0; i < n; ++i) target_[part.first + i] = column(n)[i];
  part.outside = 0.0;
  for (int i = n; i < length; ++i) part.outside += column(n)[i] * column(n)[i];
  part.back.reset(static_cast<std::size_t>(n) * b.rows);
  part.offset.reset(b.rows);
  for (int i = 0; i < data; ++i) part.offset[i] = b.root * system_.z[b.row + i];
  for (int j = 0; j < n; ++j) {
    std::fill_n(unit.data(), stride, 0.0);
    unit[j] = 1.0;
    for (int l = j; l >= 0; --l) reflect(l, unit.data());  // (later reflectors do not touch it)
    double* back = part.back.data() + static_cast<std::size_t>(j) * b.rows;
    std::copy_n(unit.data(), data, back);
    kernels_.axpy(-target_[part.first + j], back, part.offset.data(), b.rows);
  }
}

Frame Space::root(int& contradictory) {
  const int n = static_cast<int>(variables_.size());
  Frame f;
  f.variables = variables_;
  f.t.reset(static_cast<std::size_t>(n) * stride_);
  f.r.reset(stride_);
  f.beta.resize(n);
  f.square.resize(n);
  f.base = outside_;
  for (const Part& part : parts_)
    for (int i = part.first; i < part.first + part.count; ++i) {
      double* row = f.t.data() + static_cast<std::size_t>(i) * stride_;
      const auto column = [&](int j) { return triangle_.data() + static_cast<std::size_t>(j) * dims_; };
      row[i] = 1.0 / column(i)[i];
      const int from = i / kLane * kLane;
      for (int j = i + 1; j < part.first + part.count; ++j)
        row[j] = -kernels_.dot(row + from, column(j) + from, padded(j) - from) / column(j)[j];
      f.beta[i] = dot(row, target_.data());
      f.square[i] = original_[f.variables[i]] = dot(row, row);
      original_norm_[f.variables[i]] = std::sqrt(f.square[i]);
    }
  contradictory = -1;
  Array u(stride_);
  for (int c = 0; c < system_.equal_count; ++c) {
    const double* row = system_.equal_row(c);
    combine(f, row, u.data());
    u[tag(c)] += 1.0;
    double offset = -system_.equal_rhs[c], size = std::abs(system_.equal_rhs[c]), length = 0.0;
    for (int p = 0; p < n; ++p) {
      offset += row[f.variables[p]] * f.beta[p];
      size += std::abs(row[f.variables[p]] * f.beta[p]);
      length += std::abs(row[f.variables[p]]) * original_norm_[f.variables[p]];
    }
    if (!project(f, u.data(), offset, length * length) && std::abs(offset) > 1e-10 * size && contradictory < 0)
      contradictory = c;
  }
  return f;
}

void Space::combine(const Frame& f, const double* row, double* out) const {
  std::fill_n(out, stride_, 0.0);
  for (std::size_t p = 0; p < f.variables.size(); ++p)
    if (row[f.variables[p]] != 0.0) axpy(row[f.variables[p]], vector(f, static_cast<int>(p)), out);
}

Frame Space::copy(const Frame& from) const {
  Frame to;
  assign(from, to);
  return to;
}

void Space::assign(const Frame& from, Frame& to) const {
  to.variables = from.variables;
  to.beta = from.beta;
  to.square = from.square;
  to.base = from.base;
  to.t.grow(from.variables.size() * stride_);
  to.r.grow(stride_);
  std::copy_n(from.t.data(), from.variables.size() * stride_, to.t.data());
  std::copy_n(from.r.data(), stride_, to.r.data());
}

// Impose the hyperplane of u: the combination of coefficients is `offset` too large. False if u, whose squared norm was
// `original` once, has vanished.
bool Space::project(Frame& f, const double* u, double offset, double original) const {
  const double square = dot(u, u);
  if (!(square > kVanished * original)) return false;
  const double alpha = offset / square;
  f.before.assign(f.square.begin(), f.square.end());
  kernels_.exclude(f.t.data(), stride_, dims_, static_cast<int>(f.variables.size()), u, 1.0 / square, offset,
                   f.beta.data(), f.square.data());
  for (std::size_t p = 0; p < f.variables.size(); ++p)
    if (!(f.square[p] > 1e-4 * f.before[p])) {
      const double* t = f.t.data() + p * stride_;
      f.square[p] = dot(t, t);
    }
  axpy(alpha, u, f.r.data());
  f.base += alpha * offset;
  return true;
}

bool Space::exclude(Frame& f, int position, double* pivot, double& beta) const {
  const int last = static_cast<int>(f.variables.size()) - 1;
  double* t = f.t.data() + static_cast<std::size_t>(position) * stride_;
  std::copy_n(t, stride_, pivot);
  beta = f.beta[position];
  const double original = original_[f.variables[position]];
  if (position != last) {
    std::copy_n(f.t.data() + static_cast<std::size_t>(last) * stride_, stride_, t);
    f.variables[position] = f.variables[last];
    f.beta[position] = f.beta[last];
    f.square[position] = f.square[last];
  }
  f.variables.pop_back();
  f.beta.pop_back();
  f.square.pop_back();
  return project(f, pivot, beta, original);
}

void Space::data_residual(const double* r, double* omega) const {
  std::copy_n(system_.z.data(), system_.rows, omega);  // equations without any column keep their whole target
  for (const Part& part : parts_) {
    const Block& b = system_.blocks[part.block];
    double* own = omega + b.row;
    if (part.rotated) {
      std::copy_n(part.offset.data(), b.rows, own);
      for (int j = 0; j < part.count; ++j)
        kernels_.axpy(r[part.first + j], part.back.data() + static_cast<std::size_t>(j) * b.rows, own, b.rows);
    } else {
      std::copy_n(r + part.first, b.count, own);
    }
    if (b.root != 1.0)
      for (int i = 0; i < b.count; ++i) own[i] /= b.root;
  }
}

}  // namespace exactsindy::constrained
