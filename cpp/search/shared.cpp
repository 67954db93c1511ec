#include "search/shared.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "core/clock.hpp"

namespace exactsindy {

namespace {

// Pivots of a normalised Gram matrix below this: its inverse is that of a slightly regularised one (guidance only).
constexpr double kLeastPivot = 1e-10, kRegularisation = 1e-6;

// One equation, and where it has the columns that all equations have.
struct Part {
  Equation equation;
  Refitter refitter;
  std::vector<int> column;  // of the instance, for each common column
  int shift = 0;            // errors times 4^shift are in the common units; <= 0
  int refinements = 1;

  Part(Instance&& instance) : equation(std::move(instance), true), refitter(equation.instance) {}
};

// What is known of an equation at a node: the inverse of the Gram matrix of the node's columns and their coefficients.
struct Side {
  std::vector<double> inverse, beta;
};

// Supports that hold the first `fixed` of `columns` and as many of the others as are missing.
struct Node {
  std::vector<int> columns;
  int fixed = 0;
  double bound = 0.0;  // certified
  std::vector<Side> sides;

  Node without(int place) const;
};

void drop(const Side& from, int n, int place, Side& to) {
  const double* pivot_row = from.inverse.data() + static_cast<std::size_t>(place) * n;
  const double pivot = 1.0 / pivot_row[place];
  to.inverse.reserve(static_cast<std::size_t>(n - 1) * (n - 1));
  for (int i = 0; i < n; ++i) {
    if (i == place) continue;
    const double* row = from.inverse.data() + static_cast<std::size_t>(i) * n;
    const double share = row[place] * pivot;
    for (int j = 0; j < n; ++j)
      if (j != place) to.inverse.push_back(row[j] - share * pivot_row[j]);
    to.beta.push_back(from.beta[i] - share * from.beta[place]);
  }
}

Node Node::without(int place) const {
  Node child{columns, fixed, bound, std::vector<Side>(sides.size())};
  child.columns.erase(child.columns.begin() + place);
  for (std::size_t r = 0; r < sides.size(); ++r)
    drop(sides[r], static_cast<int>(columns.size()), place, child.sides[r]);
  return child;
}

// Inverse of a positive definite matrix by elimination; false if a pivot is too small.
bool invert(std::vector<double>& a, int n, double least) {
  for (int k = 0; k < n; ++k) {
    double* pivot_row = a.data() + static_cast<std::size_t>(k) * n;
    if (!(pivot_row[k] > least)) return false;
    const double pivot = 1.0 / pivot_row[k];
    pivot_row[k] = 1.0;
    for (int j = 0; j < n; ++j) pivot_row[j] *= pivot;
    for (int i = 0; i < n; ++i) {
      if (i == k) continue;
      double* row = a.data() + static_cast<std::size_t>(i) * n;
      const double share = row[k];
      row[k] = 0.0;
      for (int j = 0; j < n; ++j) row[j] -= share * pivot_row[j];
    }
  }
  return true;
}

class SharedSearch {
 public:
  SharedSearch(const SharedRequest& request, const Watch& watch)
      : request_(request), watch_(watch), clock_(request.limits.tick, request.limits.tick) {}

  SharedOutcome run() {
    prepare();
    if (static_cast<int>(columns_.size()) >= request_.size) {
      for (const std::vector<int>& start : request_.starts) evaluate_start(start);
      Node root = this->root();
      eliminate(root);
      explore(root);
    }
    out_.answers = kept_;
    const double best = kept_.empty() ? kInf : kept_.front().lower;
    out_.lower = std::min(best, open_);
    out_.seconds = clock_.elapsed();
    return out_;
  }

