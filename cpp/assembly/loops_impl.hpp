// Included by one source file per instruction set, which defines EXACTSINDY_LOOPS.
#include "assembly/lanes_impl.hpp"
#include "assembly/reflect_impl.hpp"

namespace exactsindy {

const Loops EXACTSINDY_LOOPS = {fit, reflect};

}  // namespace exactsindy
