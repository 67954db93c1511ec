// When a call from Python must end early.
#pragma once
#include <nanobind/nanobind.h>

#include <exception>

namespace exactsindy {

// True if the search must end: Ctrl-C, remembered by `stopped` or raised here, ends it with its best answer; anything
// else a signal handler raised is kept in `failure`, to be passed on. Needs the GIL.
inline bool must_end(const nanobind::callable& stopped, std::exception_ptr& failure) {
  try {
    if (PyErr_CheckSignals() != 0) {
      if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) nanobind::raise_python_error();
      PyErr_Clear();
      return true;
    }
    return nanobind::cast<bool>(stopped());
  } catch (...) {
    failure = std::current_exception();
    return true;
  }
}

}  // namespace exactsindy
