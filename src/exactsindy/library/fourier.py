"""Sines and cosines of the variables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from exactsindy.errors import ProblemError
from exactsindy.library.library import Library
from exactsindy.library.term import Expression, Function, Term
from exactsindy.library.variables import Variables, as_names


@dataclass(frozen=True)
class Fourier(Library):
    """The terms sin(k w x) and cos(k w x), k = 1..frequencies, for every variable x.

    Parameters
    ----------
    frequencies
        Number of multiples k.
    sine, cosine
        Which of the two are included.
    base
        The lowest angular frequency w.
    of
        Names of the variables to use; all states and controls by default. ``of=("t",)`` gives a periodic
        forcing.

    Examples
    --------
    >>> [term.name for term in Fourier(2, of=("x",)).terms(("x", "y"))]
    ['sin(x)', 'cos(x)', 'sin(2 x)', 'cos(2 x)']
    """

    frequencies: int = 1
    sine: bool = True
    cosine: bool = True
    base: float = 1.0
    of: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", as_names(self.of, "Fourier"))
        if not isinstance(self.frequencies, int) or self.frequencies < 1:
            raise ProblemError(f"Fourier(frequencies={self.frequencies!r}): expected an integer >= 1.")
        if not (self.sine or self.cosine):
            raise ProblemError("Fourier(sine=False, cosine=False) has no terms: keep at least one of them.")
        if not self.base > 0:
            raise ProblemError(f"Fourier(base={self.base!r}): expected a positive frequency.")

    def candidates(self, variables: Variables) -> Iterable[Term]:
        """Yield the terms by frequency, then by variable, sine first."""
        kinds = [kind for kind, wanted in (("sin", self.sine), ("cos", self.cosine)) if wanted]
        for k in range(1, self.frequencies + 1):
            for name in variables.chosen(self.of, "Fourier"):
                argument = Expression(((k * self.base, Term.variable(name)),))
                for kind in kinds:
                    yield Term(((Function(kind, argument), 1),))
