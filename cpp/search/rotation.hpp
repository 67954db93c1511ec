// QR of the columns with a ridge below them, in blocks.
#pragma once
#include <vector>

#include "search/instance.hpp"

namespace exactsindy {

struct Rows;

// Householder QR without pivoting of the columns, each with the root of its ridge in a row of its own below. Column j
// is kept as row j of an array; ridge rows start at the padded end of the data rows, so that all loops run over whole
// vectors. Reflections are I - v v' with |v|^2 = 2; those of a panel together are I - V T V'.
class Rotation {
 public:
  // `regular`: share of each squared norm that is added to its ridge. Row j of `triangle` becomes column j of R.
  Rotation(const Instance& in, double regular, Array& triangle, int stride, const Crew& crew);

  bool ready() const { return ready_; }  // false: the crew was told to stop
  int length() const { return length_; }
  // y becomes Q' y.
  void apply(double* y) const;
  // Row j of `to`: the data rows of Q e_j.
  bool basis(Array& to, int stride, const Crew& crew) const;

 private:
  static constexpr int kPanel = 32;

  // The rows in which the reflections of a panel are not zero: one range among the data rows, one among the ridge rows.
  struct Panel {
    int first, last;  // columns
    int begin[2], end[2];
    std::vector<double> t;  // kPanel x kPanel, upper triangular
  };

  double* row(int j) { return work_.data() + static_cast<std::size_t>(j) * length_; }
  const double* row(int j) const { return work_.data() + static_cast<std::size_t>(j) * length_; }
  Panel factor(int first, int last, const std::vector<int>& data_length, Array& triangle, int stride);
  // Rows c become c - (c V) T V', or with T' in place of T.
  void reflect(const Panel& panel, bool transposed, double* c, int stride, int count) const;
  double dot(const Panel& panel, const double* a, const double* b) const;

  int data_rows_, length_, n_;
  Array work_;  // the columns, then their reflections, zero before the diagonal
  std::vector<Panel> panels_;
  bool ready_ = false;
};

}  // namespace exactsindy
