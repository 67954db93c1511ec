// Good supports before the search: greedy in both directions, then exchanges of one and of two terms. All of this
// is guidance in plain doubles; what it finds gets its canonical value before it counts.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "search/node.hpp"

namespace exactsindy {

namespace {

constexpr int kPairSwaps = 12;   // larger supports: exchanges of two terms cost more than they bring
constexpr int kBackward = 512;   // larger libraries: dropping terms one by one from all of them takes too long
constexpr int kAmong = 512;      // most terms among which exchanges of two are looked for
constexpr double kTiny = 1e-10;  // columns with less than this left after projection are passed over

// All columns and the target projected off a few columns, on the normalised Gram matrix.
struct Projection {
  const Guide& g;
  const std::vector<int>& forbidden;  // never taken
  Array rows, c, d;
  double value;
  int count = 0;

  Projection(const Search& search, int capacity)
      : g(search.equation.guide),
        forbidden(search.wanted.forbidden),
        rows(static_cast<std::size_t>(std::max(capacity, 1)) * g.stride),
        c(g.stride),
        d(g.stride) {}

  void clear() {
    std::memcpy(c.data(), g.moment.data(), g.stride * sizeof(double));
    std::fill(d.data(), d.data() + g.stride, 1.0);
    for (int j : forbidden) d[j] = 0.0;
    value = g.square;
    count = 0;
  }
  bool add(int j) {
    if (!(d[j] > kTiny)) return false;
    const double root = std::sqrt(d[j]), t = c[j] / root;
    double* row = rows.data() + static_cast<std::size_t>(count) * g.stride;
    std::memcpy(row, g.gram.data() + static_cast<std::size_t>(j) * g.stride, g.stride * sizeof(double));
    for (int l = 0; l < count; ++l) {
      const double* other = rows.data() + static_cast<std::size_t>(l) * g.stride;
      kernels().axpy(-other[j], other, row, g.stride);
    }
    for (int a = 0; a < g.columns; ++a) {
      row[a] /= root;
      d[a] -= row[a] * row[a];
      c[a] -= row[a] * t;
    }
    value -= t * t;
    ++count;
    return true;
  }
  bool load(const std::vector<int>& columns) {
    clear();
    return std::all_of(columns.begin(), columns.end(), [&](int j) { return add(j); });
  }
  // The columns that bring most by themselves, increasing.
  std::vector<int> most_useful(int most) const {
    std::vector<int> all(g.columns);
    for (int a = 0; a < g.columns; ++a) all[a] = a;
    if (g.columns <= most) return all;
    const auto gain = [&](int a) { return d[a] > kTiny ? c[a] * c[a] / d[a] : -1.0; };
    std::nth_element(all.begin(), all.begin() + most, all.end(), [&](int a, int b) { return gain(a) > gain(b); });
    all.resize(most);
    std::sort(all.begin(), all.end());
    return all;
  }
  // The rows and columns of a matrix that are named.
  void gather(const double* from, const std::vector<int>& among, double* to) const {
    const int m = static_cast<int>(among.size());
    for (int a = 0; a < m; ++a) {
      const double* row = from + offset(among[a], g.stride);
      if (m == g.columns)
        std::memcpy(to + offset(a, g.stride), row, g.stride * sizeof(double));
      else
        for (int b = 0; b < m; ++b) to[offset(a, g.stride) + b] = row[among[b]];
    }
  }
  // Best single column to add, or -1.
  int best(const std::vector<int>& not_these) const {
    int at = -1;
    double gain = -1.0;
    for (int a = 0; a < g.columns; ++a) {
      if (!(d[a] > kTiny) || std::find(not_these.begin(), not_these.end(), a) != not_these.end()) continue;
      const double here = c[a] * c[a] / d[a];
      if (here > gain) gain = here, at = a;
    }
    return at;
  }
};

std::vector<int> without(const std::vector<int>& support, std::size_t i, std::size_t j) {
  std::vector<int> out;
  for (std::size_t l = 0; l < support.size(); ++l)
    if (l != i && l != j) out.push_back(support[l]);
  return out;
}

// The first list, then what the second adds.
std::vector<int> joined(std::vector<int> first, const std::vector<int>& second) {
  for (int j : second)
    if (std::find(first.begin(), first.end(), j) == first.end()) first.push_back(j);
  return first;
}

}  // namespace

std::vector<int> greedy(const Instance& in, int size) {
  const Kernels& k = kernels();
  const int length = in.stride + padded(size);
  Array directions(static_cast<std::size_t>(std::max(size, 1)) * length), square(in.columns), moment(in.columns);
  std::vector<double> least(in.columns);
  for (int j = 0; j < in.columns; ++j) {
    square[j] = k.dot(in.column(j), in.column(j), in.length[j]) + in.ridge[j];
    moment[j] = k.dot(in.column(j), in.z.data(), in.length[j]);
    least[j] = kTiny * square[j];
  }
  std::vector<int> support;
  while (static_cast<int>(support.size()) < size) {
    int best = -1;
    for (int j = 0; j < in.columns; ++j)
      if (square[j] > least[j] &&
          (best < 0 || moment[j] * moment[j] / square[j] > moment[best] * moment[best] / square[best]))
        best = j;
    if (best < 0) break;
    const int count = static_cast<int>(support.size());
    double* q = directions.data() + static_cast<std::size_t>(count) * length;
    std::copy(in.column(best), in.column(best) + in.stride, q);
    q[in.stride + count] = std::sqrt(in.ridge[best]);
    for (int l = 0; l < count; ++l) {
      const double* other = directions.data() + static_cast<std::size_t>(l) * length;
      k.axpy(-k.dot(other, q, length), other, q, length);
    }
    const double norm = std::sqrt(k.dot(q, q, length)), share = moment[best] / norm;
    if (!(norm > 0.0)) break;
    for (int i = 0; i < length; ++i) q[i] /= norm;
    support.push_back(best);
    for (int j = 0; j < in.columns && count + 1 < size; ++j) {
      const double along = k.dot(q, in.column(j), in.length[j]);
      square[j] -= along * along;
      moment[j] -= along * share;
    }
    least[best] = kInf;
  }
  return support;
}

// Smaller gains may be rounding noise, and exchanges that only chase noise need not end.
double Worker::noise(double value) const { return 1e-9 * std::abs(value) + 1e-13 * equation_->guide.square; }

std::vector<int> Worker::forward_greedy(int size) {
  Projection p(*search_, size);
  std::vector<int> support = search_->wanted.required;
  if (!p.load(support)) return {};
  while (static_cast<int>(support.size()) < size) {
    const int j = p.best(support);
    if (j < 0 || !p.add(j)) break;
    support.push_back(j);
  }
  return support;
}

std::vector<int> Worker::backward_greedy(int size) {
  Frame& f = *frames_[0];
  load_root(f);
  while (f.m > size) {
    if (f.m % kBlock == 0 && engine_.stopping(*this, *search_)) return {};
    int cheapest = 0;
    double cost = std::numeric_limits<double>::infinity();
    for (int a = 0; a < f.m; ++a) {
      const double d = f.beta[a] * f.beta[a] / f.norm2[a];
      if (d < cost && !search_->needs(f.free[a])) cost = d, cheapest = a;
    }
    swap_to_last(f, cheapest);
    exclude_last(f);
  }
  return std::vector<int>(f.free.begin(), f.free.begin() + f.m);
}

// Best exchange of one term; runner_up is the best neighbour seen.
bool Worker::swap_one(std::vector<int>& support, std::vector<int>& runner_up) {
  Projection p(*search_, static_cast<int>(support.size()));
  const std::vector<int> start = support;
  double current = p.load(start) ? p.value : std::numeric_limits<double>::infinity();
  double best = std::numeric_limits<double>::infinity();
  std::vector<int> best_support;
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (search_->needs(start[i])) continue;
    std::vector<int> kept = without(start, i, i);
    if (!p.load(kept)) continue;
    const int j = p.best(start);
    if (j < 0) continue;
    const double value = p.value - p.c[j] * p.c[j] / p.d[j];
    if (value < best) {
      best = value;
      best_support = kept;
      best_support.push_back(j);
    }
  }
  if (best_support.empty()) return false;
  if (best < current - noise(current)) {
    runner_up = start;
    support = best_support;
    return true;
  }
  runner_up = best_support;
  return false;
}

