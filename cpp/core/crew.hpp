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

constexpr int kBlock = 64;       // rows or columns that are worked on together
constexpr int kShareFrom = 400;  // fewer columns are not worth a second thread

// Does part(first, last) for blocks of 0..n-1, the last block first.
template <class Part>
bool in_blocks(const Crew& crew, int n, const Part& part) {
  const int count = (n + kBlock - 1) / kBlock;
  const auto one = [&](int i) {
    const int first = (count - 1 - i) * kBlock;
    part(first, std::min(first + kBlock, n));
  };
  if (n >= kShareFrom) return crew(count, one);
  return crew(1, [&](int) {
    for (int i = 0; i < count; ++i) one(i);
  });
}

}  // namespace exactsindy
