#include "search/checkpoint.hpp"

#include <limits>
#include <stdexcept>

namespace exactsindy {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;

void write_branch(const Branch& branch, std::vector<std::int64_t>& numbers) {
  numbers.push_back(branch.term);
  numbers.push_back(branch.done);
  if (branch.done) {
    numbers.push_back(static_cast<std::int64_t>(branch.chunk));
    numbers.push_back(static_cast<std::int64_t>(branch.chunks.size()));
    numbers.insert(numbers.end(), branch.chunks.begin(), branch.chunks.end());
    return;
  }
  numbers.push_back(static_cast<std::int64_t>(branch.below.size()));
  for (const auto& one : branch.below) write_branch(*one, numbers);
}

void read_branch(Branch& branch, const std::vector<std::int64_t>& numbers, std::size_t& at, std::vector<bool> free,
                 std::uint64_t& next) {
  const auto columns = static_cast<std::int64_t>(free.size());
  branch.term = static_cast<int>(next_number(numbers, at, -1, columns - 1));
  if ((branch.term < 0) != (branch.parent == nullptr))
    throw std::invalid_argument("checkpoint: a branch without a term");
  branch.done = next_number(numbers, at, 0, 1) != 0;
  const auto most = static_cast<std::int64_t>(numbers.size());
  if (branch.done) {
    branch.open = 0;
    branch.chunk = static_cast<std::uint64_t>(next_number(numbers, at, 0, kMost));
    for (std::int64_t i = next_number(numbers, at, 0, most); i > 0; --i)
      branch.chunks.push_back(static_cast<std::uint64_t>(next_number(numbers, at, 0, kMost)));
    return;
  }
  if (branch.parent) branch.chunk = next++;
  const std::int64_t count = next_number(numbers, at, 0, branch.level < Branches::kLevels ? most : 0);
  for (std::int64_t i = 0; i < count; ++i) {
    auto below = std::make_unique<Branch>();
    below->parent = &branch;
    below->level = branch.level + 1;
    if (at < numbers.size() && numbers[at] >= 0 && numbers[at] < columns) {
      const auto term = static_cast<std::size_t>(numbers[at]);
      if (!free[term]) throw std::invalid_argument("checkpoint: a term that is branched on twice");
      free[term] = false;
    }
    read_branch(*below, numbers, at, free, next);
    branch.open += below->done ? 0 : 1;
    branch.below.push_back(std::move(below));
  }
}

}  // namespace

std::int64_t next_number(const std::vector<std::int64_t>& numbers, std::size_t& at, std::int64_t low,
                         std::int64_t high) {
  if (at >= numbers.size() || numbers[at] < low || numbers[at] > high)
    throw std::invalid_argument("checkpoint: numbers that no search was stored as");
  return numbers[at++];
}

Branch* Branches::add(Branch& at, int term, std::uint64_t chunk) {
  auto below = std::make_unique<Branch>();
  below->parent = &at;
  below->term = term;
  below->level = at.level + 1;
  below->chunk = chunk;
  const std::lock_guard lock(mutex_);
  ++at.open;
  at.below.push_back(std::move(below));
  return at.below.back().get();
}

void Branches::hold(Branch& at, std::uint64_t chunk) {
  const std::lock_guard lock(mutex_);
  ++at.open;
  at.chunks.push_back(chunk);
}

void Branches::finish(Branch& at) {
  const std::lock_guard lock(mutex_);
  for (Branch* branch = &at; branch && --branch->open == 0; branch = branch->parent) {
    branch->done = true;
    for (const auto& one : branch->below) {
      if (one->chunk > 0) branch->chunks.push_back(one->chunk);
      branch->chunks.insert(branch->chunks.end(), one->chunks.begin(), one->chunks.end());
    }
    branch->below.clear();
  }
}

void Branches::write(std::vector<std::int64_t>& numbers) const {
  const std::lock_guard lock(mutex_);
  write_branch(root_, numbers);
}

void Branches::read(const std::vector<std::int64_t>& numbers, std::size_t& at, std::vector<bool> free,
                    std::uint64_t& next) {
  const std::lock_guard lock(mutex_);
  read_branch(root_, numbers, at, std::move(free), next);
  if (at != numbers.size()) throw std::invalid_argument("checkpoint: more numbers than a search is stored as");
}

}  // namespace exactsindy
