#define EXACTSINDY_LANES lanes_fit_avx2
#include "assembly/lanes_impl.hpp"