// Best exchange of two terms, by the pair scan.
bool Worker::swap_two(std::vector<int>& support) {
  const Guide& g = equation_->guide;
  Projection p(*search_, static_cast<int>(support.size()));
  if (!p.load(support)) return false;
  double best = p.value - noise(p.value);
  std::vector<int> found;
  double* s = scratch_->s.data();
  for (std::size_t i = 0; i < support.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (engine_.stopping(*this, *search_)) return false;
      if (search_->needs(support[i]) || search_->needs(support[j])) continue;
      const std::vector<int> kept = without(support, i, j);
      if (!p.load(kept)) continue;
      const std::vector<int> among = p.most_useful(kAmong);
      const int m = static_cast<int>(among.size());
      p.gather(g.gram.data(), among, s);
      for (int l = 0; l < p.count; ++l) {
        for (int a = 0; a < m; ++a) u_[a] = p.rows[offset(l, g.stride) + among[a]];
        std::fill(u_.data() + m, u_.data() + padded(m), 0.0);
        kernels().include(s, s, g.stride, m, u_.data());
      }
      std::fill(u_.data(), u_.data() + g.stride, 0.0);
      for (int a = 0; a < m; ++a) {
        // Columns used up by the projection must not be taken: no moment, a harmless diagonal.
        const bool usable = p.d[among[a]] > kTiny;
        c_[a] = usable ? p.c[among[a]] : 0.0;
        d_[a] = usable ? p.d[among[a]] : 1.0;
        square_[a] = c_[a] * c_[a];
      }
      for (int a = 1; a < m; ++a) {
        a = kernels().scan(s, g.stride, a, m, u_.data(), c_.data(), square_.data(), d_.data(), p.value - best, 0.0);
        if (a >= m) break;
        if (!(p.d[among[a]] > kTiny)) continue;
        for (int b = 0; b < a; ++b) {
          if (!(p.d[among[b]] > kTiny)) continue;
          const double schur = s[static_cast<std::size_t>(a) * g.stride + b];
          const double det = d_[a] * d_[b] - schur * schur;
          if (!(det > kTiny * d_[a] * d_[b])) continue;
          const double gain = (square_[a] * d_[b] - 2.0 * c_[a] * c_[b] * schur + square_[b] * d_[a]) / det;
          if (p.value - gain < best) {
            best = p.value - gain;
            found = kept;
            found.push_back(among[a]);
            found.push_back(among[b]);
          }
        }
      }
    }
  if (found.empty()) return false;
  support = found;
  return true;
}

