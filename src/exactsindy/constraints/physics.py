"""What physics says about polynomial systems, as linear equalities between coefficients.

Each helper asks that a polynomial built from the right-hand sides vanishes; comparing the coefficients of its
monomials gives one linear equality each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from exactsindy.constraints.monomials import Monomial, Polynomial, derivative, monomial, product, times
from exactsindy.constraints.parse import parse_polynomial
from exactsindy.constraints.rules import RulesBuilder
from exactsindy.errors import ConstraintError

#: Numbers of this size are rounding errors of a symmetry's matrix.
_NOISE = 1e-12


@dataclass(frozen=True)
class GradientSystem:
    """The right-hand sides are a gradient: df_i/dx_j = df_j/dx_i (no curl).

    Parameters
    ----------
    coordinates
        Mapping from equation to the variable it belongs to, e.g. ``{"x''": "x", "y''": "y"}``. By default each
        equation's own state: x for x', x'' or x_t.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(2, 50))
    >>> problem = es.Problem.from_arrays(np.column_stack([x, y]), np.column_stack([x + 2.1 * y, 1.9 * x]),
    ...                                  names=["x", "y"], target_names=["x'", "y'"])
    >>> solution = es.solve(problem, 2, constraints=[es.constraints.GradientSystem()])
    >>> bool(solution.terms["x'"]["y"] == solution.terms["y'"]["x"])
    True
    """

    coordinates: Mapping[str, str] | None = None

    def write(self, rules: RulesBuilder) -> None:
        """Add its rows."""
        _no_curl(rules, [(e, name, 1.0) for e, name in coordinates(rules, self.coordinates)])


@dataclass(frozen=True)
class Hamiltonian:
    """q' = dH/dp and p' = -dH/dq for pairs (q, p) of state names.

    Examples
    --------
    >>> import exactsindy as es
    >>> es.constraints.Hamiltonian([("x", "y")])
    Hamiltonian(pairs=[('x', 'y')])
    """

    pairs: Sequence[tuple[str, str]]

    def write(self, rules: RulesBuilder) -> None:
        """Add its rows: (-p', q') is the gradient of H by (q, p)."""
        field = []
        for pair in self.pairs:
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise ConstraintError(f"{rules.speaker}: pairs holds {pair!r}: expected pairs (q, p) of state names.")
            q, p = pair
            field += [(rules.equation(p), _state(q), -1.0), (rules.equation(q), _state(p), 1.0)]
        _no_curl(rules, field)


@dataclass(frozen=True)
class EnergyPreserving:
    """The terms of one degree do no work: sum_i weight_i x_i f_i = 0 for them (quadratic terms of fluids).

    Parameters
    ----------
    degree
        Of the terms meant: 2 for quadratic ones.
    weights
        Positive weight of each state in the energy, by state name; 1 by default.
    """

    degree: int = 2
    weights: Mapping[str, float] | None = None

    def write(self, rules: RulesBuilder) -> None:
        """Add its rows."""
        degree = rules.count(self.degree, "degree")
        balance: dict[Monomial, dict[int, float]] = {}
        for e, name in coordinates(rules, None):
            weight = float((self.weights or {}).get(name, 1.0))
            for v, powers in _monomials(rules, e):
                if sum(n for _, n in powers) == degree:
                    _add(balance, times(powers, ((name, 1),)), v, weight)
        _vanish(rules, balance)


@dataclass(frozen=True, eq=False)
class Symmetry:
    """Equivariance under a linear map: f(M x) = M f(x).

    Parameters
    ----------
    matrix
        M as an (m, m) array in the order of the equations, or the diagonal as a mapping from state name:
        ``{"x": -1, "y": -1}`` turns the sign of x and y and leaves the other states.
    """

    matrix: npt.ArrayLike | Mapping[str, float]

    def write(self, rules: RulesBuilder) -> None:
        """Add its rows."""
        states = [name for _, name in coordinates(rules, None)]
        m = self._matrix(rules, states)
        image: dict[str, Polynomial] = {
            state: {((other, 1),): float(m[i, k]) for k, other in enumerate(states) if m[i, k]}
            for i, state in enumerate(states)
        }
        for i in range(len(states)):
            balance: dict[Monomial, dict[int, float]] = {}
            for v, powers in _monomials(rules, i):
                for target, c in _substitute(powers, image).items():
                    _add(balance, target, v, c)
            for k in range(len(states)):
                for v, powers in _monomials(rules, k) if m[i, k] else ():
                    _add(balance, powers, v, -float(m[i, k]))
            _vanish(rules, balance)

    def _matrix(self, rules: RulesBuilder, states: list[str]) -> Any:
        if isinstance(self.matrix, Mapping):
            unknown = [name for name in self.matrix if _state(name) not in states]
            if unknown:
                known = ", ".join(states)
                raise ConstraintError(f"{rules.speaker}: matrix names {unknown[0]!r}: the states are {known}.")
            given = {_state(name): rules.number(value, "matrix") for name, value in self.matrix.items()}
            return np.diag([given.get(name, 1.0) for name in states])
        matrix = np.asarray(self.matrix, dtype=np.float64)
        if matrix.shape != (len(states), len(states)) or not np.isfinite(matrix).all():
            raise ConstraintError(
                f"{rules.speaker}: matrix has shape {matrix.shape}: expected {(len(states), len(states))} finite "
                f"numbers, in the order {', '.join(states)}."
            )
        return matrix


@dataclass(frozen=True)
class Conserved:
    """A polynomial of the states stays constant: sum_i dQ/dx_i f_i = 0.

    Parameters
    ----------
    quantity
        Text such as ``"x^2 + 2*y^2"``, or a mapping from monomial to number: ``{"x^2": 1, "y^2": 2}``.

    Examples
    --------
    >>> import exactsindy as es
    >>> es.constraints.Conserved("x^2 + y^2").quantity
    'x^2 + y^2'
    """

    quantity: str | Mapping[str, float]

    def write(self, rules: RulesBuilder) -> None:
        """Add its rows."""
        quantity = parse_polynomial(self.quantity, rules.speaker)
        owners = coordinates(rules, None)
        states = sorted({name for _, name in owners})
        for name in (name for powers in quantity for name, _ in powers if name not in states):
            known = ", ".join(states)
            raise ConstraintError(f"{rules.speaker}: quantity depends on {name!r}: the states are {known}.")
        balance: dict[Monomial, dict[int, float]] = {}
        for e, name in owners:
            for part, c in quantity.items():
                factor, rest = derivative(part, name)
                if factor:
                    for v, powers in _monomials(rules, e):
                        _add(balance, times(rest, powers), v, factor * c)
        if not balance:
            raise ConstraintError(f"{rules.speaker}: the quantity {self.quantity!r} depends on no state.")
        _vanish(rules, balance)


def _no_curl(rules: RulesBuilder, field: Sequence[tuple[int, str, float]]) -> None:
    """Let a field (equation, coordinate, sign) be a gradient."""
    for (e, x, s), (f, y, t) in combinations(field, 2):
        balance: dict[Monomial, dict[int, float]] = {}
        for equation, by, sign in ((e, y, s), (f, x, -t)):
            for v, powers in _monomials(rules, equation):
                factor, rest = derivative(powers, by)
                if factor:
                    _add(balance, rest, v, sign * factor)
        _vanish(rules, balance)


def _add(balance: dict[Monomial, dict[int, float]], key: Monomial, v: int, value: float) -> None:
    row = balance.setdefault(key, {})
    row[v] = row.get(v, 0.0) + value


def _vanish(rules: RulesBuilder, balance: dict[Monomial, dict[int, float]]) -> None:
    for row in balance.values():
        kept = {v: c for v, c in row.items() if abs(c) > _NOISE}
        if kept:
            rules.linear(kept, "==", 0.0)


def _monomials(rules: RulesBuilder, equation: int) -> list[tuple[int, Monomial]]:
    found = []
    for v in rules.all_of(equation):
        powers = monomial(rules.problem.terms[v % rules.width])
        if powers is None:
            raise ConstraintError(
                f"{rules.speaker}: the term {rules.problem.names[v % rules.width]!r} is no product of powers of "
                "variables: this constraint is for polynomial libraries. Write the equalities with Linear."
            )
        found.append((v, powers))
    return found


def coordinates(rules: RulesBuilder, given: Mapping[str, str] | None) -> list[tuple[int, str]]:
    """Return the equations with the variables they belong to."""
    if given is not None:
        return [(rules.equation(equation), name) for equation, name in given.items()]
    return [(e, _state(target)) for e, target in enumerate(rules.problem.target_names)]


def _state(target: str) -> str:
    """Return x for x, x', x'' and x_t."""
    name = target.rstrip("'")
    return name if name != target or not name.endswith(("_t", "_tt")) else name[: name.rindex("_t")].rstrip("_")


def _substitute(powers: Monomial, image: Mapping[str, Polynomial]) -> Polynomial:
    result: Polynomial = {(): 1.0}
    for name, n in powers:
        for _ in range(n):
            result = product(result, image.get(name, {((name, 1),): 1.0}))
    return {key: c for key, c in result.items() if abs(c) > _NOISE}
