#include "assembly/triangle.hpp"

#include <algorithm>

#include "assembly/loops.hpp"

namespace exactsindy {

namespace {

constexpr std::size_t kRows = 128;  // reduced together: forty columns of them fit into the first-level cache

}  // namespace

void absorb(double* factor, std::size_t width, const double* rows, std::size_t count, bool trapezoid) {
  const std::size_t block = trapezoid ? count : std::min(count, kRows);
  const std::size_t stride = static_cast<std::size_t>(padded(static_cast<int>(block)));
  Array work(stride * width);
  for (std::size_t start = 0; start < count; start += block) {
    const std::size_t here = std::min(block, count - start);
    for (std::size_t j = 0; j < width; ++j) {
      double* to = work.data() + j * stride;
      const double* from = rows + j * count + start;
      std::copy(from, from + here, to);
      std::fill(to + here, to + stride, 0.0);
    }
    loops().reflect(factor, static_cast<int>(width), work.data(), static_cast<int>(here), static_cast<int>(stride),
                    trapezoid);
  }
}

}  // namespace exactsindy
