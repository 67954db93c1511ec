// The hot loops behind the forms, compiled once per instruction set.
#include "assembly/eliminate_impl.hpp"
#include "assembly/integrate_impl.hpp"
#include "assembly/lanes_impl.hpp"
#include "assembly/reflect_impl.hpp"
#include "core/isa.hpp"

namespace exactsindy {

const Loops EXACTSINDY_ISA_NAME(loops) = {fit, traces, reflect, eliminate, integrate_batch};

}  // namespace exactsindy
