// The Python module: arrays in, records out, GIL released.
#include <nanobind/nanobind.h>

namespace exactsindy {

void bind_outcome(nanobind::module_& m);
void bind_search(nanobind::module_& m);
void bind_constrained(nanobind::module_& m);
void bind_shared(nanobind::module_& m);
void bind_assembly(nanobind::module_& m);

}  // namespace exactsindy

NB_MODULE(_native, m) {
  m.doc() = "Native core of exactsindy: exact best-subset search on a triangular factor.";
  exactsindy::bind_outcome(m);
  exactsindy::bind_search(m);
  exactsindy::bind_constrained(m);
  exactsindy::bind_shared(m);
  exactsindy::bind_assembly(m);
}