 private:
  void prepare() {
    int top = -1'000'000;
    for (const Factor& factor : request_.factors) {
      parts_.push_back(std::make_unique<Part>(Instance::from_factor(factor)));
      top = std::max(top, parts_.back()->equation.instance.target_exponent);
    }
    out_.exponent = top;
    columns_ = parts_.front()->equation.instance.original;
    for (const auto& part : parts_) {
      const std::vector<int>& own = part->equation.instance.original;
      std::vector<int> both;
      std::set_intersection(columns_.begin(), columns_.end(), own.begin(), own.end(), std::back_inserter(both));
      columns_ = both;
    }
    zero_ = 0.0;
    for (const auto& part : parts_) {
      const Instance& in = part->equation.instance;
      part->shift = in.target_exponent - top;
      out_.rest = out_.rest + scaled(in.rest, part->shift);
      zero_ += std::ldexp(in.zero, 2 * part->shift) * (1.0 + 4.0 * kEps);
      for (int j : columns_)
        part->column.push_back(
            static_cast<int>(std::lower_bound(in.original.begin(), in.original.end(), j) - in.original.begin()));
    }
  }

  static Double2 scaled(Double2 value, int shift) {
    return {std::ldexp(value.hi, 2 * shift), std::ldexp(value.lo, 2 * shift)};
  }

  Node root() {
    const int n = static_cast<int>(columns_.size());
    Node node;
    node.columns.resize(n);
    std::iota(node.columns.begin(), node.columns.end(), 0);
    for (const auto& part : parts_) {
      const Guide& guide = part->equation.guide;
      const auto gram = [&](double added) {
        std::vector<double> a(static_cast<std::size_t>(n) * n);
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j)
            a[static_cast<std::size_t>(i) * n + j] =
                guide.gram[static_cast<std::size_t>(part->column[i]) * guide.stride + part->column[j]] +
                (i == j ? added : 0.0);
        return a;
      };
      Side side{gram(0.0), std::vector<double>(n)};
      if (!invert(side.inverse, n, kLeastPivot)) {
        side.inverse = gram(kRegularisation);
        invert(side.inverse, n, 0.0);
        part->refinements = 3;
      }
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          side.beta[i] += side.inverse[static_cast<std::size_t>(i) * n + j] * guide.moment[part->column[j]];
      node.sides.push_back(std::move(side));
    }
    return node;
  }

  // The residual of one equation at a node in `w`, and its coefficients made more exact. Returns the value.
  double refine(const Part& part, const std::vector<int>& columns, Side& side, Array& w) const {
    const Instance& in = part.equation.instance;
    const Guide& guide = part.equation.guide;
    const Kernels& k = kernels();
    const int n = static_cast<int>(columns.size());
    w.reserve(in.stride);
    std::copy(in.z.data(), in.z.data() + in.stride, w.data());
    std::vector<double> slope(n), change = side.beta;
    double ridge = 0.0;
    for (int round = 0;; ++round) {
      for (int i = 0; i < n; ++i) {
        const int j = part.column[columns[i]];
        k.axpy(-change[i] / guide.scale[j], in.column(j), w.data(), in.length[j]);
      }
      if (round == part.refinements) break;
      for (int i = 0; i < n; ++i) {
        const int j = part.column[columns[i]];
        slope[i] = k.dot(w.data(), in.column(j), in.length[j]) / guide.scale[j] -
                   in.ridge[j] / (guide.scale[j] * guide.scale[j]) * side.beta[i];
      }
      for (int i = 0; i < n; ++i) {
        const double* row = side.inverse.data() + static_cast<std::size_t>(i) * n;
        change[i] = std::inner_product(slope.begin(), slope.end(), row, 0.0);
        side.beta[i] += change[i];
      }
    }
    for (int i = 0; i < n; ++i) {
      const int j = part.column[columns[i]];
      const double x = side.beta[i] / guide.scale[j];
      ridge += in.ridge[j] * x * x;
    }
    return k.dot(w.data(), w.data(), in.stride) + ridge;
  }

