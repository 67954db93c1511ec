#define EXACTSINDY_LOOPS loops_avx512
#include "assembly/loops_impl.hpp"
