// Body of the smoother's loop; part of loops_isa.cpp.
// Eight fits go side by side through every recurrence: each alone would wait for its own previous step.
#include <limits>

#include "assembly/loops.hpp"
#include "core/vec.hpp"

namespace exactsindy {
namespace {

inline Vec& at(Array& array, std::size_t i) { return vec(array.data() + i * kLane); }

// Rows of the factor that are all alike: far from the ends of a line without splines its recurrence stands still.
struct Steady {
  std::size_t from = 1, to = 0;  // the first and the last of them; none if the first comes after the last
  Vec l1, l2, l3, r;

  bool holds(std::size_t i) const { return from <= i && i <= to; }
};

inline bool same(Vec a, Vec b) {
  bool all = true;
  for (int lane = 0; lane < kLane; ++lane) all &= a[lane] == b[lane];
  return all;
}

struct Work {
  const Line& line;
  Lanes& lanes;
  Vec lam;
  Steady steady = {};

  // Entry (i, i - k) of G + lam D3'D3.
  Vec entry(std::size_t i, std::size_t k) const {
    const std::size_t where = k * line.coefficients + i - k;
    return lanes.gram[where] + lam * lanes.penalty[where];
  }

  // Factor L D L' and solve L z = right on the way; returns the least pivot.
  Vec factor() {
    const Vec none = fill(0.0);
    Vec least = fill(std::numeric_limits<double>::infinity());
    Vec a1 = none, b1 = none, b2 = none;  // L(i-1, i-2); L(i-2, i-3), L(i-1, i-3)
    Vec r1 = none, r2 = none, r3 = none;  // 1 / D of the three rows before
    Vec before3 = none;                   // L(i-1, i-4)
    Vec z1 = none, z2 = none, z3 = none;
    Array& wanted = line.gram ? lanes.right : lanes.sampled;
    const std::size_t m = line.coefficients;
    int alike = 0;  // rows in a row that are bit for bit alike: after three, so are all up to the last four
    for (std::size_t i = 0; i < m; ++i) {
      const Vec u3 = i >= 3 ? entry(i, 3) : none;
      const Vec u2 = (i >= 2 ? entry(i, 2) : none) - u3 * b1;
      const Vec u1 = (i >= 1 ? entry(i, 1) : none) - u3 * b2 - u2 * a1;
      const Vec l3 = u3 * r3, l2 = u2 * r2, l1 = u1 * r1;
      const Vec d = entry(i, 0) - u3 * l3 - u2 * l2 - u1 * l1;
      least = select(d < least, d, least);
      const Vec r = 1.0 / d;
      const Vec z = at(wanted, i) - l3 * z3 - l2 * z2 - l1 * z1;
      at(lanes.right, i) = z;
      at(lanes.below1, i) = l1;
      at(lanes.below2, i) = l2;
      at(lanes.below3, i) = l3;
      at(lanes.pivot, i) = r;
      if (!line.gram && i >= 6 && i + 8 < m) {
        alike = same(r, r1) && same(l1, a1) && same(l2, b2) && same(l3, before3) ? alike + 1 : 0;
        if (alike == 3) {
          steady = {i, m - 4, l1, l2, l3, r};
          z3 = z2, z2 = z1, z1 = z;
          while (i < steady.to) {
            ++i;
            const Vec next = at(wanted, i) - l3 * z3 - l2 * z2 - l1 * z1;
            at(lanes.right, i) = next;
            z3 = z2, z2 = z1, z1 = next;
          }
          continue;
        }
      }
      before3 = l3;
      b1 = a1;
      a1 = l1;
      b2 = l2;
      r3 = r2, r2 = r1, r1 = r;
      z3 = z2, z2 = z1, z1 = z;
    }
    return least;
  }

  void forward() {
    Vec z1 = fill(0.0), z2 = z1, z3 = z1;
    for (std::size_t i = 0; i < line.coefficients; ++i) {
      if (i == steady.from && steady.holds(i))
        for (; i <= steady.to; ++i) {
          const Vec z = at(lanes.right, i) - steady.l3 * z3 - steady.l2 * z2 - steady.l1 * z1;
          at(lanes.right, i) = z;
          z3 = z2, z2 = z1, z1 = z;
        }
      const Vec z = at(lanes.right, i) - at(lanes.below3, i) * z3 - at(lanes.below2, i) * z2 - at(lanes.below1, i) * z1;
      at(lanes.right, i) = z;
      z3 = z2, z2 = z1, z1 = z;
    }
  }

  // Add D^-1 L'^-1 right to the curve.
  void backward() {
    Vec c1 = fill(0.0), c2 = c1, c3 = c1;
    const auto below1 = [&](std::size_t i) { return steady.holds(i) ? steady.l1 : at(lanes.below1, i); };
    const auto below2 = [&](std::size_t i) { return steady.holds(i) ? steady.l2 : at(lanes.below2, i); };
    const auto below3 = [&](std::size_t i) { return steady.holds(i) ? steady.l3 : at(lanes.below3, i); };
    for (std::size_t i = line.coefficients; i-- > 0;) {
      if (steady.holds(i) && i + 3 <= steady.to)
        for (;; --i) {
          const Vec c = at(lanes.right, i) * steady.r - steady.l3 * c3 - steady.l2 * c2 - steady.l1 * c1;
          at(lanes.curve, i + 3) += c;
          c3 = c2, c2 = c1, c1 = c;
          if (i == steady.from) {
            --i;  // it is at least 6
            break;
          }
        }
      const Vec pivot = steady.holds(i) ? steady.r : at(lanes.pivot, i);
      const Vec c = at(lanes.right, i) * pivot - below3(i + 3) * c3 - below2(i + 2) * c2 - below1(i + 1) * c1;
      at(lanes.curve, i + 3) += c;
      c3 = c2, c2 = c1, c1 = c;
    }
  }

