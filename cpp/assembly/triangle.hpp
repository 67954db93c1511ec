// The triangular factor of rows that come in pieces, by orthogonal transformations.
#pragma once
#include <cstddef>

namespace exactsindy {

// Overwrites `factor` (width x width, column by column, upper triangular) by that of [factor; rows], where `rows`
// (count x width, column by column, finite) stays as it is. Entries must be such that their squares do not overflow.
void absorb(double* factor, std::size_t width, const double* rows, std::size_t count, bool trapezoid);

}  // namespace exactsindy
