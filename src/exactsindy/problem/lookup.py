"""Finding an equation by the name a user gives it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from exactsindy.errors import ProblemError, listed, nearest

# How the equation of a state is named: x', x'' (ODE), u_t, u_tt (PDE).
_SUFFIXES = ("'", "''", "'''", "_t", "_tt")


def find_target(target: int | str, names: Sequence[str]) -> int:
    """Return the index of `target`: an index, a target name, or a bare state name (``x`` for ``x'``)."""
    if isinstance(target, int | np.integer) and not isinstance(target, bool):
        if 0 <= target < len(names):
            return int(target)
        raise ProblemError(f"target {target} is out of range: the targets are 0 to {len(names) - 1} ({listed(names)}).")
    if not isinstance(target, str):
        raise ProblemError(f"target is {target!r} of type {type(target).__name__}: expected an index or a name.")
    if target in names:
        return names.index(target)
    matches = [name for name in names if name in {target + suffix for suffix in _SUFFIXES}]
    if len(matches) == 1:
        return names.index(matches[0])
    if matches:
        raise ProblemError(f"target {target!r} is ambiguous: it may mean {listed(matches)}. Give the full name.")
    raise ProblemError(f"there is no target {target!r}. {nearest(target, names)}")
