#define EXACTSINDY_LANES lanes_fit_avx512
#include "assembly/lanes_impl.hpp"
