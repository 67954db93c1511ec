// The hot loop of the smoother, compiled once per instruction set and chosen at run time (see smoother.cpp).
#pragma once
#include "assembly/smoother.hpp"
#include "search/memory.hpp"

namespace exactsindy {

// Work space of eight fits side by side: entry 8 i + lane belongs to coefficient or sample i of one of them.
struct Lanes {
  explicit Lanes(const Line& line);

  Array curve;                   // c, with three zeros in front and behind
  Array right;                   // a right-hand side, solved in place
  Array below1, below2, below3;  // L(i, i-1), L(i, i-2), L(i, i-3) of the factor L D L'
  Array pivot;                   // 1 / D
  Array sampled;                 // y
  Array penalty, gram;           // lower bands, 4 x m, one line after the other
  Array roughness;               // (2 - 2 cos(pi i / n))^3, without splines
};

using LanesFit = void (*)(const Line& line, Lanes& lanes, const double* lam, const std::int64_t* column, double* rss,
                          double* trace);

extern const LanesFit lanes_fit_generic;
#ifdef EXACTSINDY_X86
extern const LanesFit lanes_fit_avx2;
extern const LanesFit lanes_fit_avx512;
#endif

}  // namespace exactsindy
