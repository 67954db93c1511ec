#include "assembly/integration.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace exactsindy {

void integrate(const Integration& task, const Loops& with) {
  std::vector<std::int64_t> order(task.intervals);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return task.substeps[a] < task.substeps[b]; });
  Array work(task.work());
  // Eight intervals with equally many steps at a time; the last ones of a kind leave lanes unused.
  for (std::size_t at = 0; at < order.size();) {
    std::size_t end = at + 1;
    while (end < order.size() && end < at + kLane && task.substeps[order[end]] == task.substeps[order[at]]) ++end;
    with.integrate(task, order.data() + at, end - at, work.data());
    at = end;
  }
}

}  // namespace exactsindy
