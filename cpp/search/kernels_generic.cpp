#define EXACTSINDY_KERNELS kernels_generic
#define EXACTSINDY_KERNELS_NAME "generic"
#include "search/kernels_impl.hpp"
