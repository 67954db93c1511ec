// The arrays that come from Python, and what every file of the bindings needs of nanobind.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <span>
#include <stdexcept>

namespace exactsindy {

namespace nb = nanobind;

using Vector = nb::ndarray<nb::numpy, const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<nb::numpy, const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using StridedMatrix = nb::ndarray<nb::numpy, const double, nb::ndim<2>, nb::device::cpu>;  // e.g. a part of a matrix
using Cube = nb::ndarray<nb::numpy, const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Columns = nb::ndarray<nb::numpy, const double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
using Indices = nb::ndarray<nb::numpy, const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
// Filled in place, so passed with noconvert(): a converted copy would be filled and lost.
using OutVector = nb::ndarray<nb::numpy, double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutMatrix = nb::ndarray<nb::numpy, double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutColumns = nb::ndarray<nb::numpy, double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

inline std::span<const double> view(const Vector& v) { return {v.data(), v.size()}; }
inline std::span<const double> view(const Matrix& m) { return {m.data(), m.size()}; }

// One equation: a square factor, and a target and ridge of its width.
template <class Given>
void need_equation(const Given& factor, const Vector& target, const Vector& ridge) {
  if (factor.shape(0) != target.size() || factor.shape(1) != target.size() || ridge.size() != target.size())
    throw std::invalid_argument("factor, target and ridge do not fit together");
}

}  // namespace exactsindy
