// Numbers that both searches share.
#pragma once
#include <limits>

namespace exactsindy {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kEps = 0x1p-53;          // unit roundoff of double: half the distance from 1 to the next number
constexpr double kDependent = 1e-13;      // a column this close (relative) to the span of earlier ones adds nothing
constexpr double kLeastVolume = 0x1p-80;  // of the unit columns of a support; below it double-double resolves nothing
constexpr double kCoefficientLimit = 0x1p27;  // default: a support counts if |x_j| |a_j| is at most this times |y|

}  // namespace exactsindy
