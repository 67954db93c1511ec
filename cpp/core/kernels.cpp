#include "core/kernels.hpp"

#if defined(EXACTSINDY_X86) && defined(_MSC_VER)
#include <intrin.h>
#endif

namespace exactsindy {

namespace {

#ifdef EXACTSINDY_X86

struct Processor {
  bool avx2 = false, avx512 = false;
};

#ifdef _MSC_VER

Processor processor() {
  int id[4];
  __cpuid(id, 0);
  if (id[0] < 7) return {};
  __cpuid(id, 1);
  const bool fma = id[2] >> 12 & 1, saves_registers = id[2] >> 27 & 1;
  if (!fma || !saves_registers) return {};
  const unsigned long long saved = _xgetbv(0);  // what the operating system saves: bits 1, 2 AVX; 5, 6, 7 AVX-512
  __cpuidex(id, 7, 0);
  const bool avx2 = id[1] >> 5 & 1;
  const bool avx512 = (id[1] >> 16 & 1) && (id[1] >> 17 & 1) && (id[1] >> 31 & 1);  // F, DQ, VL
  return {avx2 && (saved & 0x6) == 0x6, avx512 && (saved & 0xe6) == 0xe6};
}

#else

Processor processor() {
  return {__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"), __builtin_cpu_supports("avx512f") &&
                                                                               __builtin_cpu_supports("avx512dq") &&
                                                                               __builtin_cpu_supports("avx512vl")};
}

#endif
#endif

const Kernels& best() {
#ifdef EXACTSINDY_X86
  const Processor has = processor();
  if (has.avx512) return kernels_avx512;
  if (has.avx2) return kernels_avx2;
#endif
  return kernels_generic;
}

}  // namespace

const Kernels& kernels() {
  static const Kernels& chosen = best();
  return chosen;
}

}  // namespace exactsindy
