"""How `verify` reads each kind of constraint record; no code of the solvers takes part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.certificate import condition_physics as physics
from exactsindy.certificate.condition_names import Names, state_of
from exactsindy.certificate.condition_records import Form, LinearRow, Meaning
from exactsindy.certificate.condition_text import read_text
from exactsindy.errors import ConstraintError


def read_meanings(names: Names, constraint: Any) -> Sequence[Meaning]:
    """Return what a constraint means, part by part: a record, or a text such as ``x': x + y == 0``."""
    if isinstance(constraint, str):
        parts, relation, rhs = read_text(constraint)
        return [_linear(_collected(names, (((e, term), value) for e, term, value in parts)), relation, rhs)]
    reader = _READERS.get(type(constraint).__name__)
    if reader is None:
        return [Meaning(known=False)]
    try:
        found = reader(names, constraint)
        return [found] if isinstance(found, Meaning) else found
    except (AttributeError, TypeError, ValueError, IndexError, KeyError) as error:
        raise ConstraintError(f"the constraint {constraint!r} cannot be read ({error}).") from error


def _collected(names: Names, parts: Iterable[tuple[Any, Any]]) -> dict[int, float]:
    """Return numbers by coefficient; several of one add up."""
    numbers: dict[int, float] = {}
    for pair, value in parts:
        v = names.coefficient(pair)
        numbers[v] = numbers.get(v, 0.0) + float(value)
    return numbers


def _linear(numbers: Mapping[int, float], relation: str, rhs: float) -> Meaning:
    """One row. An equality about a single coefficient also says whether the term is there: 0 is absent."""
    kept = {v: value for v, value in numbers.items() if value}
    rhs = float(rhs)
    if relation not in ("==", "<=", ">=") or not np.isfinite([rhs, *kept.values()]).all():
        raise ConstraintError(f"a constraint cannot be read: {relation!r} {rhs!r}.")
    if relation == ">=":
        kept, rhs = {v: -value for v, value in kept.items()}, -rhs
    row = LinearRow(kept, rhs, relation == "==")
    if relation != "==" or len(kept) != 1:
        return Meaning((row,))
    (v,) = kept
    return Meaning((row,), (lambda s: v not in s) if rhs == 0 else (lambda s: v in s), frozenset([v]))


def _vanishing(rows: Iterable[Mapping[int, float]]) -> list[Meaning]:
    return [_linear(row, "==", 0.0) for row in rows]


def _matrix_rows(names: Names, record: Any) -> list[Meaning]:
    lhs, rhs = np.atleast_2d(np.asarray(record.lhs, dtype=float)), np.ravel(np.asarray(record.rhs, dtype=float))
    count = len(names.targets)
    if lhs.shape != (len(rhs), count * names.width):
        raise ConstraintError(f"a constraint cannot be read: lhs has the shape {lhs.shape}.")
    meanings = []
    for line, value in zip(lhs, rhs, strict=True):
        numbers = {}
        for place in np.flatnonzero(line).tolist():
            term, e = divmod(place, count) if record.order == "feature" else divmod(place, names.width)[::-1]
            numbers[names.coefficient((e, term))] = float(line[place])
        meanings.append(_linear(numbers, record.relation, value))
    return meanings


def _bounds(v: int, lower: float, upper: float) -> Meaning:
    rows = [LinearRow({v: 1.0}, float(upper), False)] if upper < np.inf else []
    rows += [LinearRow({v: -1.0}, -float(lower), False)] if lower > -np.inf else []
    return Meaning(tuple(rows), about=frozenset([v]))


def _presence(group: Iterable[int], test: Callable[[int], bool]) -> Meaning:
    """Return a condition on how many terms of a group are present."""
    about = frozenset(group)
    return Meaning(present=lambda s: test(len(s & about)), about=about)


def _whole(names: Names, record: Any) -> Meaning:
    group = names.group(record.group)
    return _presence(group, lambda n: n in (0, len(group)))


