#define EXACTSINDY_KERNELS kernels_generic
#define EXACTSINDY_KERNELS_NAME "generic"
#include "core/kernels_impl.hpp"
