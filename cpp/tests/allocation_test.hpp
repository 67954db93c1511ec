// The search allocates before it starts and when it finds something, not while it looks.
#pragma once
#include <atomic>
#include <cstdlib>
#include <new>

#include "search/node.hpp"
#include "tests/limits_test.hpp"

namespace exactsindy::tests {

inline std::atomic<long>& allocations() {
  static std::atomic<long> count{0};
  return count;
}

}  // namespace exactsindy::tests

// Sanitizers have their own allocator, which tells us about every request; elsewhere operator new does.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void*, std::size_t),
                                                         void (*free_hook)(const volatile void*));
namespace exactsindy::tests {
inline void count_malloc(const volatile void*, std::size_t) { allocations().fetch_add(1, std::memory_order_relaxed); }
inline void ignore_free(const volatile void*) {}
static const bool counting = __sanitizer_install_malloc_and_free_hooks(count_malloc, ignore_free) != 0;
}  // namespace exactsindy::tests
#else
// (Not inlined: the compiler would see malloc and delete, or new and free, and warn.)
[[gnu::noinline]] void* operator new(std::size_t size) {
  exactsindy::tests::allocations().fetch_add(1, std::memory_order_relaxed);
  if (void* p = std::malloc(size > 0 ? size : 1)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
namespace exactsindy::tests {
static const bool counting = true;
}  // namespace exactsindy::tests
#endif

namespace exactsindy::tests {

struct Effort {
  long allocations = 0, nodes = 0;
};

// Allocations of the tree search alone, after its incumbents, on one thread.
inline Effort effort_of(const Data& data, int size) {
  Effort effort;
  Engine engine({}, {});
  engine.run(1, [&](Worker& worker, int) {
    const Equation equation(data.instance(), true);
    Search search(equation, {size});
    worker.incumbents(search, {});
    const long before = allocations().load();
    engine.explore(worker, search);
    effort = {allocations().load() - before, search.nodes.load()};
  });
  return effort;
}

TEST(allocations_are_counted) {
  CHECK(counting);
  const long before = allocations().load();
  std::vector<double> some(100);
  CHECK_OP(some.size(), ==, std::size_t{100});
  CHECK_OP(allocations().load(), >, before);
}

TEST(hot_loop_does_not_allocate) {
  for (std::uint64_t seed = 70000; seed < 70002; ++seed) {
    Rng rng = seeded(seed);
    const Effort small = effort_of(hard_data(rng, 30), 6), large = effort_of(hard_data(rng, 50), 6);
    CHECK_OP(large.nodes, >, 5000);
    CHECK_OP(large.nodes, >, 4 * small.nodes);
    CHECK_OP(large.allocations, <, 200);
  }
}

// The same where pairs are in doubt and projections have to be made again, and with a ridge.
TEST(delicate_searches_do_not_allocate) {
  for (double ridge : {0.0, 1e-9}) {
    Rng rng = seeded(71, "ridge=" + text(ridge));
    Data data = hard_data(rng, 30);
    make_collinear(rng, data, -6.0, -3.0);
    data.ridge.assign(data.n, ridge);
    const Effort effort = effort_of(data, 6);
    CHECK_OP(effort.nodes, >, 100);
    CHECK_OP(effort.allocations, <, 200);
  }
}

}  // namespace exactsindy::tests