  // right = moments - (G + lam D3'D3) c, the penalty in factored form: its rounding error then grows like the root
  // of lam where the curve is smooth.
  void residual(const std::int64_t* column) {
    const std::size_t m = line.coefficients;
    const auto third = [](Vec a, Vec b, Vec c, Vec d) { return ((d - c) - (c - b)) - ((c - b) - (b - a)); };
    Vec t1 = fill(0.0), t2 = t1, t3 = t1;
    for (std::size_t i = 0; i < m; ++i) {
      const Vec* c = &at(lanes.curve, i + 3);
      const Vec t = i + 3 < m ? third(c[0], c[1], c[2], c[3]) : fill(0.0);
      Vec fitted = c[0];
      if (line.gram) {
        fitted *= lanes.gram[i];
        for (std::size_t k = 1; k < 4; ++k) {
          if (i + k < m) fitted += lanes.gram[k * m + i] * c[k];
          if (i >= k) fitted += lanes.gram[k * m + i - k] * *(c - k);
        }
      }
      Vec wanted;
      if (line.gram)
        for (int lane = 0; lane < kLane; ++lane)
          wanted[lane] = line.moments[static_cast<std::size_t>(column[lane]) * m + i];
      else
        wanted = at(lanes.sampled, i);
      at(lanes.right, i) = (wanted - fitted) + lam * third(t3, t2, t1, t);
      t3 = t2, t2 = t1, t1 = t;
    }
  }

  Vec squares() {
    Vec sum = fill(0.0);
    for (std::size_t i = line.first; i < line.end(); ++i) {
      Vec x;
      if (line.gram) {
        const Vec* c = &at(lanes.curve, static_cast<std::size_t>(line.start[i]) + 3);
        const double* w = line.weights + 4 * i;
        x = w[0] * c[0] + w[1] * c[1] + w[2] * c[2] + w[3] * c[3];
      } else {
        x = at(lanes.curve, i + 3);
      }
      const Vec rest = at(lanes.sampled, i) - x;
      at(lanes.sampled, i) = x;
      sum += rest * rest;
    }
    return sum;
  }

  // trace(A^-1 G) from the band of the inverse, formed from its last row upwards (Hutchinson and de Hoog 1985).
  Vec spline_trace() {
    const std::size_t m = line.coefficients;
    Vec s11 = fill(0.0), s12 = s11, s13 = s11, s22 = s11, s23 = s11, s33 = s11, sum = s11;
    for (std::size_t i = m; i-- > 0;) {
      const Vec l1 = at(lanes.below1, i + 1), l2 = at(lanes.below2, i + 2), l3 = at(lanes.below3, i + 3);
      const Vec b1 = -(s11 * l1 + s12 * l2 + s13 * l3);
      const Vec b2 = -(s12 * l1 + s22 * l2 + s23 * l3);
      const Vec b3 = -(s13 * l1 + s23 * l2 + s33 * l3);
      const Vec d = at(lanes.pivot, i) - (l1 * b1 + l2 * b2 + l3 * b3);
      const double* g = lanes.gram.data() + i;
      sum += d * g[0] + 2.0 * (b1 * g[m] + b2 * g[2 * m] + b3 * g[3 * m]);
      s33 = s22, s23 = s12, s22 = s11;
      s13 = b2, s12 = b1, s11 = d;
    }
    return sum;
  }
};

void traces(const double* roughness, std::size_t count, const double* lam, double* trace) {
  Vec each;
  for (int lane = 0; lane < kLane; ++lane) each[lane] = lam[lane];
  Vec sum = fill(0.0);
  for (std::size_t i = 0; i < count; ++i) sum += 1.0 / (1.0 + each * roughness[i]);
  for (int lane = 0; lane < kLane; ++lane) trace[lane] = sum[lane];
}

void fit(const Line& line, Lanes& lanes, const double* lam, const std::int64_t* column, double* rss, double* trace) {
  Work work{line, lanes, {}};
  for (int lane = 0; lane < kLane; ++lane) {
    work.lam[lane] = lam[lane];
    const double* y = line.values + static_cast<std::size_t>(column[lane]) * line.apart();
    for (std::size_t i = 0; i < line.samples; ++i) lanes.sampled[i * kLane + lane] = y[i];
    if (!line.gram) continue;
    const double* moments = line.moments + static_cast<std::size_t>(column[lane]) * line.coefficients;
    for (std::size_t i = 0; i < line.coefficients; ++i) lanes.right[i * kLane + lane] = moments[i];
  }
  for (std::size_t i = 0; i < line.coefficients + 6; ++i) at(lanes.curve, i) = fill(0.0);
  const Vec least = work.factor();
  work.backward();
  // The error of this solve grows like lam; a step of refinement brings it back to sqrt(lam).
  work.residual(column);
  work.forward();
  work.backward();
  const Vec squares = work.squares(), traces = line.gram ? work.spline_trace() : fill(0.0);
  for (int lane = 0; lane < kLane; ++lane) {
    const bool sound = least[lane] > 0.0 && squares[lane] >= 0.0;  // false for NaN too
    rss[lane] = sound ? squares[lane] : std::numeric_limits<double>::infinity();
    trace[lane] = traces[lane];
  }
}

}  // namespace
}  // namespace exactsindy
