#define EXACTSINDY_LOOPS loops_generic
#include "assembly/loops_impl.hpp"
