"""What a library may speak about: states, controls, time and the axes of a field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exactsindy.data import Data, Field, Trajectories
from exactsindy.errors import ProblemError
from exactsindy.library.printing import NAME
from exactsindy.library.term import Atom, Term, Variable


@dataclass(frozen=True)
class Variables:
    """The names that terms are built from.

    Parameters
    ----------
    states, controls
        Names of the measured states (or fields) and of the inputs u(t). Libraries such as `Polynomials` use
        both.
    time
        Name under which terms may use the time, e.g. ``cos(t)``.
    axes
        Names of the space dimensions of a field, in order; terms may use them as coordinates and in
        derivatives.

    Examples
    --------
    >>> Variables(("u", "v"), axes=("x", "y")).basic
    ('u', 'v')
    """

    states: tuple[str, ...]
    controls: tuple[str, ...] = ()
    time: str = "t"
    axes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("states", "controls", "axes"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise ProblemError(f"Variables({name}={value!r}): expected a tuple of names, e.g. ({value!r},).")
            object.__setattr__(self, name, tuple(value))
        names = (*self.states, *self.controls, *self.axes)
        double = next((name for i, name in enumerate(names) if name in names[:i]), None)
        if double is not None:
            raise ProblemError(f"The name {double!r} stands for two variables in {names}: rename one of them.")
        if not self.states:
            raise ProblemError("Variables(states=()): expected at least one state name.")

    @classmethod
    def of(cls, names: Variables | Sequence[str] | Data) -> Variables:
        """Return variables with these state names, or those of data."""
        if isinstance(names, Variables):
            return names
        if isinstance(names, (Trajectories, Field)):
            return cls(names.state_names, names.control_names, names.time_name, names.axes)
        return cls(names)  # type: ignore[arg-type]

    @property
    def basic(self) -> tuple[str, ...]:
        """Return the states and controls: what libraries are made of unless told otherwise."""
        return (*self.states, *self.controls)

    @property
    def known(self) -> tuple[str, ...]:
        """Return every name a term may use."""
        rest = (self.time,) if self.time not in (*self.basic, *self.axes) else ()
        return (*self.basic, *self.axes, *rest)

    def ordered(self, term: Term) -> Term:
        """Return the term with its factors in writing order: variables, functions, derivatives."""
        if len(term.factors) < 2:
            return term
        return Term(tuple(sorted(term.factors, key=lambda factor: self._rank(factor[0]))))

    def _rank(self, atom: Atom) -> tuple[int, int, int, tuple[int, ...], str]:
        first = min((self._position(v.name) for v in atom.variables()), default=0)
        if isinstance(atom, Variable):
            axes = tuple(self._position(axis) for axis in atom.axes)
            return (2 if axes else 0, first, len(axes), axes, atom.name)
        return (1, first, 0, (), atom.text(NAME))

    def _position(self, name: str) -> int:
        return self.known.index(name) if name in self.known else len(self.known)
