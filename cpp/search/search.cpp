#include "search/search.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

namespace exactsindy {

namespace {

constexpr double kRegularisation =
    1e-6;  // of the squared norms: larger ones order terms worse, smaller ones lose digits

// An upper bound of the size of an independent support: one term of each group of columns that are almost equal (so
// close to the group's first that each is dependent on any other), and no more than there are rows.
int most_independent(const Instance& in, const Guide& guide) {
  constexpr double kClose = kDependent / 10.0;
  std::vector<int> first;  // of each group
  int with_ridge = 0;
  for (int j = 0; j < in.columns; ++j) {
    if (in.ridge[j] > 0.0) {
      ++with_ridge;
      continue;
    }
    const auto close = [&](int i) {
      const double cosine = guide.gram[static_cast<std::size_t>(j) * guide.stride + i];
      if (std::abs(cosine) < 1.0 - 1e-12) return false;
      const double ratio = cosine * guide.scale[j] / guide.scale[i];
      double square = 0.0;
      for (int r = 0; r < in.rows; ++r) {
        const double d = in.column(j)[r] - ratio * in.column(i)[r];
        square += d * d;
      }
      return std::sqrt(square) < kClose * guide.scale[j];
    };
    if (std::none_of(first.begin(), first.end(), close)) first.push_back(j);
  }
  int rows = 0;  // that are not zero
  std::vector<bool> used(in.rows);
  for (int j = in.columns - 1; j >= 0 && rows < in.rows; --j)
    for (int r = 0; r < std::min(in.length[j], in.rows); ++r)
      if (!used[r] && in.column(j)[r] != 0.0) {
        used[r] = true;
        ++rows;
      }
  return with_ridge + std::min(rows, static_cast<int>(first.size()));
}

long next_id() {
  static std::atomic<long> next{0};
  return next++;
}

}  // namespace

Answer answer_of(const Fit& fit) {
  return {std::vector<int>(fit.support, fit.support + fit.size), std::vector<double>(fit.coef, fit.coef + fit.size),
          fit.error, std::max(std::sqrt(fit.floor), 2.0 * fit.grain), fit.grain};
}

// Where the library has no safe inverse, the guide is that of a slightly regularised one; what it proposes is certified
// on the library itself.
Equation::Equation(Instance&& given, bool backward, const Crew& crew)
    : instance(std::move(given)),
      guide(instance, backward, crew),
      certifier(instance, guide, crew),
      id(next_id()),
      ready([&] {
        if (!instance.whole || !guide.ready || !certifier.ready()) return false;
        if (backward && instance.columns > 0 && !certifier.inverse())
          guide = Guide(instance, true, crew, kRegularisation);
        return guide.ready;
      }()),
      most(ready ? most_independent(instance, guide) : 0) {}

Equation::Equation(std::shared_ptr<const Equation> like, Instance&& given)
    : instance(std::move(given)),
      guide(instance, like->guide),
      certifier(instance, guide, like->certifier),
      id(next_id()),
      ready(true),
      most(like->most),
      columns_(std::move(like)) {}

Search::Search(const Equation& equation_, const Wanted& wanted_, const ProofSink* proof_, std::uint64_t section_)
    : equation(equation_), wanted(wanted_), id(next_id()), proof(proof_), section(section_) {
  if (wanted.limit >= 0.0) cut_.store(std::max(wanted.limit, equation.instance.zero));
}

bool Search::tied_out(const int* first) const {
  if (!zero_.load(std::memory_order_relaxed)) return false;
  const std::lock_guard lock(mutex_);
  const auto& last = kept_.rbegin()->support;
  return !std::lexicographical_compare(first, first + wanted.size, last.begin(), last.end());
}

void Search::offer(const Fit& fit) {
  const std::lock_guard lock(mutex_);
  if (wanted.limit >= 0.0) {  // all of them, whatever comes
    if (!kept_.insert(answer_of(fit)).second || kept_.size() <= wanted.capacity) return;
    kept_.erase(std::prev(kept_.end()));
    overflow_ = true;
    cut_.store(std::min(cut(), std::max(kept_.rbegin()->upper(), equation.instance.zero)));
    return;
  }
  if (kept_.insert(answer_of(fit)).second) update_cut();
}

void Search::update_cut() {
  const double zero = equation.instance.zero;  // what counts as 0 must not be cut off
  double limit = kInf;
  if (wanted.within >= 0.0) {
    const double best = kept_.begin()->upper(), rest = equation.instance.rest.hi;
    limit = std::max((best + wanted.within * (best + rest)) * (1.0 + 16.0 * kEps), zero);
    while (kept_.size() > 1 && kept_.rbegin()->error.hi > limit) kept_.erase(std::prev(kept_.end()));
    if (kept_.size() > wanted.capacity) {  // keep the best ones and say that the list is not complete
      kept_.erase(std::prev(kept_.end()));
      overflow_ = true;
      limit = std::max(kept_.rbegin()->upper(), zero);
    }
  } else if (static_cast<int>(kept_.size()) >= wanted.keep) {
    while (static_cast<int>(kept_.size()) > wanted.keep) kept_.erase(std::prev(kept_.end()));
    limit = kept_.rbegin()->upper();
    // (A checker looks at all ties.)
    if (limit == 0.0 && !proof) zero_.store(true, std::memory_order_relaxed);
    limit = std::max(limit, zero);
  }
  // What is written down says the cut in doubles of the caller's units: it must not fall below the last one kept.
  if (proof) limit += 8.0 * kEps * (limit + equation.instance.rest.hi);
  cut_.store(limit, std::memory_order_relaxed);
}

void Search::offer_smaller(const Fit& fit) {
  if (!wanted.smaller_too) return;
  const std::lock_guard lock(mutex_);
  Answer answer = answer_of(fit);
  if (!std::includes(answer.support.begin(), answer.support.end(), wanted.required.begin(), wanted.required.end()))
    return;
  if (smaller_ && !better(answer, *smaller_)) return;
  smaller_ = std::move(answer);
  if (fit.error.hi == 0.0) superseded_.store(true, std::memory_order_relaxed);
}

void Search::leave_open(double bound) {
  const std::lock_guard lock(mutex_);
  open_ = std::min(open_, std::max(bound, 0.0));
}

void Search::root_bound(double bound) {
  const std::lock_guard lock(mutex_);
  root_ = std::max(root_, bound);
  if (!(wanted.gap > 0.0) || kept_.empty()) return;
  const double least = running_.empty() ? root_ : std::min(root_, *running_.begin());
  const double best = kept_.begin()->error.hi;
  if (best - least <= wanted.gap * (best + equation.instance.rest.hi)) satisfied_.store(true);
}

void Search::task_started(double bound) {
  const std::lock_guard lock(mutex_);
  running_.insert(bound);
}

void Search::task_ended(double bound) {
  const std::lock_guard lock(mutex_);
  running_.erase(running_.find(bound));
}

double Search::current_bound() {
  const std::lock_guard lock(mutex_);
  double bound = running_.empty() ? root_ : std::min(root_, *running_.begin());
  if (!kept_.empty()) bound = std::min(bound, kept_.begin()->lower());
  return std::max(bound, 0.0);
}

std::pair<double, std::vector<int>> Search::best() {
  const std::lock_guard lock(mutex_);
  if (kept_.empty()) return {kInf, {}};
  return {kept_.begin()->error.hi, kept_.begin()->support};
}

// [flags, nodes, chunks, terms of each kept support and of a smaller one (after how many there are), branches].
std::vector<std::int64_t> Search::saved() const {
  std::vector<std::int64_t> tree, numbers;
  branches->write(tree);  // first: what finished branches found was offered before
  const std::lock_guard lock(mutex_);
  numbers = {(saw_dependent() ? 1 : 0) + (overflow_ ? 2 : 0) + (perspective.load() ? 4 : 0), nodes.load(),
             static_cast<std::int64_t>(chunks.load()), static_cast<std::int64_t>(kept_.size()), smaller_ ? 1 : 0};
  const auto add = [&](const Answer& answer) {
    numbers.push_back(static_cast<std::int64_t>(answer.support.size()));
    numbers.insert(numbers.end(), answer.support.begin(), answer.support.end());
  };
  for (const Answer& answer : kept_) add(answer);
  if (smaller_) add(*smaller_);
  numbers.insert(numbers.end(), tree.begin(), tree.end());
  return numbers;
}

void Search::restore(const std::vector<std::int64_t>& numbers) {
  const auto most = static_cast<std::int64_t>(numbers.size());
  const int columns = equation.instance.columns;
  std::size_t at = 0;
  const std::int64_t flags = next_number(numbers, at, 0, 7);
  nodes.store(next_number(numbers, at, 0, std::int64_t{1} << 60));
  std::uint64_t next = static_cast<std::uint64_t>(next_number(numbers, at, 1, std::int64_t{1} << 60));
  const std::int64_t kept = next_number(numbers, at, 0, most), smaller = next_number(numbers, at, 0, 1);
  Refitter refitter(equation.instance);
  Fit fit;
  for (std::int64_t i = 0; i < kept + smaller; ++i) {
    std::vector<int> support(
        static_cast<std::size_t>(next_number(numbers, at, i < kept ? wanted.size : 0, wanted.size)));
    int least = 0;
    for (int& term : support) {
      term = static_cast<int>(next_number(numbers, at, least, columns - 1));
      least = term + 1;
    }
    refitter.fit(support, fit);
    if (!fit.admissible() && i < kept) throw std::invalid_argument("checkpoint: a support that does not count");
    if (i < kept)
      offer(fit);
    else
      offer_smaller(fit);
  }
  if (flags & 1) passed_over();
  if (flags & 4) perspective.store(true);
  if (flags & 2) {
    overflow_ = true;
    if (!kept_.empty()) cut_.store(std::min(cut(), std::max(kept_.rbegin()->upper(), equation.instance.zero)));
  }
  std::vector<bool> free(columns, true);
  for (const std::vector<int>* fixed : {&wanted.required, &wanted.forbidden})
    for (int column : *fixed) free[column] = false;
  branches->read(numbers, at, std::move(free), next);
  chunks.store(next);
}

std::vector<Answer> Search::answers() const { return {kept_.begin(), kept_.end()}; }

}  // namespace exactsindy
