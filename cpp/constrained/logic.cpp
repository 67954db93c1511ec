#include "constrained/logic.hpp"

#include <algorithm>
#include <utility>

namespace exactsindy::constrained {

LogicRows::LogicRows(int count, const std::vector<PresenceRow>& given)
    : variables(count), rows(given), of(count, [this](auto&& add) {
        for (std::size_t i = 0; i < rows.size(); ++i)
          for (std::size_t j = 0; j < rows[i].variables.size(); ++j)
            add(rows[i].variables[j], Entry{static_cast<int>(i), rows[i].coefs[j]});
      }) {}

Logic::Logic(const LogicRows& rows) : rows_(&rows), flag_(rows.variables, Flag::kFree) {
  least_.reserve(rows.rows.size());
  for (const PresenceRow& row : rows.rows) {
    int least = 0;
    for (int c : row.coefs) least += std::min(c, 0);
    least_.push_back(least);
  }
}

bool Logic::start() {
  for (std::size_t i = 0; i < rows_->rows.size(); ++i) queue_.push_back(static_cast<int>(i));
  return propagate();
}

bool Logic::assign(int v, Flag value) {
  if (flag_[v] == value) return true;
  if (flag_[v] != Flag::kFree) return false;
  flag_[v] = value;
  changes_.push_back(v);
  in_ += value == Flag::kIn;
  for (const auto& [row, coef] : rows_->of[v]) {
    // What the free variable could contribute at least, against what it does.
    const int before = std::min(coef, 0), now = value == Flag::kIn ? coef : 0;
    if (now != before) {
      least_[row] += now - before;
      queue_.push_back(row);
    }
  }
  return true;
}

bool Logic::propagate() {
  while (!queue_.empty()) {
    const int i = queue_.back();
    queue_.pop_back();
    const PresenceRow& row = rows_->rows[i];
    const int slack = row.limit - least_[i];
    if (slack < 0) return false;
    for (std::size_t j = 0; j < row.variables.size(); ++j) {
      const int v = row.variables[j], c = row.coefs[j];
      if (flag_[v] != Flag::kFree || std::abs(c) <= slack) continue;
      if (!assign(v, c > 0 ? Flag::kOut : Flag::kIn)) return false;
    }
  }
  return true;
}

bool Logic::set(int v, Flag value) { return assign(v, value) && propagate(); }

void Logic::take_changes(std::vector<int>& into) {
  into.clear();
  std::swap(into, changes_);
}

bool Logic::complete() {
  bool plain = true;  // all free terms out, without propagation
  for (const PresenceRow& row : rows_->rows) {
    int sum = 0;
    for (std::size_t j = 0; j < row.variables.size(); ++j)
      if (flag_[row.variables[j]] == Flag::kIn) sum += row.coefs[j];
    plain = plain && sum <= row.limit;
  }
  if (plain) {
    for (Flag& flag : flag_)
      if (flag == Flag::kFree) flag = Flag::kOut;
    return true;
  }
  for (std::size_t v = 0; v < flag_.size(); ++v) {
    if (flag_[v] != Flag::kFree) continue;
    Logic trial = *this;
    if (trial.set(static_cast<int>(v), Flag::kOut)) {
      *this = std::move(trial);
    } else if (!set(static_cast<int>(v), Flag::kIn)) {
      return false;
    }
  }
  return true;
}

bool allowed(const LogicRows& rows, const std::vector<int>& support, int count) {
  for (int i = 0; i < count; ++i) {
    const PresenceRow& row = rows.rows[i];
    int sum = 0;
    for (std::size_t j = 0; j < row.variables.size(); ++j)
      if (std::find(support.begin(), support.end(), row.variables[j]) != support.end()) sum += row.coefs[j];
    if (sum > row.limit) return false;
  }
  return true;
}

}  // namespace exactsindy::constrained
