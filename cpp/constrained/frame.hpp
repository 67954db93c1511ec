// The geometry of a node, in plain doubles: guidance only.
//
// With T = R^-1 (rows t_v, the dual vectors) the coefficients of a residual r are x = T (z - r), in orthonormal
// coordinates of the columns' span. So each condition on x is a hyperplane for r: leaving a term out is t_v'r = t_v'z,
// an equality c'x = d is u'r = u'z - d with u = T'c. A node is the residual of least norm on the hyperplanes imposed so
// far, and all vectors projected off theirs. Behind its coordinates each vector carries tags: how much of each
// equality's vector it contains. The tags of r are the multipliers of the equalities.
#pragma once
#include <span>
#include <vector>

#include "constrained/system.hpp"
#include "core/kernels.hpp"

namespace exactsindy::constrained {

struct Frame {
  std::vector<int> variables;  // position -> variable: the terms that are not left out
  Array t;                     // dual vectors, one per position
  std::vector<double> beta;    // coefficients at r
  std::vector<double> square;  // |t|^2
  Array r;
  double base = 0.0;           // value of the least-squares problem
  std::vector<double> before;  // scratch
};

// Coordinates for a set of columns, and the steps on frames that live in them.
class Space {
 public:
  // Columns so close to dependence that doubles cannot invert them are held apart by a tiny ridge.
  Space(const System& system, std::span<const int> variables);

  int dims() const { return dims_; }      // padded
  int stride() const { return stride_; }  // dims and tags
  int tag(int equality) const { return dims_ + equality; }
  double original(int v) const { return original_[v]; }
  double original_norm(int v) const { return original_norm_[v]; }
  bool regularised() const { return regularised_; }
  // All columns in, equalities imposed. `contradictory` is the first equality that contradicts earlier ones, or -1.
  Frame root(int& contradictory);
  Frame copy(const Frame& from) const;
  void assign(const Frame& from, Frame& to) const;
  // Leave out the term at a position. False (and nothing but its removal is done) if its coefficient is determined by
  // equalities: `pivot` then holds the vanishing vector, whose tags say how.
  bool exclude(Frame& frame, int position, double* pivot, double& beta) const;
  // The residual over the data rows of all blocks (not weighted).
  void data_residual(const double* r, double* omega) const;
  // The vector of a linear row.
  void combine(const Frame& frame, const double* row, double* out) const;
  double dot(const double* a, const double* b) const { return kernels_.dot(a, b, dims_); }
  // The same of all vectors of a frame with one.
  void products(const Frame& f, const double* u, double* out) const {
    kernels_.dots({f.t.data(), stride_, static_cast<int>(f.variables.size())}, {u, stride_, 1}, dims_, out, 1, false);
  }
  void axpy(double alpha, const double* x, double* y) const { kernels_.axpy(alpha, x, y, stride_); }
  const double* vector(const Frame& f, int position) const {
    return f.t.data() + static_cast<std::size_t>(position) * stride_;
  }

 private:
  struct Part {               // one block's share
    int block, first, count;  // positions of its columns
    bool rotated = false;
    Array back;  // a column of the block's rows per coordinate: omega = offset + back r, over the root of the weight
    Array offset;
    double outside = 0.0;  // squared norm of the target outside its columns
  };
  void factor(Part& part, double tau);
  bool project(Frame& frame, const double* u, double offset, double original) const;

  const System& system_;
  const Kernels& kernels_;
  std::vector<int> variables_;
  int dims_, stride_;
  bool regularised_ = false;
  std::vector<Part> parts_;
  Array triangle_;  // column j of the triangular factor per `dims_` doubles
  Array target_;
  double outside_ = 0.0;
  std::vector<double> original_;  // |t_v|^2 before anything was imposed
  std::vector<double> original_norm_;
};

}  // namespace exactsindy::constrained
