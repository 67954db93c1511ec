// The canonical value of a support.
#pragma once
#include <span>

#include "core/kernels.hpp"
#include "search/instance.hpp"

namespace exactsindy {

constexpr int kMaxSize = 64;  // largest support

// A support with its least-squares fit in double-double. `error` is |z - A x|^2 + ridge, without `rest`,
// rounded to 80 bits (0 where it cannot be told from 0). Values are compared by this number only, so they do not
// depend on how a support was reached.
struct Fit {
  int size = 0;
  int support[kMaxSize];
  double coef[kMaxSize];
  double drop[kMaxSize];  // rise of the error when this term is dropped
  Double2 error;
  double grain = 0.0;       // of the instance
  double floor = 0.0;       // below this the error cannot be told from 0
  bool independent = true;  // false: dependent columns were left out
  bool within = true;       // every coefficient is within its limit
  bool admissible() const { return independent && within; }
};

class Refitter {
 public:
  explicit Refitter(const Instance& instance);
  // support must be increasing.
  void fit(std::span<const int> support, Fit& result);
  // Of the last fit (whose columns must have been independent), rounded to double: the data rows of its orthonormal
  // basis, one vector per `stride` doubles, and of the residual of the target.
  void projection(double* basis, double* residual, int stride);

 private:
  int orthogonalise(std::span<const int> support);
  Span2 vector(int i) { return {hi_.data() + i * length_, lo_.data() + i * length_}; }

  const Instance& instance_;
  const Kernels& kernels_;
  int length_;  // rows, then one row per ridge term
  Array hi_, lo_;
  Double2 r_[kMaxSize][kMaxSize];
  int kept_[kMaxSize];
  int kept_count_ = 0, used_ = 0;
};

}  // namespace exactsindy
