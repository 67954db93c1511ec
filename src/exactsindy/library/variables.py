"""The names that terms are built from: states, controls, time and the axes of a field."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from exactsindy._files import shown
from exactsindy.data import Data, Field, Trajectories
from exactsindy.errors import ProblemError, name_tuple, nearest, repeated
from exactsindy.library.printing import NAME, derivative_name
from exactsindy.library.term import Atom, Term, Variable


@dataclass(frozen=True)
class Variables:
    """The names that terms are built from.

    Parameters
    ----------
    states, controls
        Names of the measured states (or fields) and of the inputs u(t). Libraries such as `Polynomials` use both.
        Where an equation is for x'', the velocity ``x'`` is among the states.
    time
        Name under which terms may use the time, e.g. ``cos(t)``.
    axes
        Names of the space dimensions of a field, in order; terms may use them as coordinates and in derivatives.
    parameters
        Names of the constants of each trajectory. Libraries use them where they are named, and `Parameters` does.

    Examples
    --------
    >>> Variables(("u", "v"), axes=("x", "y")).basic
    ('u', 'v')
    """

    states: tuple[str, ...]
    controls: tuple[str, ...] = ()
    time: str = "t"
    axes: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("states", "controls", "axes", "parameters"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise ProblemError(f"Variables({name}={value!r}): expected a tuple of names, e.g. ({value!r},).")
            object.__setattr__(self, name, name_tuple(value, f"Variables: {name}", ProblemError))
        names = (*self.states, *self.controls, *self.axes, *self.parameters)
        double = repeated(names)
        if double is not None:
            where = shown(str(names))
            raise ProblemError(f"The name {double!r} stands for two variables in {where}: rename one of them.")
        if not self.states:
            raise ProblemError("Variables(states=()): expected at least one state name.")

    @classmethod
    def of(cls, names: Variables | Sequence[str] | Data) -> Variables:
        """Return variables with these state names, or those of data."""
        if isinstance(names, Variables):
            return names
        if isinstance(names, Field):
            return cls((*names.state_names, *names.rate_names), names.control_names, names.time_name, names.axes)
        if isinstance(names, Trajectories):
            states = (*names.state_names, *names.rate_names)
            return cls(states, names.control_names, names.time_name, (), names.parameter_names)
        return cls(names)  # type: ignore[arg-type]

    @property
    def basic(self) -> tuple[str, ...]:
        """Return the states and controls: what libraries are made of unless told otherwise."""
        return (*self.states, *self.controls)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the states, controls and parameters: what trajectories have at every sample."""
        return (*self.basic, *self.parameters)

    @property
    def known(self) -> tuple[str, ...]:
        """Return every name a term may use."""
        time = (self.time,) if self.time not in (*self.columns, *self.axes) else ()
        return (*self.columns, *self.axes, *time)

    def chosen(self, of: tuple[str, ...] | None, library: str) -> tuple[str, ...]:
        """Return the names in ``of``, checked against what exists; by default all states and controls."""
        if of is None:
            return self.basic
        unknown = next((name for name in of if name not in self.known), None)
        if unknown is not None:
            raise ProblemError(f"{library}(of=...): unknown variable {unknown!r}. {nearest(unknown, self.known)}")
        return of

    def resolve(self, name: str) -> Variable | None:
        """Return the variable called ``name``, a derivative such as ``u_xy``, or ``None``."""
        if name in self.known:
            return Variable(name)
        for state in self.states:
            axes = _axes(name.removeprefix(f"{state}_"), self.axes) if name.startswith(f"{state}_") else ()
            if axes:
                return self.derivative(state, axes)
        return None

    def derivative(self, state: str, axes: Iterable[str]) -> Variable:
        """Return the spatial derivative with its axes in the order of the field: u_yx is u_xy."""
        return Variable(state, tuple(sorted(axes, key=self.axes.index)))

    def unknown(self, name: str, where: str) -> ProblemError:
        """Return the error for a name that is neither a variable nor a derivative."""
        message = f"{where}: unknown name {shown(name)!r}. {nearest(name, self.known)}"
        if self.axes:
            message += f" Derivatives are written like {derivative_name(self.states[0], self.axes[:1])}."
        return ProblemError(message)

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
        """Return the place of a name within a product; parameters come first, as in mu x."""
        order = (*self.parameters, *(name for name in self.known if name not in self.parameters))
        return order.index(name) if name in order else len(order)


def _axes(text: str, axes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the axes spelled by ``xxy`` (one letter each) or ``lon_lat``, or nothing."""
    if all(letter in axes for letter in text):
        return tuple(text)
    parts = tuple(text.split("_"))
    return parts if all(part in axes for part in parts) else ()


def as_names(of: Sequence[str] | None, library: str) -> tuple[str, ...] | None:
    """Return the argument ``of`` of a library as a tuple, so that libraries can be compared and hashed."""
    if isinstance(of, str):
        raise ProblemError(f"{library}(of={of!r}): expected a tuple of names, e.g. of=({of!r},).")
    return None if of is None else name_tuple(of, f"{library}: of", ProblemError)
