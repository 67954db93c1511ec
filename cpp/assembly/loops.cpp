#include "assembly/loops.hpp"

#include "core/kernels.hpp"

namespace exactsindy {

const Loops& loops() {
#ifdef EXACTSINDY_X86
  if (&kernels() == &kernels_avx512) return loops_avx512;
  if (&kernels() == &kernels_avx2) return loops_avx2;
#endif
  return loops_generic;
}

}  // namespace exactsindy