void Worker::incumbents(Search& search, const std::vector<std::vector<int>>& starts) {
  prepare(search);
  const int size = search.wanted.size, columns = equation_->guide.columns;
  if (size > columns) return;
  std::vector<std::vector<int>> pool;
  for (std::vector<int> start : starts) {
    Projection q(search, size);
    start = joined(search.wanted.required, start);
    if (static_cast<int>(start.size()) > size) start.resize(size);
    if (!q.load(start)) continue;
    while (static_cast<int>(start.size()) < size) {
      const int j = q.best(start);
      if (j < 0 || !q.add(j)) break;
      start.push_back(j);
    }
    pool.push_back(start);
  }
  pool.push_back(forward_greedy(size));
  if (equation_->guide.invertible && size < columns && columns <= kBackward) pool.push_back(backward_greedy(size));
  std::vector<int> first(columns);
  for (int i = 0; i < columns; ++i) first[i] = i;
  for (int j : search.wanted.forbidden) std::erase(first, j);
  first = joined(search.wanted.required, first);
  std::set<std::vector<int>> done;
  const auto offer = [&](std::vector<int> support) {
    std::sort(support.begin(), support.end());
    const std::vector<int>& needed = search.wanted.required;
    if (static_cast<int>(support.size()) == size && done.insert(support).second &&
        std::includes(support.begin(), support.end(), needed.begin(), needed.end()))
      candidate(support.data());
  };
  std::vector<int> best, runner_up;
  double least = std::numeric_limits<double>::infinity();
  Projection p(search, size);
  const auto climb = [&](std::vector<int>& support) {
    for (int round = 0; round < 50 && swap_one(support, runner_up) && !engine_.stopping(*this, search); ++round) {
    }
    offer(support);
    offer(runner_up);
    if (p.load(support) && p.value < least) {
      least = p.value;
      best = support;
    }
  };
  for (std::vector<int>& support : pool) {
    if (static_cast<int>(support.size()) != size) continue;
    climb(support);
    if (search.superseded()) return;
  }
  // Exchanges of two terms are costly: only from the best start, and not many.
  for (int round = 0; round < 3 && size >= 3 && size <= kPairSwaps && !best.empty(); ++round) {
    std::vector<int> support = best;
    if (!swap_two(support)) break;
    climb(support);
    if (search.superseded()) return;
  }
  // Ties at zero error are decided by order, and the first support is the first in order.
  const bool few = static_cast<int>(first.size()) < size;
  if (!few && (search.best().first == 0.0 || !std::isfinite(search.cut()))) candidate(first.data());
}

}  // namespace exactsindy
