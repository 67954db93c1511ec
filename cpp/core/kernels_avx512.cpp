#define EXACTSINDY_KERNELS kernels_avx512
#define EXACTSINDY_KERNELS_NAME "avx512"
#include "core/kernels_impl.hpp"
