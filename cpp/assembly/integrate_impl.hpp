// Eight intervals side by side; included once per instruction set.
#pragma once
#include <algorithm>

#include "assembly/integration.hpp"
#include "core/vec.hpp"

namespace exactsindy {
namespace {

// One batch of intervals and its work space.
struct Batch {
  const Integration& task;
  Vec *states, *moved, *slopes, *registers, *jacobian, *controls;
  Vec begin, length;
  const std::int64_t* members;
  std::size_t count;

  Batch(const Integration& of, const std::int64_t* which, std::size_t number, double* work)
      : task(of), members(which), count(number) {
    const std::size_t size = of.states * of.width();
    states = &vec(work);
    moved = states + size;
    slopes = moved + size;
    registers = slopes + of.stages * size;
    jacobian = registers + of.registers();
    controls = jacobian + of.states * of.states;
  }

  // The interval in a lane; unused lanes repeat the last one.
  std::size_t interval(int lane) const {
    return static_cast<std::size_t>(members[std::min(static_cast<std::size_t>(lane), count - 1)]);
  }

  void load() {
    const std::size_t d = task.states, width = task.width();
    std::fill(states, states + d * width, fill(0.0));
    for (int lane = 0; lane < kLane; ++lane) {
      const std::size_t i = interval(lane);
      for (std::size_t v = 0; v < d; ++v) states[v * width][lane] = task.start[i * d + v];
      begin[lane] = task.begin[i];
      length[lane] = task.length[i];
    }
    if (task.derivatives)
      for (std::size_t v = 0; v < d; ++v) states[v * width + 1 + v] = fill(1.0);
  }

  void store() const {
    const std::size_t size = task.states * task.width();
    for (std::size_t lane = 0; lane < count; ++lane)
      for (std::size_t e = 0; e < size; ++e)
        task.ends[interval(static_cast<int>(lane)) * size + e] = states[e][static_cast<int>(lane)];
  }

  void fill_registers(double share) {
    const std::size_t d = task.states, c = task.controls, width = task.width();
    for (std::size_t v = 0; v < d; ++v) registers[v] = moved[v * width];
    for (std::size_t u = 0; u < c; ++u) {
      Vec value = fill(0.0);
      for (int lane = 0; lane < kLane; ++lane) {
        const double* cubic = task.cubics + u * task.intervals + interval(lane);
        const std::size_t stride = c * task.intervals;
        value[lane] = ((cubic[3 * stride] * share + cubic[2 * stride]) * share + cubic[stride]) * share + cubic[0];
      }
      registers[d + u] = value;
    }
    registers[d + c] = multiply_add(fill(share), length, begin);
    Vec* product = registers + d + c + 1;
    for (std::size_t q = 0; q < task.products; ++q) {
      const std::int64_t first = task.factors[2 * q], second = task.factors[2 * q + 1];
      product[q] = first < 0 ? fill(1.0) : registers[first] * registers[second];
    }
  }

  // The right-hand sides at `moved`, and what they do to the derivatives.
  void evaluate(double share, Vec* out) {
    const std::size_t d = task.states, width = task.width();
    fill_registers(share);
    std::fill(out, out + d * width, fill(0.0));
    for (std::size_t q = 0; q < task.coefficients; ++q) {
      const auto row = static_cast<std::size_t>(task.rate[q]);
      const Vec& value = registers[task.term[q]];
      out[row * width] = multiply_add(fill(task.coefficient[q]), value, out[row * width]);
      if (task.derivatives) out[row * width + 1 + d + q] = value;
    }
    if (!task.derivatives) return;
    std::fill(jacobian, jacobian + d * d, fill(0.0));
    for (std::size_t s = 0; s < task.slopes; ++s) {
      Vec& entry = jacobian[task.slope[3 * s] * static_cast<std::int64_t>(d) + task.slope[3 * s + 1]];
      entry = multiply_add(fill(task.weight[s]), registers[task.slope[3 * s + 2]], entry);
    }
    // Slopes of the same entry follow one another, so that each entry that is not zero by itself is met once.
    for (std::size_t s = 0; s < task.slopes; ++s) {
      const auto row = static_cast<std::size_t>(task.slope[3 * s]),
                 by = static_cast<std::size_t>(task.slope[3 * s + 1]);
      if (s > 0 && task.slope[3 * s - 3] == task.slope[3 * s] && task.slope[3 * s - 2] == task.slope[3 * s + 1])
        continue;
      const Vec factor = jacobian[row * d + by];
      for (std::size_t e = 1; e < width; ++e)
        out[row * width + e] = multiply_add(factor, moved[by * width + e], out[row * width + e]);
    }
  }

  void advance(std::size_t steps) {
    const std::size_t size = task.states * task.width();
    const Vec step = length * (1.0 / static_cast<double>(steps));
    for (std::size_t k = 0; k < steps; ++k) {
      for (std::size_t s = 0; s < task.stages; ++s) {
        combine(task.rows + s * task.stages, s, step, moved);
        evaluate((static_cast<double>(k) + task.nodes[s]) / static_cast<double>(steps), slopes + s * size);
      }
      combine(task.weights, task.stages, step, states);
    }
  }

  // The states moved by a step along a sum of the first slopes.
  void combine(const double* row, std::size_t stages, const Vec& step, Vec* out) {
    const std::size_t size = task.states * task.width();
    for (std::size_t e = 0; e < size; ++e) {
      Vec sum = fill(0.0);
      for (std::size_t s = 0; s < stages; ++s)
        if (row[s] != 0.0) sum = multiply_add(fill(row[s]), slopes[s * size + e], sum);
      out[e] = multiply_add(step, sum, states[e]);
    }
  }
};

void integrate_batch(const Integration& task, const std::int64_t* members, std::size_t count, double* work) {
  Batch batch(task, members, count, work);
  batch.load();
  batch.advance(static_cast<std::size_t>(task.substeps[members[0]]));
  batch.store();
}

}  // namespace
}  // namespace exactsindy
