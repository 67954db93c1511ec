// Included by one source file per instruction set, which defines EXACTSINDY_LOOPS.
#include "assembly/eliminate_impl.hpp"
#include "assembly/lanes_impl.hpp"
#include "assembly/reflect_impl.hpp"

namespace exactsindy {

const Loops EXACTSINDY_LOOPS = {fit, reflect, eliminate};

}  // namespace exactsindy