def _pair(names: Names, record: Any, test: Callable[[bool, bool], bool]) -> Meaning:
    a, b = names.coefficient(record.first), names.coefficient(record.second)
    return Meaning(present=lambda s: test(a in s, b in s), about=frozenset([a, b]))


def _single(names: Names, record: Any, *, present: bool) -> Meaning:
    v = names.coefficient((record.equation, record.term))
    return Meaning(present=lambda s: (v in s) == present, about=frozenset([v]))


def _hierarchy(names: Names, record: Any) -> Meaning:
    needs: list[tuple[int, frozenset[int]]] = []
    if record.kind not in ("strong", "weak"):
        raise ConstraintError(f"a constraint cannot be read: kind={record.kind!r}.")
    for e in names.equations(record.equations):
        known = {names.powers(v): v for v in names.library[e] if names.powers(v) is not None}
        for powers, v in known.items():
            parents = set()
            for name, n in powers or ():
                less = {**dict(powers or ()), name: n - 1}
                parents.add(tuple(sorted((key, m) for key, m in less.items() if m)))
            above = frozenset(known[parent] for parent in parents - {()} if parent in known)
            if above:
                needs.append((v, above))
    strong = record.kind == "strong"
    about = frozenset(v for v, _ in needs).union(*(above for _, above in needs))
    return Meaning(
        present=lambda s: all(v not in s or (above <= s if strong else bool(above & s)) for v, above in needs),
        about=about,
    )


def _same_support(names: Names, record: Any) -> Meaning:
    chosen = names.equations(record.equations)
    libraries = [names.library[e] for e in chosen]

    def same(s: frozenset[int]) -> bool:
        return len({frozenset(v % names.width for v in own if v in s) for own in libraries}) == 1

    return Meaning(present=same, about=frozenset().union(*libraries))


def _correlation(names: Names, record: Any) -> Meaning:
    clashes: list[frozenset[int]] = []
    for e in names.equations(record.equations):
        factor, own = names.problem.locate(e)[0].theta_factor, names.library[e]
        norms = np.sqrt(np.einsum("ij,ij->j", factor, factor))
        unit = factor / np.where(norms > 0, norms, 1.0)
        cosines = np.abs(unit.T @ unit)
        for i, j in np.argwhere(np.triu(cosines > float(record.limit), 1)).tolist():
            clashes.append(frozenset([own[i], own[j]]))
    about = frozenset().union(*clashes)
    return Meaning(present=lambda s: not any(pair <= s for pair in clashes), about=about)


def _outliers(names: Names, record: Any) -> Meaning:
    per_row = [
        frozenset(v for v in own if names.problem.names[v % names.width].startswith("row ")) for own in names.library
    ]
    pairs = [(rows, frozenset(own) - rows) for rows, own in zip(per_row, names.library, strict=True)]
    return Meaning(
        present=lambda s: all(len(s & rows) <= record.rows and len(s & terms) <= record.terms for rows, terms in pairs),
        about=frozenset().union(*names.library),
    )


def _quadratic(names: Names, record: Any) -> Meaning:
    pairs = [(names.coefficient(a), names.coefficient(b), float(value)) for (a, b), value in record.q.items()]
    linear = {names.coefficient(c): float(value) for c, value in (record.linear or {}).items()}
    used = sorted({v for a, b, _ in pairs for v in (a, b)} | set(linear))
    square = np.zeros((len(used), len(used)))
    for a, b, value in pairs:
        square[used.index(a), used.index(b)] += value / 2
        square[used.index(b), used.index(a)] += value / 2
    slope = np.array([linear.get(v, 0.0) for v in used])
    return Meaning(forms=(Form(tuple(used), square, slope, float(record.rhs)),))


def _semidefinite(names: Names, record: Any) -> Meaning:
    parts = {names.coefficient(c): np.asarray(matrix, dtype=float) for c, matrix in record.parts.items()}
    used = tuple(sorted(parts))
    constant = np.asarray(record.constant, dtype=float)
    return Meaning(forms=(Form(used, constant=constant, parts=tuple(parts[v] for v in used)),))


