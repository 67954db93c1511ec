"""Which variables a library uses."""

from __future__ import annotations

from collections.abc import Sequence

from exactsindy.errors import ProblemError
from exactsindy.library.variables import Variables


def settled(of: Sequence[str] | None, library: str) -> tuple[str, ...] | None:
    """Return the argument ``of`` as a tuple, so that libraries can be compared and remembered."""
    if isinstance(of, str):
        raise ProblemError(f"{library}(of={of!r}): expected a tuple of names, e.g. of=({of!r},).")
    return None if of is None else tuple(of)


def chosen(of: tuple[str, ...] | None, variables: Variables, library: str) -> tuple[str, ...]:
    """Return the names in ``of``, checked against what exists; by default all states and controls."""
    if of is None:
        return variables.basic
    unknown = [name for name in of if name not in variables.known]
    if unknown:
        raise ProblemError(
            f"{library}(of=...): unknown variable {unknown[0]!r}; the data have {', '.join(variables.known)}."
        )
    return of
