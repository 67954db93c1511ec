"""Coefficients that equalities tie to each other, zero together or not at all: one column for each tie.

With x_v = r_v x for the variables of a tie, its columns enter every fit as one column sum_v r_v a_v. For each choice of
which ties are present the problem is one without constraints: equations that a present tie binds are put below each
other (their triangles along a diagonal, the column of the tie in the place of its last variable: a triangle again), the
columns of absent ties are left out. All choices together hold every support all of whose terms have coefficients.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from exactsindy.solver.equations import MAX_SIZE, Equation
from exactsindy.solver.relaxation import Relaxation, Support

_MOST_NUMBERS = 5_000_000  # of all choices: each tie doubles them
_ROUNDING = 2.0**-50  # what the ratios of a tie and the products with them may be off, relative, with room to spare


@dataclass(frozen=True)
class Tie:
    """Variables whose coefficients are ``ratios`` times one number."""

    variables: tuple[int, ...]
    ratios: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Group:
    """Equations put below each other, as one; ``terms`` are the variables of each of its columns."""

    equation: Equation
    members: tuple[int, ...]  # places of its equations
    terms: tuple[tuple[int, ...], ...]
    cap: int  # most columns
    extra: int  # terms beyond one for each column: those of present ties
    blur: float  # residual norms may be off by this where the column of a tie had to be rounded
    weight: float

    def support(self, columns: Sequence[int]) -> Support:
        """Return the variables of some columns."""
        return tuple(sorted(v for j in columns for v in self.terms[j]))


def ties(relaxation: Relaxation) -> tuple[list[Tie], frozenset[int]] | None:
    """Return the ties, and variables that are zero in any case; None if there is more to the constraints than that."""
    equalities = set(map(id, relaxation.component.rules.equalities))
    if not relaxation.linear or relaxation.bounded.any() or relaxation.presence.rows:
        return None
    ratio: dict[int, tuple[int, float]] = {}  # of a variable to the first one of its tie
    zero: set[int] = set()
    for row in relaxation.linear:
        pairs = [(v, c) for v, c in zip(row.variables, row.coefs, strict=True) if v not in relaxation.presence.absent]
        if id(row) not in equalities or row.rhs != 0 or len(pairs) > 2:
            return None
        if len(pairs) == 1:
            zero.add(pairs[0][0])
            continue
        (v, c), (w, d) = pairs
        (first, r), (second, s) = ratio.setdefault(v, (v, 1.0)), ratio.setdefault(w, (w, 1.0))
        if first == second:
            if c * r + d * s != 0:  # (rounded or not: then nothing is claimed for it)
                return None
            continue
        for u, (head, own) in list(ratio.items()):  # x_second = -(c r) / (d s) x_first
            if head == second:
                ratio[u] = first, own * -(c * r) / (d * s)
    heads = sorted({head for head, _ in ratio.values()})
    found: list[Tie] = []
    for head in heads:
        bound = sorted((v, r) for v, (first, r) in ratio.items() if first == head)
        if any(v in zero for v, _ in bound):
            zero.update(v for v, _ in bound)
        else:
            found.append(Tie(tuple(v for v, _ in bound), tuple(r for _, r in bound)))
    return found, frozenset(zero)


def longest(relaxation: Relaxation) -> int:
    """Return how many terms the longest tie has: so much longer than their columns can the column of a tie be."""
    parts = ties(relaxation)
    return max((len(tie.variables) for tie in parts[0]), default=1) if parts else 1


def choices(relaxation: Relaxation, limit: float) -> Iterator[tuple[Group, ...]] | None:
    """Return the groups of equations for each choice of present ties; None where constraints are not ties alone.

    ``limit`` is that of coefficients.
    """
    parts = ties(relaxation)
    if parts is None:
        return None
    found, zero = parts
    tied = zero.union(*(tie.variables for tie in found))
    if not relaxation.presence.required.isdisjoint(tied):
        return None  # present without a coefficient, a required term counts as one
    width = sum(len(equation.names) for equation in relaxation.equations)
    if not found or relaxation.total > MAX_SIZE or 2 ** len(found) * width**2 > _MOST_NUMBERS:
        return None
    weights = relaxation.component.weights
    for tie in found:
        if len({weights[relaxation.equation_of[v]] for v in tie.variables}) > 1:
            return None
    return _choices(relaxation, found, zero, limit)


def _choices(
    relaxation: Relaxation, found: Sequence[Tie], zero: frozenset[int], limit: float
) -> Iterator[tuple[Group, ...]]:
    for pattern in range(2 ** len(found)):
        present = [tie for i, tie in enumerate(found) if pattern >> i & 1]
        absent = set(zero).union(*(tie.variables for i, tie in enumerate(found) if not pattern >> i & 1))
        terms = sum(len(tie.variables) for tie in present)
        if terms > relaxation.total:
            continue
        bound: list[set[int]] = [{e} for e in range(len(relaxation.equations))]
        for tie in present:
            own = {relaxation.equation_of[v] for v in tie.variables}
            touched = [part for part in bound if part & own]
            bound = [part for part in bound if not part & own] + [set().union(*touched)]
        groups = tuple(_group(relaxation, sorted(part), present, absent, limit) for part in bound)
        if all(group.cap >= len(group.equation.required) for group in groups):
            yield groups


def _group(
    relaxation: Relaxation, members: Sequence[int], present: Sequence[Tie], absent: set[int], limit: float
) -> Group:
    """Put equations below each other, with the columns of the ties that are present."""
    parts = [relaxation.equations[e] for e in members]
    starts = np.concatenate([[0], np.cumsum([len(part.names) for part in parts])])
    factor = np.zeros((starts[-1], starts[-1]))
    for start, part in zip(starts[:-1], parts, strict=True):
        end = start + len(part.names)
        factor[start:end, start:end] = part.factor
    ridge = np.concatenate([part.ridge for part in parts])
    column = {v: int(start) + i for start, p in zip(starts[:-1], parts, strict=True) for i, v in enumerate(p.variables)}
    terms: list[tuple[int, ...]] = [(int(v),) for part in parts for v in part.variables]
    gone = {column[v] for v in absent if v in column}
    needed = {int(start) + i for start, part in zip(starts[:-1], parts, strict=True) for i in part.required}
    extra, blur = 0, 0.0
    norm = np.sqrt(sum(float(part.z @ part.z) + part.constant for part in parts))
    for tie in present:
        if tie.variables[0] not in column:
            continue
        own = [column[v] for v in tie.variables]
        last = max(own)
        merged = np.zeros(len(factor))
        weight = 0.0
        for j, r in zip(own, tie.ratios, strict=True):
            merged += r * factor[:, j]
            weight += r * r * float(ridge[j])
        factor[:, own], ridge[own] = 0.0, 0.0
        factor[:, last], ridge[last] = merged, weight * (1 - 1e-15)  # (rounded down: values are lower bounds)
        gone.update(own)
        gone.discard(last)
        needed = (needed - set(own)) | {last}
        terms[last] = tie.variables
        extra += len(own) - 1
        alone = len({relaxation.equation_of[v] for v in tie.variables}) == len(own)
        if not alone or any(abs(r) != 1 for r in tie.ratios):
            blur += _ROUNDING * len(own) * limit * norm
    factor[:, sorted(gone)] = 0.0
    forbidden = {int(start) + i for start, part in zip(starts[:-1], parts, strict=True) for i in part.forbidden}
    cap = min(sum(relaxation.caps[e] for e in members), relaxation.total) - extra
    equation = replace(
        parts[0],
        target=", ".join(part.target for part in parts),
        factor=factor,
        z=np.concatenate([part.z for part in parts]),
        rest=np.concatenate([part.rest for part in parts]),
        ridge=ridge,
        variables=np.arange(len(factor)),
        names=tuple(name for part in parts for name in part.names),
        required=tuple(sorted(needed)),
        forbidden=tuple(sorted(forbidden - gone)),
    )
    usable = int((factor.any(axis=0)).sum()) - len(equation.forbidden)
    most = equation.size(max(min(cap, usable), 0))
    return Group(equation, tuple(members), tuple(terms), most, extra, blur, relaxation.component.weights[members[0]])
