// Which terms are present: three-valued flags under presence rows, with propagation.
#pragma once
#include <vector>

#include "constrained/system.hpp"

namespace exactsindy::constrained {

enum class Flag : char { kFree, kIn, kOut };

// The rows and where each variable occurs; shared by all states.
class LogicRows {
 public:
  LogicRows(int variables, const std::vector<PresenceRow>& rows);
  struct Entry {
    int row, coef;
  };
  int variables;
  std::vector<PresenceRow> rows;
  ByVariable<Entry> of;
};

// A partial assignment. All changes go through set(), which propagates; a conflict leaves the state unusable.
class Logic {
 public:
  explicit Logic(const LogicRows& rows);
  Flag operator[](int v) const { return flag_[v]; }
  // False: the rows cannot hold any more.
  bool start();
  bool set(int v, Flag value);
  // Variables that were decided since the last call, in order. (What `into` held before makes room for the next ones.)
  void take_changes(std::vector<int>& into);
  int count_in() const { return in_; }
  // All free terms out, if the rows allow it; else with as few as a greedy pass needs. False: no completion was found.
  bool complete();

 private:
  bool assign(int v, Flag value);
  bool propagate();

  const LogicRows* rows_;
  std::vector<Flag> flag_;
  std::vector<int> least_;  // per row: smallest value its left side can still take
  std::vector<int> queue_, changes_;
  int in_ = 0;
};

// Whether exactly these terms being present satisfies the first `count` rows.
bool allowed(const LogicRows& rows, const std::vector<int>& support, int count);

}  // namespace exactsindy::constrained