def _dissipative(names: Names, record: Any) -> Meaning:
    states, own = names.states(), frozenset().union(*names.library)
    parts: dict[int, NDArray[np.float64]] = {}
    for i in range(len(states)):
        for j, other in enumerate(states):
            v = i * names.width + (names.problem.names.index(other) if other in names.problem.names else -1)
            if other in names.problem.names and v in own:
                part = np.zeros((len(states), len(states)))
                part[i, j] -= 0.5
                part[j, i] -= 0.5
                parts[v] = part
    used = tuple(sorted(parts))
    constant = -float(record.margin) * np.eye(len(states))
    return Meaning(forms=(Form(used, constant=constant, parts=tuple(parts[v] for v in used)),))


def _gradient(names: Names, record: Any) -> list[Meaning]:
    given = record.coordinates
    pairs = list(enumerate(names.states())) if given is None else [(names.equation(e), x) for e, x in given.items()]
    return _vanishing(physics.gradient(names, [(e, x, 1) for e, x in pairs]))


def _hamiltonian(names: Names, record: Any) -> list[Meaning]:
    # (-p', q') is the gradient of H by (q, p).
    field = [
        part
        for q, p in record.pairs
        for part in ((names.equation(p), state_of(q), -1), (names.equation(q), state_of(p), 1))
    ]
    return _vanishing(physics.gradient(names, field))


#: How verify reads each kind of record.
_READERS: dict[str, Callable[[Names, Any], Meaning | list[Meaning]]] = {
    "Forbid": lambda n, r: _single(n, r, present=False),
    "Require": lambda n, r: _single(n, r, present=True),
    "Implies": lambda n, r: _pair(n, r, lambda a, b: b or not a),
    "NotBoth": lambda n, r: _pair(n, r, lambda a, b: not (a and b)),
    "AtMost": lambda n, r: _presence(n.group(r.group), lambda count: count <= r.count),
    "AtLeast": lambda n, r: _presence(n.group(r.group), lambda count: count >= r.count),
    "Exactly": lambda n, r: _presence(n.group(r.group), lambda count: count == r.count),
    "WholeGroup": _whole,
    "Hierarchy": _hierarchy,
    "SameSupport": _same_support,
    "MaxCorrelation": _correlation,
    "Outliers": _outliers,
    "Equal": lambda n, r: _linear(_collected(n, [(r.first, 1.0), (r.second, -float(r.ratio))]), "==", 0.0),
    "Linear": lambda n, r: _linear(_collected(n, r.coefs.items()), r.relation, r.rhs),
    "LinearMatrix": _matrix_rows,
    "Fixed": lambda n, r: _linear({n.coefficient((r.equation, r.term)): 1.0}, "==", r.value),
    "Bounds": lambda n, r: _bounds(n.coefficient((r.equation, r.term)), r.lower, r.upper),
    "Sign": lambda n, r: _bounds(
        n.coefficient((r.equation, r.term)), *{"+": (0.0, np.inf), "-": (-np.inf, 0.0)}[r.sign]
    ),
    "SemiContinuous": lambda n, r: Meaning(
        sizes={n.coefficient((r.equation, r.term)): (float(r.least), float(r.most))}
    ),
    "GradientSystem": _gradient,
    "Hamiltonian": _hamiltonian,
    "EnergyPreserving": lambda n, r: _vanishing(physics.energy(n, r.degree, r.weights or {})),
    "Symmetry": lambda n, r: _vanishing(physics.symmetry(n, r.matrix)),
    "Conserved": lambda n, r: _vanishing(physics.conserved(n, r.quantity)),
    "Quadratic": _quadratic,
    "PositiveSemidefinite": _semidefinite,
    "Dissipative": _dissipative,
    "Significant": lambda n, r: Meaning(t_level=float(r.t)),
}
