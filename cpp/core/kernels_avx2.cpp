#define EXACTSINDY_KERNELS kernels_avx2
#define EXACTSINDY_KERNELS_NAME "avx2"
#include "core/kernels_impl.hpp"