  // Fills what dropping each column costs; returns a safe lower bound of the error of all supports of the node.
  double look(Node& node, std::vector<double>& costs) {
    const int n = static_cast<int>(node.columns.size());
    costs.assign(n, 0.0);
    double sum = 0.0;
    for (std::size_t r = 0; r < parts_.size(); ++r) {
      const Part& part = *parts_[r];
      refine(part, node.columns, node.sides[r], w_);
      const double unit = std::ldexp(1.0, 2 * part.shift);
      for (int i = 0; i < n; ++i) {
        const double own = node.sides[r].inverse[static_cast<std::size_t>(i) * n + i];
        costs[i] += unit * node.sides[r].beta[i] / own * node.sides[r].beta[i];
      }
      local_.clear();
      for (int j : node.columns) local_.push_back(part.column[j]);
      // A support whose sum is at most the cut has at most that error in each equation.
      const double cut = std::ldexp(cut_, -2 * part.shift) * (1.0 + 4.0 * kEps);
      const double bound =
          part.equation.certifier.bound(w_.data(), local_.data(), node.fixed, local_.data() + node.fixed,
                                        n - node.fixed, request_.size - node.fixed, cut);
      sum += std::ldexp(std::max(bound, 0.0), 2 * part.shift);
    }
    return sum * (1.0 - (static_cast<double>(parts_.size()) + 4.0) * kEps);
  }

  // A first support: the column that costs least is dropped, again and again.
  void eliminate(Node node) {
    std::vector<double> costs;
    while (static_cast<int>(node.columns.size()) > request_.size && !stopped()) {
      look(node, costs);
      const auto least = std::min_element(costs.begin(), costs.end());
      node = node.without(static_cast<int>(least - costs.begin()));
    }
    if (static_cast<int>(node.columns.size()) == request_.size) evaluate(node.columns);
  }

