// A test framework in one page: TEST registers a function, CHECK and CHECK_OP record failures and go on.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace exactsindy::tests {

struct Case {
  const char* name;
  void (*body)();
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

struct Register {
  Register(const char* name, void (*body)()) { cases().push_back({name, body}); }
};

struct State {
  const char* current = "";
  std::uint64_t seed = 0;  // of the instance at hand, printed with every failure
  std::string note;        // anything that helps to repeat it
  long checks = 0, failures = 0, failures_here = 0;
};

inline State& state() {
  static State s;
  return s;
}

constexpr long kShown = 5;  // failures printed per test

template <class Value>
std::string text(const Value& value) {
  std::ostringstream out;
  out.precision(17);
  out << value;
  return out.str();
}

template <class Value>
std::string text(const std::vector<Value>& values) {
  std::string out = "{";
  for (const Value& v : values) out += (out.size() > 1 ? " " : "") + text(v);
  return out + "}";
}

inline void fail(const char* file, int line, const std::string& message) {
  State& s = state();
  ++s.failures;
  if (++s.failures_here > kShown) return;
  std::cerr << file << ":" << line << ": " << s.current << ": " << message << " (seed " << s.seed
            << (s.note.empty() ? "" : ", ") << s.note << ")\n";
}

// Names the instance for failure messages and gives its random numbers.
inline std::mt19937_64 seeded(std::uint64_t seed, std::string note = "") {
  state().seed = seed;
  state().note = std::move(note);
  return std::mt19937_64(seed);
}

inline bool sanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return true;
#else
  return false;
#endif
#else
  return false;
#endif
}

// Repetitions: a quarter where every memory access is watched, unless EXACTSINDY_LONG is set (make check).
inline int repeats(int n) {
  static const bool few = sanitized() && !std::getenv("EXACTSINDY_LONG");
  return few ? (n + 3) / 4 : n;
}

}  // namespace exactsindy::tests

#define TEST(name)                                                         \
  static void name();                                                      \
  static const ::exactsindy::tests::Register register_##name(#name, name); \
  static void name()

#define CHECK(condition)                                                         \
  do {                                                                           \
    ++::exactsindy::tests::state().checks;                                       \
    if (!(condition)) ::exactsindy::tests::fail(__FILE__, __LINE__, #condition); \
  } while (false)

// Compare two values and print both: CHECK_OP(a, <=, b).
#define CHECK_OP(a, op, b)                                                                                \
  do {                                                                                                    \
    ++::exactsindy::tests::state().checks;                                                                \
    const auto left_ = (a);                                                                               \
    const auto right_ = (b);                                                                              \
    if (!(left_ op right_))                                                                               \
      ::exactsindy::tests::fail(__FILE__, __LINE__,                                                       \
                                #a " " #op " " #b ": " + ::exactsindy::tests::text(left_) + " against " + \
                                    ::exactsindy::tests::text(right_));                                   \
  } while (false)
