#include "core/kernels.hpp"

namespace exactsindy {

const Kernels& kernels() {
  static const Kernels& best = []() -> const Kernels& {
#ifdef EXACTSINDY_X86
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      return kernels_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kernels_avx2;
#endif
    return kernels_generic;
  }();
  return best;
}

}  // namespace exactsindy
