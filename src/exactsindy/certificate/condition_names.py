"""Which coefficient a name in a constraint means: `verify` reads names by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from exactsindy.errors import ConstraintError, ProblemError
from exactsindy.problem import Problem, find_target

#: Powers of variables by name, sorted: x^2 y is (("x", 2), ("y", 1)); the constant is ().
Powers = tuple[tuple[str, int], ...]


class Names:
    """The coefficients of a problem, numbered ``equation * D + term``."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.width = problem, len(problem.names)
        self.targets = problem.target_names
        libraries = [problem.columns(problem.locate(e)[0]) for e in range(len(self.targets))]
        self.library = tuple(tuple(e * self.width + int(j) for j in own) for e, own in enumerate(libraries))
        self._exists = {v for own in self.library for v in own}

    def equation(self, name: Any) -> int:
        """Return the index of an equation."""
        try:
            return find_target(name, self.targets)
        except ProblemError as error:
            raise ConstraintError(f"a constraint cannot be read: {error}") from error

    def equations(self, given: Any) -> list[int]:
        """Return the indices of some equations; None is all of them."""
        if given is None:
            return list(range(len(self.targets)))
        return [self.equation(name) for name in ([given] if isinstance(given, str) else given)]

    def coefficient(self, pair: Any) -> int:
        """Return the number of a coefficient (equation, term)."""
        try:
            equation, term = pair
        except (TypeError, ValueError):
            raise ConstraintError(f"a constraint cannot be read: {pair!r} is no pair (equation, term).") from None
        v = self.equation(equation) * self.width + self._term(term)
        if v not in self._exists:
            raise ConstraintError(f"a constraint cannot be read: {equation!r} has no term {term!r} in its library.")
        return v

    def _term(self, term: Any) -> int:
        name = getattr(term, "name", term)
        if not isinstance(name, str):
            if isinstance(name, bool) or not 0 <= int(name) < self.width:
                raise ConstraintError(f"a constraint cannot be read: there is no term {name!r}.")
            return int(name)
        if name in self.problem.names:
            return self.problem.names.index(name)
        # The order of factors does not matter.
        alike = [j for j, other in enumerate(self.problem.names) if sorted(other.split()) == sorted(name.split())]
        if len(alike) != 1:
            raise ConstraintError(f"a constraint cannot be read: there is no term {name!r}.")
        return alike[0]

    def group(self, group: Any) -> frozenset[int]:
        """Return the coefficients of a group: pairs, an equation, or {equation: terms}."""
        if isinstance(group, str):
            return frozenset(self.library[self.equation(group)])
        if isinstance(group, Mapping):
            return frozenset(self.coefficient((e, term)) for e, terms in group.items() for term in terms)
        if isinstance(group, Iterable):
            return frozenset(map(self.coefficient, group))
        raise ConstraintError(f"a constraint cannot be read: {group!r} is no group of coefficients.")

    def label(self, v: int) -> str:
        """Return the name of a coefficient."""
        return f"{self.targets[v // self.width]}: {self.problem.names[v % self.width]}"

    def states(self) -> list[str]:
        """Return the state that each equation belongs to: x for x', x'' and x_t."""
        return [state_of(target) for target in self.targets]

    def powers(self, v: int) -> Powers | None:
        """Return the term of a coefficient as powers of variables; None if it is something else."""
        term = self.problem.terms[v % self.width]
        factors = getattr(term, "factors", None)
        if factors is None:
            return powers_of(term.name)
        found: dict[str, int] = {}
        for atom, power in factors:
            if type(atom).__name__ != "Variable" or atom.axes or power < 1:
                return None
            found[atom.name] = found.get(atom.name, 0) + power
        return tuple(sorted(found.items()))


def state_of(name: str) -> str:
    """Return x for x, x', x'' and x_t, x_tt."""
    bare = name.rstrip("'")
    if bare != name:
        return bare
    stem, _, last = name.rpartition("_")
    return stem.rstrip("_") if stem and last in ("t", "tt") else name


def powers_of(name: str) -> Powers | None:
    """Return ``x^2 y`` as powers; None if the text is no product of powers of names."""
    found: dict[str, int] = {}
    parts = name.split()
    if parts == ["1"]:
        return ()
    for part in parts:
        base, caret, exponent = part.partition("^")
        number = exponent if caret else "1"
        if not base.isidentifier() or not base.isascii() or not number.isdecimal() or number[0] == "0":
            return None
        found[base] = found.get(base, 0) + int(number)
    return tuple(sorted(found.items())) if found else None
