// The time of one search, and when its watch is due.
#pragma once
#include <chrono>

namespace exactsindy {

class Clock {
 public:
  // The watch is due `first` seconds after the start, then every `interval` seconds.
  Clock(double first, double interval) : interval_(interval), next_(first) {}

  // Seconds since the start.
  double elapsed() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

  // True if the watch is due at `now` seconds; it is due again an interval later. One thread asks.
  bool due(double now) {
    if (now < next_) return false;
    next_ = now + interval_;
    return true;
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const double interval_;
  double next_;
};

}  // namespace exactsindy
