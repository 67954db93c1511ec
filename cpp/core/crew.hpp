// Work in independent parts, done by whoever is free.
#pragma once
#include <algorithm>
#include <functional>

namespace exactsindy {

// Does part(0), ..., part(count - 1) in any order, maybe on several threads at once. False: the search was told to
// stop, and parts may be missing.
using Crew = std::function<bool(int count, const std::function<void(int)>& part)>;

// One thread, to the end.
inline bool alone(int count, const std::function<void(int)>& part) {
  for (int i = 0; i < count; ++i) part(i);
  return true;
}

// Nothing at all.
inline bool nobody(int, const std::function<void(int)>&) { return false; }

constexpr int kBlock = 64;       // rows or columns that are worked on together
constexpr int kShareFrom = 400;  // fewer columns are not worth a second thread

constexpr int kLarge = 1500;  // more columns: smaller parts, because the clock is looked at between them

// Does part(first, last) for blocks of 0..n-1, the last block first; `first` is a multiple of 16.
template <class Part>
bool in_blocks(const Crew& crew, int n, const Part& part) {
  const int size = n > kLarge ? kBlock / 4 : kBlock, count = (n + size - 1) / size;
  const auto one = [&](int i) {
    const int first = (count - 1 - i) * size;
    part(first, std::min(first + size, n));
  };
  if (n >= kShareFrom) return crew(count, one);
  return crew(1, [&](int) { alone(count, one); });
}

}  // namespace exactsindy
