"""A separate library for each equation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from exactsindy.errors import ProblemError
from exactsindy.library.library import Library
from exactsindy.library.term import Term
from exactsindy.library.variables import Variables


class PerEquation(Library):
    """Different candidate terms for different equations.

    Parameters
    ----------
    libraries
        From equation (``"x"`` or ``"x'"``, ``"u"`` or ``"u_t"``) to library.
    default
        The library of equations not named; without it every equation must be named.

    Examples
    --------
    >>> from exactsindy.library import Polynomials
    >>> library = PerEquation({"x": Polynomials(1)}, default=Polynomials(2))
    >>> library.for_equation("x'").bind(("x", "y")).names
    ('1', 'x', 'y')
    """

    def __init__(self, libraries: Mapping[str, Library], default: Library | None = None) -> None:
        for equation, library in libraries.items():
            if not isinstance(library, Library):
                raise ProblemError(f"PerEquation: {equation!r} has {library!r}; expected a library.")
        if not libraries:
            raise ProblemError("PerEquation({}): expected at least one equation.")
        self.libraries = tuple(libraries.items())
        self.default = default

    def candidates(self, variables: Variables) -> Iterable[Term]:
        """Yield the terms of all equations."""
        for _, library in self.libraries:
            yield from library.candidates(variables)
        if self.default is not None:
            yield from self.default.candidates(variables)

    def for_equation(self, target: str) -> Library:
        """Return the library of one equation."""
        by_name = dict(self.libraries)
        for name in (target, equation_state(target)):
            if name in by_name:
                return by_name[name]
        for name, library in self.libraries:
            if equation_state(name) == equation_state(target):
                return library
        if self.default is None:
            raise ProblemError(
                f"PerEquation has no library for the equation {target!r}; it has {', '.join(by_name)}. "
                "Add it, or give default=..."
            )
        return self.default

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PerEquation) and self.libraries == other.libraries and self.default == other.default

    def __hash__(self) -> int:
        return hash((self.libraries, self.default))

    def __repr__(self) -> str:
        return f"PerEquation({dict(self.libraries)!r}, default={self.default!r})"


def equation_state(target: str) -> str:
    """Return the state of a target: ``x`` for ``x'`` and ``x''``, ``u`` for ``u_t``.

    Examples
    --------
    >>> equation_state("x''"), equation_state("u_t"), equation_state("x")
    ('x', 'u', 'x')
    """
    return target.rstrip("'").removesuffix("_t") if target.rstrip("'") != "_t" else target
