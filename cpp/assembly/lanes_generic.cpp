#define EXACTSINDY_LANES lanes_fit_generic
#include "assembly/lanes_impl.hpp"
