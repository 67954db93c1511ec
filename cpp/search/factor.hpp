// What the search needs of an instance before it starts: a guide (fast, unproved) and a certifier (safe).
#pragma once
#include <limits>
#include <vector>

#include "search/refit.hpp"

namespace exactsindy {

// Root of both sweeps, in plain doubles. Nothing here is trusted: it decides where to look and what to try to prove.
//
// Forward:  gram = normalised (A'A + ridge), unit diagonal; moment = normalised A'z.
// Backward: rows of the pseudo-inverse of the ridge-augmented matrix ("dual vectors"), in the D coordinates of an
//           orthonormal basis of its column space; `back` and `offset` map them to the rows of A.
struct Guide {
  int columns = 0, stride = 0;
  std::vector<double> scale;  // sqrt(|a_j|^2 + ridge_j), to rounding
  Array gram;                 // columns x stride
  Array moment;
  double square = 0.0;      // |z|^2
  bool invertible = false;  // the backward side exists
  Array dual;               // columns x stride, row j = dual vector of column j
  Array beta;               // least-squares coefficients of all columns
  double base = 0.0;        // value of the fit of all columns
  bool rotated = false;
  Array back;  // columns x row stride: w = offset + back' r
  Array offset;

  double regular = 0.0;  // share of each squared norm added to the ridge, because the library has no safe inverse
  bool ready = false;    // false: the crew was told to stop

  // Without `backward` only scans of one and two terms are possible (which is all that supports of two need).
  Guide(const Instance& instance, bool backward, const Crew& crew = alone, double regularisation = 0.0);
  // For another target of the same columns, to the bit the same; `like` is not rotated and must outlive it.
  Guide(const Instance& instance, const Guide& like);

 private:
  bool fill_gram(const Instance& in, const Crew& crew);
  bool rotate(const Instance& in, Array& triangle, Array& target, const Crew& crew);
  bool invert(const Array& triangle, const Array& target, const Crew& crew);
};

// Safe lower bounds. For any vector w and any x with |x_j| <= reach_j,
//   |z - A x|^2 + sum ridge_j x_j^2  >=  2 w'z - |w|^2 - sum_{j in support} max_{|x_j| <= reach_j} (2 g_j x_j - ridge_j
//   x_j^2),
// g = A'w, since |z - Ax|^2 >= 2 w'(z - Ax) - |w|^2. Every rounding error is bounded and subtracted. `reach_j` holds
// for every admissible support whose value is at most the cut: x_j = (L z)_j - (L (z - Ax))_j + ((I - L A) x)_j with a
// left inverse L, where there is one; and by the limit on coefficients everywhere.
class Certifier {
 public:
  Certifier(const Instance& instance, const Guide& guide, const Crew& crew = alone);
  Certifier(const Instance& instance, const Guide& guide, const Certifier& like);

  // Lower bound for all supports that contain `in` and at most `slots` of `free`, among those with value <= cut
  // (so: a result above cut proves that there are none). w: vector over the rows, padded.
  // `norm_limit`: if finite, it is known that |x_j| n_j <= norm_limit for all terms in.
  double bound(const double* w, const int* in, int in_count, const int* free, int free_count, int slots, double cut,
               double norm_limit = std::numeric_limits<double>::infinity()) const;

  // True if data or ridge bound the coefficients better than the limit does.
  bool inverse() const { return inverse_; }
  // Bound of |x_j|; `root` is a safe upper bound of the square root of the cut.
  double reach(int j, double root) const;
  bool ready() const { return ready_; }  // false: the crew was told to stop

 private:
  // What is known of a left inverse L of the columns.
  struct Inverse {
    std::vector<double> norm;    // upper bounds of the norms of its rows,
    std::vector<double> defect;  // of the rows of I - L A,
    std::vector<double> centre;  // and |L z|, to rounding
  };
  bool inspect(const Guide& guide, const Crew& crew, Inverse& inverse) const;
  void take_limits();
  void take_centres();

  static constexpr double kLimitSlack = 0x1p-20;

  const Instance& instance_;
  const Kernels& kernels_;
  bool ready_ = false, inverse_ = false;
  std::vector<double> limit_;   // of the coefficients of admissible supports
  std::vector<double> centre_;  // bound of |(Lz)_j| plus what rounding may add
  std::vector<double> spread_;  // bound of the norm of row j of L (plus the effect of I - LA); inf if unknown
  Inverse left_;                // of these columns; empty if there is none
  double left_norm_ = 0.0;      // |x| <= this |A x|
};

}  // namespace exactsindy
