// Numbers that both searches share.
#pragma once
#include <limits>

namespace exactsindy {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kEps = 0x1p-53;      // unit roundoff of double: half the distance from 1 to the next number
constexpr double kDependent = 1e-13;  // a column this close (relative) to the span of earlier ones adds nothing

}  // namespace exactsindy
