#define EXACTSINDY_LOOPS loops_avx2
#include "assembly/loops_impl.hpp"
