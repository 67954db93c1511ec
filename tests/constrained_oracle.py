"""Constrained best subsets by brute force: every support, every set of active inequalities. Shares no code.

The constraints are read from their records, by name; `best` returns all proper supports, best first. A support is
proper if its logic holds, a feasible vector of coefficients exists, and none of its zero coefficients may be absent.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

import exactsindy as es

TOLERANCE = 1e-8


@dataclass
class Oracle:
    thetas: list  # one design per equation
    targets: list
    names: list  # (equation, term) per variable
    weights: list
    ridge: float = 0.0
    limit: float = 2.0**27  # of coefficients, times the size of the targets

    def __post_init__(self):
        self.offsets = np.cumsum([0] + [theta.shape[1] for theta in self.thetas])
        rows = sum(len(theta) for theta in self.thetas)
        self.matrix, self.target = np.zeros((rows, self.offsets[-1])), np.concatenate(self.targets).astype(float)
        start = 0
        for e, theta in enumerate(self.thetas):
            stop = start + len(theta)
            self.matrix[start:stop, self.offsets[e] : self.offsets[e + 1]] = theta * np.sqrt(self.weights[e])
            self.target[start:stop] *= np.sqrt(self.weights[e])
            start = stop
        self.index = {name: i for i, name in enumerate(self.names)}

    def group(self, group):
        return [self.index[pair] for pair in group]

    def logic(self, constraint, s):
        """Whether the support s (a set) satisfies a constraint on supports; True for all others."""
        i = self.index
        match constraint:
            case es.constraints.Forbid(equation, term):
                return i[equation, term] not in s
            case es.constraints.Require(equation, term):
                return i[equation, term] in s
            case es.constraints.Fixed(equation, term, value):
                return (i[equation, term] in s) == (value != 0)
            case es.constraints.Implies(first, second):
                return i[first] not in s or i[second] in s
            case es.constraints.NotBoth(first, second):
                return not {i[first], i[second]} <= s
            case es.constraints.AtMost(count, group):
                return len(s & set(self.group(group))) <= count
            case es.constraints.AtLeast(count, group):
                return len(s & set(self.group(group))) >= count
            case es.constraints.Exactly(count, group):
                return len(s & set(self.group(group))) == count
            case es.constraints.WholeGroup(group):
                return len(s & set(self.group(group))) in (0, len(group))
            case es.constraints.SameSupport():
                sets = {}
                for v in s:
                    sets.setdefault(self.names[v][0], set()).add(self.names[v][1])
                equations = {name[0] for name in self.names}
                return len({frozenset(sets.get(e, set())) for e in equations}) == 1
        return True

    def linear(self, constraint):
        """Return equalities and inequalities (row, rhs), row'x <= rhs."""
        row = np.zeros(len(self.names))
        match constraint:
            case es.constraints.Equal(first, second, ratio):
                row[self.index[first]], row[self.index[second]] = 1.0, -ratio
                return [(row, 0.0)], []
            case es.constraints.Linear(coefs, relation, rhs):
                for pair, value in coefs.items():
                    row[self.index[pair]] += value
                sign = -1.0 if relation == ">=" else 1.0
                return ([(row, rhs)], []) if relation == "==" else ([], [(sign * row, sign * rhs)])
            case es.constraints.Fixed(equation, term, value):
                row[self.index[equation, term]] = 1.0
                return [(row, value)], []
            case es.constraints.Bounds(equation, term, lower, upper):
                row[self.index[equation, term]] = 1.0
                rows = [(row, upper)] if np.isfinite(upper) else []
                return [], rows + ([(-row, -lower)] if np.isfinite(lower) else [])
            case es.constraints.Sign(equation, term, sign):
                row[self.index[equation, term]] = -1.0 if sign == "+" else 1.0
                return [], [(row, 0.0)]
        return [], []

    def sizes(self, constraints, s):
        """Yield the inequalities of the sign choices of semi-continuous terms in s."""
        choices = []
        for c in constraints:
            if isinstance(c, es.constraints.SemiContinuous) and self.index[c.equation, c.term] in s:
                row = np.zeros(len(self.names))
                row[self.index[c.equation, c.term]] = 1.0
                both = []
                for sign in (1.0, -1.0):
                    rows = [(-sign * row, -c.least)]
                    both.append(rows + ([(sign * row, c.most)] if np.isfinite(c.most) else []))
                choices.append(both)
        for choice in itertools.product(*choices):
            yield [row for rows in choice for row in rows]

    def limits(self, constraints):
        """Return the largest coefficients that count, per variable."""
        norms, count = np.linalg.norm(self.matrix, axis=0), len(self.thetas)
        group, rows, asked = list(range(count)), [], np.zeros(count)
        for c in constraints:
            equal, below = self.linear(c)
            rows += [(row, abs(b)) for row, b in equal] + [(row, max(-b, 0.0)) for row, b in below]
            if isinstance(c, es.constraints.SemiContinuous):
                rows.append((np.eye(len(self.names))[self.index[c.equation, c.term]], c.least))
        equation = np.repeat(np.arange(count), np.diff(self.offsets))
        for row, _ in rows:
            bound = {group[e] for e in equation[row != 0]}
            group = [min(bound) if g in bound else g for g in group]
        squares = [w * np.sum(np.square(y)) for w, y in zip(self.weights, self.targets, strict=True)]
        sizes = [np.sqrt(sum(s for s, h in zip(squares, group, strict=True) if h == g)) for g in group]
        for row, right in rows:
            used, e = row != 0, equation[row != 0][0]
            if norms[used].all():  # a column of zeros meets any row
                asked[group[e]] = max(asked[group[e]], right / np.max(np.abs(row[used]) / norms[used]))
        size = self.limit * np.array([max(sizes[e], asked[group[e]]) for e in equation])
        return np.where(norms > 0, size / np.where(norms > 0, norms, 1.0), np.inf)

    def fit(self, s, equalities, inequalities, limits):
        """Return (value, x) of a support; value inf if infeasible, or if a coefficient is above its limit."""
        columns = sorted(s)
        a, n = self.matrix[:, columns], len(columns)
        if self.ridge:
            a = np.vstack([a, np.sqrt(self.ridge) * np.eye(n)])
        y = np.concatenate([self.target, np.zeros(len(a) - len(self.target))])
        best, found = np.inf, None
        for count in range(min(len(inequalities), n) + 1):
            for active in itertools.combinations(inequalities, count):
                x = equality_fit(a, y, [(r[columns], b) for r, b in (*equalities, *active)])
                if x is None:
                    continue
                if any(r[columns] @ x > b + TOLERANCE * (1 + abs(b)) for r, b in inequalities):
                    continue
                value = float(np.sum((y - a @ x) ** 2))
                if value < best - 1e-13 * max(best if np.isfinite(best) else 0, 1e-300):
                    best, found = value, x
        full = np.zeros(len(self.names))
        if found is not None:
            full[columns] = found
        return (np.inf if np.any(np.abs(full) > limits) else best), full

    def best(self, constraints, sizes=None, total=None):
        """Return proper supports (value, size, support, x), best first."""
        variables = range(len(self.names))
        limits = sizes if sizes is not None else [len(self.names)] * len(self.thetas)
        parts = []
        for e in range(len(self.thetas)):
            own = [v for v in variables if self.offsets[e] <= v < self.offsets[e + 1]]
            top = limits[e] if sizes is not None else total
            parts.append([c for k in range(min(top, len(own)) + 1) for c in itertools.combinations(own, k)])
        linear = [self.linear(c) for c in constraints]
        equalities = [row for eq, _ in linear for row in eq]
        inequalities = [row for _, below in linear for row in below]
        allowed = {}
        for choice in itertools.product(*parts):
            s = frozenset(v for part in choice for v in part)
            if (total is None or len(s) <= total) and all(self.logic(c, s) for c in constraints):
                allowed[s] = None
        found, limits = [], self.limits(constraints)
        for s in allowed:
            value, x = min(
                (self.fit(s, equalities, [*inequalities, *extra], limits) for extra in self.sizes(constraints, s)),
                key=lambda pair: pair[0],
            )
            if np.isfinite(value):
                found.append((value, len(s), tuple(sorted(s)), x))
        found.sort(key=lambda item: item[:3])
        return [item for item in found if not self.improper(item, allowed)]

    def improper(self, item, allowed):
        _, _, s, x = item
        zeros = [v for v in s if abs(x[v]) <= 1e-9 * max(1.0, np.abs(x).max(initial=0.0))]
        return any(
            frozenset(s) - set(gone) in allowed
            for count in range(1, len(zeros) + 1)
            for gone in itertools.combinations(zeros, count)
        )


def equality_fit(a, y, rows):
    """Least squares under equalities by the null space; None if they contradict each other."""
    n = a.shape[1]
    if not rows:
        return np.linalg.lstsq(a, y, rcond=None)[0] if n else np.zeros(0)
    c, d = np.array([r for r, _ in rows]).reshape(len(rows), n), np.array([b for _, b in rows])
    if n == 0:
        return np.zeros(0) if np.all(np.abs(d) <= TOLERANCE) else None
    u, sv, vt = np.linalg.svd(c)
    rank = int(np.sum(sv > 1e-10 * max(1.0, sv[0])))
    particular = vt[:rank].T @ ((u[:, :rank].T @ d) / sv[:rank])
    if np.any(np.abs(c @ particular - d) > TOLERANCE * (1 + np.abs(d))):
        return None
    null = vt[rank:].T
    if null.shape[1] == 0:
        return particular
    return particular + null @ np.linalg.lstsq(a @ null, y - a @ particular, rcond=None)[0]
