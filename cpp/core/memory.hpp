// Cache-line aligned arrays, padded so that vector kernels may read whole vectors.
#pragma once
#include <cstddef>
#include <memory>
#include <new>

namespace exactsindy {

constexpr int kLane = 8;  // doubles per padded vector
inline int padded(int n) { return (n + kLane - 1) / kLane * kLane; }

class Array {
 public:
  Array() = default;
  explicit Array(std::size_t n) { reset(n); }

  // Allocate n doubles (plus padding), all zero.
  void reset(std::size_t n) {
    size_ = (n + kLane - 1) / kLane * kLane + kLane;
    data_.reset(static_cast<double*>(::operator new(size_ * sizeof(double), kAlignment)));
    for (std::size_t i = 0; i < size_; ++i) data_[i] = 0.0;
  }
  // Grow to at least n doubles; contents are lost when it grows.
  void reserve(std::size_t n) {
    if (n > size_) reset(n);
  }
  double* data() { return data_.get(); }
  const double* data() const { return data_.get(); }
  double& operator[](std::size_t i) { return data_[i]; }
  double operator[](std::size_t i) const { return data_[i]; }

 private:
  static constexpr std::align_val_t kAlignment{64};  // a cache line
  struct Free {
    void operator()(double* p) const { ::operator delete(p, kAlignment); }
  };
  std::unique_ptr<double[], Free> data_;
  std::size_t size_ = 0;
};

}  // namespace exactsindy
