// Cache-line aligned arrays, padded so that vector kernels may read whole vectors.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <utility>

namespace exactsindy {

constexpr int kLane = 8;           // doubles per padded vector
constexpr std::size_t kLine = 64;  // bytes of a cache line
inline int padded(int n) { return (n + kLane - 1) / kLane * kLane; }

class Array {
 public:
  Array() = default;
  explicit Array(std::size_t n) { reset(n); }
  Array(Array&& other) noexcept { *this = std::move(other); }
  Array& operator=(Array&& other) noexcept {
    raw_ = std::move(other.raw_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  // Allocate n doubles (plus padding), all zero. Large arrays cost nothing until they are written: calloc takes pages
  // that the system gives out as zeros.
  void reset(std::size_t n) {
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / sizeof(double) - 4 * kLane;
    if (n > most) throw std::bad_alloc();
    size_ = (n + kLane - 1) / kLane * kLane + kLane;
    raw_.reset(std::calloc(size_ + kLane, sizeof(double)));
    if (!raw_) throw std::bad_alloc();
    align();
  }
  // The same with any content.
  void take(std::size_t n) {
    size_ = (n + kLane - 1) / kLane * kLane + kLane;
    raw_.reset(std::malloc((size_ + kLane) * sizeof(double)));
    if (!raw_) throw std::bad_alloc();
    align();
  }
  // The same doubles without owning them: for as long as the owner lives and does not change.
  Array view() const {
    Array same;
    same.data_ = data_, same.size_ = size_;
    return same;
  }
  // Grow to at least n doubles; contents are lost when it grows.
  void reserve(std::size_t n) {
    if (n > size_) reset(n);
  }
  // The same, with any content.
  void grow(std::size_t n) {
    if (n > size_) take(n);
  }
  double* data() { return data_; }
  const double* data() const { return data_; }
  double& operator[](std::size_t i) { return data_[i]; }
  double operator[](std::size_t i) const { return data_[i]; }

 private:
  void align() {
    void* at = raw_.get();
    std::size_t space = (size_ + kLane) * sizeof(double);
    data_ = static_cast<double*>(std::align(kLine, size_ * sizeof(double), at, space));
  }
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> raw_;
  double* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace exactsindy