  void explore(Node& node) {
    ++out_.nodes;
    if (stopped()) {
      open_ = std::min(open_, node.bound);
      return;
    }
    std::vector<double> costs;
    node.bound = std::max(node.bound, look(node, costs));
    if (node.bound > cut_) return;
    const int n = static_cast<int>(node.columns.size()), missing = request_.size - node.fixed;
    if (n == request_.size || missing == 0) {
      evaluate({node.columns.begin(), node.columns.begin() + request_.size});
      return;
    }
    // The others by what dropping them costs. A support lacks one of the first `missing`, or it is they.
    std::vector<int> order(n - node.fixed);
    std::iota(order.begin(), order.end(), node.fixed);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return costs[a] > costs[b]; });
    std::vector<int> leaf(node.columns.begin(), node.columns.begin() + node.fixed);
    for (int i = 0; i < missing; ++i) leaf.push_back(node.columns[order[i]]);
    evaluate(leaf);
    for (int i = missing - 1; i >= 0; --i) {
      if (out_.stop != Stop::kNone) {
        open_ = std::min(open_, node.bound);
        return;
      }
      Node child = held(node, order, i).without(node.fixed + i);
      explore(child);
    }
  }

  // The node with the first `count` columns of an order moved next to the fixed ones, which they join; the next one
  // follows them.
  static Node held(const Node& node, const std::vector<int>& order, int count) {
    const int n = static_cast<int>(node.columns.size());
    std::vector<int> place(node.fixed);
    std::iota(place.begin(), place.end(), 0);
    place.insert(place.end(), order.begin(), order.end());
    Node out{std::vector<int>(n), node.fixed + count, node.bound, std::vector<Side>(node.sides.size())};
    for (int i = 0; i < n; ++i) out.columns[i] = node.columns[place[i]];
    for (std::size_t r = 0; r < node.sides.size(); ++r) {
      Side& side = out.sides[r];
      side.inverse.resize(static_cast<std::size_t>(n) * n);
      side.beta.resize(n);
      for (int i = 0; i < n; ++i) {
        side.beta[i] = node.sides[r].beta[place[i]];
        for (int j = 0; j < n; ++j)
          side.inverse[static_cast<std::size_t>(i) * n + j] =
              node.sides[r].inverse[static_cast<std::size_t>(place[i]) * n + place[j]];
      }
    }
    return out;
  }

  void evaluate_start(const std::vector<int>& start) {
    std::vector<int> support;
    for (int j : start) {
      const auto at = std::lower_bound(columns_.begin(), columns_.end(), j);
      if (at != columns_.end() && *at == j) support.push_back(static_cast<int>(at - columns_.begin()));
    }
    if (static_cast<int>(support.size()) == request_.size) evaluate(support);
  }

  // The canonical value of a support of common columns.
  void evaluate(std::vector<int> support) {
    std::sort(support.begin(), support.end());
    SharedAnswer answer;
    for (int j : support) answer.support.push_back(columns_[j]);
    for (const auto& part : parts_) {
      local_.clear();
      for (int j : support) local_.push_back(part->column[j]);
      part->refitter.fit(local_, fit_);
      if (!fit_.admissible()) {
        out_.dependent = true;
        return;
      }
      const Answer own = answer_of(fit_);
      const std::vector<double> coef = part->equation.instance.units().coefficients(own);
      answer.coef.insert(answer.coef.end(), coef.begin(), coef.end());
      answer.error = answer.error + scaled(own.error, part->shift);
      answer.upper += std::ldexp(own.upper(), 2 * part->shift);
      answer.lower += std::ldexp(own.lower(), 2 * part->shift);
    }
    const double rounding = (static_cast<double>(parts_.size()) + 4.0) * kEps;
    answer.upper *= 1.0 + rounding;
    answer.lower *= 1.0 - rounding;
    const auto before = [](const SharedAnswer& a, const SharedAnswer& b) {
      return a.error == b.error ? a.support < b.support : a.error < b.error;
    };
    const auto at = std::lower_bound(kept_.begin(), kept_.end(), answer, before);
    if (at != kept_.end() && at->support == answer.support) return;
    kept_.insert(at, std::move(answer));
    if (static_cast<int>(kept_.size()) > request_.keep) kept_.pop_back();
    if (static_cast<int>(kept_.size()) < request_.keep) return;
    // What counts as 0 must not be cut off; nor a support that is not told from the last one.
    double upper = 0.0;
    for (const SharedAnswer& one : kept_) upper = std::max(upper, one.upper);
    cut_ = std::min(cut_, upper + zero_);
  }

  bool stopped() {
    if (out_.stop != Stop::kNone) return true;
    const double now = clock_.elapsed();
    if (request_.limits.seconds > 0.0 && now > request_.limits.seconds) out_.stop = Stop::kTime;
    if (request_.limits.nodes > 0 && out_.nodes > request_.limits.nodes) out_.stop = Stop::kNodes;
    if (clock_.due(now)) {
      Snapshot shown;
      if (!kept_.empty()) {
        shown.incumbent = out_.objective(kept_.front().error);
        shown.support = kept_.front().support;
      }
      shown.lower = out_.lower_objective(0.0);
      if (!watch_({shown}, out_.nodes, now)) out_.stop = Stop::kInterrupted;
    }
    return out_.stop != Stop::kNone;
  }

  const SharedRequest& request_;
  const Watch& watch_;
  Clock clock_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::vector<int> columns_;  // common ones, in the caller's numbering
  std::vector<SharedAnswer> kept_;
  double cut_ = kInf, open_ = kInf, zero_ = 0.0;
  SharedOutcome out_;
  Array w_;
  std::vector<int> local_;
  Fit fit_;
};

}  // namespace

double SharedOutcome::objective(Double2 error) const {
  return std::isfinite(error.hi) ? std::ldexp((rest + error).hi, 2 * exponent) : error.hi;
}

double SharedOutcome::remainder(Double2 error) const {
  return std::isfinite(error.hi) ? std::ldexp((rest + error).lo, 2 * exponent) : 0.0;
}

double SharedOutcome::lower_objective(double error) const { return Units{rest, exponent, {}, {}}.lower(error); }

SharedOutcome solve_shared(const SharedRequest& request, const Watch& watch) {
  return SharedSearch(request, watch).run();
}

}  // namespace exactsindy
