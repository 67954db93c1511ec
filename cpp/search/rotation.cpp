#include "search/rotation.hpp"

#include <algorithm>
#include <cmath>

#include "core/products.hpp"

namespace exactsindy {

Rotation::Rotation(const Instance& in, double regular, Array& triangle, int stride, const Crew& crew)
    : data_rows_(in.stride),
      length_(in.stride + (in.has_ridge || regular > 0.0 ? padded(in.columns) : 0)),
      n_(in.columns),
      work_(static_cast<std::size_t>(in.columns) * length_) {
  for (int j = 0; j < n_; ++j) {
    std::copy(in.column(j), in.column(j) + in.rows, row(j));
    const double ridge = in.ridge[j] + regular * in.norm[j] * in.norm[j];
    if (ridge > 0.0) row(j)[data_rows_ + j] = std::sqrt(ridge);
  }
  for (int first = 0; first < n_; first += kPanel) {
    panels_.push_back(factor(first, std::min(first + kPanel, n_), in.length, triangle, stride));
    const Panel& panel = panels_.back();
    const int rest = n_ - panel.last;
    const auto others = [&](int from, int to) { reflect(panel, false, row(panel.last + from), length_, to - from); };
    if (rest >= kShareFrom) {
      if (!in_blocks(crew, rest, others)) return;
    } else if (rest > 0) {
      others(0, rest);
    }
  }
  ready_ = true;
}

double Rotation::dot(const Panel& panel, const double* a, const double* b) const {
  double sum = 0.0;
  for (int s = 0; s < 2; ++s)
    sum += kernels().dot(a + panel.begin[s], b + panel.begin[s], panel.end[s] - panel.begin[s]);
  return sum;
}

Rotation::Panel Rotation::factor(int first, int last, const std::vector<int>& data_length, Array& triangle,
                                 int stride) {
  const Kernels& k = kernels();
  Panel panel{first, last, {}, {}, std::vector<double>(kPanel * kPanel)};
  // Column j and the reflections before it reach down to its own last entry, and to ridge row j.
  panel.begin[0] = std::min(first, data_rows_);
  panel.end[0] = std::min(std::max(data_length[last - 1], padded(last)), data_rows_);
  panel.begin[1] = std::min(std::max(first, data_rows_), length_);
  panel.end[1] = std::max(panel.begin[1], std::min(data_rows_ + padded(last), length_));
  for (int j = first; j < last; ++j) {
    double *v = row(j), *column = triangle.data() + static_cast<std::size_t>(j) * stride;
    std::copy(v, v + j, column);
    std::fill(v, v + j, 0.0);
    double norm = std::sqrt(dot(panel, v, v));
    if (v[j] > 0.0) norm = -norm;
    column[j] = norm;
    if (norm != 0.0) {
      v[j] -= norm;
      const double scale = std::sqrt(2.0 / dot(panel, v, v));
      for (int s = 0; s < 2; ++s)
        for (int i = panel.begin[s]; i < panel.end[s]; ++i) v[i] *= scale;
    }
    for (int l = j + 1; l < last; ++l) {
      const double share = dot(panel, v, row(l));
      for (int s = 0; s < 2; ++s)
        k.axpy(-share, v + panel.begin[s], row(l) + panel.begin[s], panel.end[s] - panel.begin[s]);
    }
    // T = [T, -T V'v; 0, 1]
    const int at = j - first;
    double with[kPanel];
    for (int p = 0; p < at; ++p) with[p] = dot(panel, row(first + p), v);
    for (int p = 0; p < at; ++p) {
      double sum = 0.0;
      for (int q = p; q < at; ++q) sum += panel.t[p * kPanel + q] * with[q];
      panel.t[p * kPanel + at] = -sum;
    }
    panel.t[at * kPanel + at] = 1.0;
  }
  return panel;
}

void Rotation::reflect(const Panel& panel, bool transposed, double* c, int stride, int count) const {
  const int width = panel.last - panel.first;
  for (int done = 0; done < count; done += kBlock) {
    const int some = std::min(kBlock, count - done);
    double* rows = c + static_cast<std::size_t>(done) * stride;
    alignas(64) double shares[kBlock * kPanel], other[kBlock * kPanel], moves[kBlock * kPanel];
    for (int s = 0; s < 2; ++s)
      products({rows + panel.begin[s], stride, some}, {row(panel.first) + panel.begin[s], length_, width},
               panel.end[s] - panel.begin[s], s == 0 ? shares : other, kPanel);
    for (int i = 0; i < some; ++i)
      for (int p = 0; p < width; ++p) {
        double sum = 0.0;
        for (int q = 0; q < width; ++q)
          sum += (shares[i * kPanel + q] + other[i * kPanel + q]) *
                 (transposed ? panel.t[p * kPanel + q] : panel.t[q * kPanel + p]);
        moves[i * kPanel + p] = -sum;
      }
    for (int s = 0; s < 2; ++s)
      kernels().combine({moves, kPanel, some}, {row(panel.first) + panel.begin[s], length_, width},
                        rows + panel.begin[s], stride, panel.end[s] - panel.begin[s]);
  }
}

void Rotation::apply(double* y) const {
  for (const Panel& panel : panels_) reflect(panel, false, y, length_, 1);
}

bool Rotation::basis(Array& to, int stride, const Crew& crew) const {
  return in_blocks(crew, n_, [&](int first, int last) {
    Array units(static_cast<std::size_t>(last - first) * length_);
    for (int j = first; j < last; ++j) units[static_cast<std::size_t>(j - first) * length_ + j] = 1.0;
    for (auto panel = panels_.rbegin(); panel != panels_.rend(); ++panel)
      if (panel->first < last) reflect(*panel, true, units.data(), length_, last - first);
    for (int j = first; j < last; ++j) {
      const double* from = units.data() + static_cast<std::size_t>(j - first) * length_;
      std::copy(from, from + stride, to.data() + static_cast<std::size_t>(j) * stride);
    }
  });
}

}  // namespace exactsindy
