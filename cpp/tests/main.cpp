// search_tests [part of a test's name]: runs the tests of the core.
#include <chrono>
#include <cstring>

#include "tests/check.hpp"
// The tests, from the bottom up.
#include "tests/dd_test.hpp"
#include "tests/outcome_test.hpp"
#include "tests/kernels_test.hpp"
#include "tests/assembly_test.hpp"
#include "tests/trajectory_fit_test.hpp"
#include "tests/refit_test.hpp"
#include "tests/certifier_test.hpp"
#include "tests/perspective_test.hpp"
#include "tests/constrained_test.hpp"
#include "tests/tied_test.hpp"
#include "tests/solve_test.hpp"
#include "tests/degenerate_test.hpp"
#include "tests/guide_test.hpp"
#include "tests/limits_test.hpp"
#include "tests/threads_test.hpp"
#include "tests/checkpoint_test.hpp"
#include "tests/setup_test.hpp"
#include "tests/allocation_test.hpp"

int main(int argc, char** argv) {
  using namespace exactsindy::tests;
  State& s = state();
  for (const Case& test : cases()) {
    if (argc > 1 && !std::strstr(test.name, argv[1])) continue;
    s.current = test.name;
    s.failures_here = 0;
    s.note.clear();
    const long before = s.checks;
    const auto start = std::chrono::steady_clock::now();
    try {
      test.body();
    } catch (const std::exception& error) {
      fail(__FILE__, __LINE__, std::string("threw ") + error.what());
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::cout << (s.failures_here ? "FAIL " : "ok   ") << test.name << ": " << s.checks - before << " checks, "
              << s.failures_here << " failures, " << seconds << " s" << std::endl;
  }
  std::cout << s.checks << " checks, " << s.failures << " failures\n";
  return s.failures == 0 && s.checks > 0 ? 0 : 1;
}
