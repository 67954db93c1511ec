"""From a written name to the variable or derivative it stands for."""

from __future__ import annotations

from collections.abc import Iterable

from exactsindy.errors import ProblemError, nearest
from exactsindy.library.printing import derivative_name
from exactsindy.library.term import Variable
from exactsindy.library.variables import Variables


def resolve(name: str, variables: Variables) -> Variable | None:
    """Return the variable called ``name``, a derivative such as ``u_xy``, or ``None``.

    Examples
    --------
    >>> resolve("u_yx", Variables(("u",), axes=("x", "y")))
    Variable(name='u', axes=('x', 'y'))
    """
    if name in variables.known:
        return Variable(name)
    for state in variables.states:
        if name.startswith(f"{state}_"):
            axes = _axes(name[len(state) + 1 :], variables.axes)
            if axes:
                return derivative(state, axes, variables)
    return None


def derivative(state: str, axes: Iterable[str], variables: Variables) -> Variable:
    """Return the spatial derivative with its axes in the order of the field: u_yx is u_xy."""
    return Variable(state, tuple(sorted(axes, key=variables.axes.index)))


def unknown(name: str, variables: Variables, where: str) -> ProblemError:
    """Return the error for a name that is neither a variable nor a derivative, with near misses."""
    message = f"{where}: unknown name {name!r}. {nearest(name, variables.known)}"
    if variables.axes:
        message += f" Derivatives are written like {derivative_name(variables.states[0], variables.axes[:1])}."
    return ProblemError(message)


def _axes(text: str, axes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the axes spelled by ``xxy`` (one letter each) or ``lon_lat``, or nothing."""
    if all(letter in axes for letter in text):
        return tuple(text)
    parts = tuple(text.split("_"))
    return parts if all(part in axes for part in parts) else ()
