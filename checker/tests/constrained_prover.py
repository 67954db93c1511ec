"""Conditions on coefficients decided by plain enumeration in fractions, and true claims about them."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

import check_oracle as oracle
import reference_prover as prover

LIMIT = 2.0**27


def eliminate(matrix, right):
    """Return the solution of a regular system of fractions; None if it is singular."""
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for p in range(len(rows)):
        found = [r for r in range(p, len(rows)) if rows[r][p] != 0]
        if not found:
            return None
        rows[p], rows[found[0]] = rows[found[0]], rows[p]
        for r in range(len(rows)):
            if r != p:
                share = rows[r][p] / rows[p][p]
                rows[r] = [x - share * y for x, y in zip(rows[r], rows[p], strict=True)]
    return [rows[p][-1] / rows[p][p] for p in range(len(rows))]


def quadratic(equations, weights, terms):
    """Return H, b, c with  weighted objective = x'Hx - 2 b'x + c."""
    columns = {(e, j): [Fraction(v) for v in equations[e][0][:, j].tolist()] for e, j in terms}
    targets = [[Fraction(v) for v in numbers[1].tolist()] for numbers in equations]
    size = len(terms)
    h, b = [[Fraction(0)] * size for _ in terms], [Fraction(0)] * size
    for p, (e, j) in enumerate(terms):
        b[p] = weights[e] * sum(x * y for x, y in zip(columns[e, j], targets[e], strict=True))
        for q, (d, i) in enumerate(terms):
            if d == e:
                h[p][q] = weights[e] * sum(x * y for x, y in zip(columns[e, j], columns[d, i], strict=True))
        h[p][p] += weights[e] * Fraction(float(equations[e][3][j]))
    square = [sum(Fraction(v) ** 2 for v in [*n[1].tolist(), *n[2].tolist()]) for n in equations]
    return h, b, sum(w * s for w, s in zip(weights, square, strict=True))


def optimum(equations, weights, supports, rows):
    """Return (value, active rows, {row: multiplier}) of a joint support; None: infeasible; by every active set."""
    terms = [(e, j) for e, support in enumerate(supports) for j in support]
    h, b, c = quadratic(equations, weights, terms)
    lines = [[dict(row["terms"]).get(t, Fraction(0)) for t in terms] for row in rows]
    for r, line in enumerate(lines):  # a row without terms of the support either says nothing or cannot hold
        low = rows[r]["limit"]
        if not any(line) and (low < 0 or (rows[r]["equal"] and low != 0)):
            return None
    real = [r for r, line in enumerate(lines) if any(line)]
    fixed = [r for r in real if rows[r]["equal"]]
    free = [r for r in real if not rows[r]["equal"]]
    for count in range(len(free) + 1):
        for chosen in itertools.combinations(free, count):
            active = sorted([*fixed, *chosen])
            matrix = [h[p] + [lines[r][p] for r in active] for p in range(len(terms))]
            matrix += [lines[r] + [Fraction(0)] * len(active) for r in active]
            solution = eliminate(matrix, b + [rows[r]["limit"] for r in active])
            if solution is None:
                continue
            x, held = solution[: len(terms)], dict(zip(active, solution[len(terms) :], strict=True))
            left = [sum(a * v for a, v in zip(line, x, strict=True)) for line in lines]
            if any(left[r] > rows[r]["limit"] for r in free) or any(held[r] < 0 for r in chosen):
                continue
            value = sum(v * (sum(a * w for a, w in zip(h[p], x, strict=True)) - 2 * b[p]) for p, v in enumerate(x)) + c
            return value, active, {r: 2 * number for r, number in held.items()}
    return None


def joint_supports(equations, entry):
    """Yield every joint support within the sizes and the rows on presence."""
    lists = []
    for numbers, cap in zip(equations, entry["caps"], strict=True):
        d = len(numbers[1])
        lists.append([s for size in range(min(cap, d) + 1) for s in itertools.combinations(range(d), size)])
    for supports in itertools.product(*lists):
        terms = {(e, j) for e, support in enumerate(supports) for j in support}
        if len(terms) <= entry["k"] and all(
            sum(c for e, j, c in row["coefficients"] if (e, j) in terms) <= row["limit"] for row in entry["presence"]
        ):
            yield supports


def rows_of(entry):
    return [
        {
            "terms": [((e, j), Fraction(float.fromhex(c))) for e, j, c in row["coefficients"]],
            "limit": Fraction(float.fromhex(row["limit"])),
            "equal": row["equal"],
        }
        for row in entry["rows"]
    ]


def independent(numbers, support):
    """Whether rule 2 holds: whatever the coefficients are, they are within this limit."""
    return oracle.admissible(*numbers, support, 2.0**300)[1] is True


def ranked(equations, entry, *, free=False):
    """Return the feasible joint supports, best first (value, supports, active, multipliers), and the infeasible.

    With ``free``, only those whose terms do not depend on each other.
    """
    weights, rows = [Fraction(float.fromhex(w)) for w in entry["weights"]], rows_of(entry)
    found, infeasible = [], []
    for supports in joint_supports(equations, entry):
        if free and not all(independent(*one) for one in zip(equations, supports, strict=True)):
            continue
        result = optimum(equations, weights, supports, rows)
        if result is None:
            infeasible.append(supports)
        else:
            found.append((result[0], supports, *result[1:]))
    return sorted(found, key=lambda one: (one[0], sum(map(len, one[1])), one[1])), infeasible


def draw(rng, count, d):
    """Return equations and an entry with conditions, without a claim."""
    equations = [oracle.make("plain", rng, d) for _ in range(count)]
    if rng.random() < 0.3:
        equations = [(a, z, rest, np.full(d, 0.1)) for a, z, rest, _ in equations]

    def term():
        return [int(rng.integers(count)), int(rng.integers(d))]

    rows, presence = [], []
    for _ in range(int(rng.integers(1, 4))):
        first, second = term(), term()
        size = float(np.round(rng.normal(), 1))
        kind = int(rng.integers(5))
        if kind == 0:
            rows.append({"coefficients": [[*first, (1.0).hex()]], "limit": size.hex(), "equal": False})
        elif kind == 1:
            rows.append({"coefficients": [[*first, (-1.0).hex()]], "limit": (0.0).hex(), "equal": False})
        elif first != second:
            pair = [[*first, (1.0).hex()], [*second, float(rng.choice([-1.0, 0.1, 2.5])).hex()]]
            rows.append({"coefficients": pair, "limit": (size if kind == 2 else 0.0).hex(), "equal": kind < 4})
    for _ in range(int(rng.integers(0, 3))):
        first, second = term(), term()
        if first != second:
            pair = [[*first, int(rng.choice([-1, 1]))], [*second, int(rng.choice([-1, 1]))]]
            presence.append({"coefficients": pair, "limit": int(rng.integers(0, 2))})
    caps = [int(rng.integers(1, 4)) for _ in range(count)]
    entry = {
        "equations": list(range(count)),
        "k": int(rng.integers(max(caps), sum(caps) + 1)),
        "caps": caps,
        "weights": [float(rng.choice([1.0, 0.7, 3.0])).hex() for _ in range(count)],
        "presence": presence,
        "rows": rows,
    }
    return equations, entry


def prove(equations, entry, rng, rivals=None, *, free=False):
    """Return (document without fingerprint, records) of the true claim; None where the reference cannot prove it.

    With ``free``, the claim is about joint supports whose terms do not depend on each other.
    With ``rivals``, the claim also lists so many joint supports of as many terms as the best (all, if they are fewer).
    """
    best, infeasible = ranked(equations, entry, free=free)
    if not best:
        return None
    value, supports, active, _ = best[0]
    terms = sum(map(len, supports))
    others = [one for one in best[1:] if sum(map(len, one[1])) == terms][: rivals or 0]
    top = others[-1][0] if others else value
    weights = [Fraction(float.fromhex(w)) for w in entry["weights"]]
    least = []
    for numbers, cap, weight in zip(equations, entry["caps"], weights, strict=True):
        fits = [f for f, _ in oracle.all_fits(*numbers, cap, LIMIT).values()]
        least.append(weight * min(fits))
    sections, records = [], []
    for e, numbers in enumerate(equations):
        cut = float((top - sum(least) + least[e]) / weights[e]) * (1 + 1e-13)
        section, _ = prover.prove(numbers, entry["caps"][e], rng)
        tree = prover.Prover(numbers, entry["caps"][e], cut, rng, listing=True, independent=free)
        tree.tree([], range(len(numbers[1])), entry["caps"][e])
        section |= {
            "section": e,
            "target": f"x{e}0'",
            "equation": e,
            "cut": cut.hex(),
            "claim": None,
            "independent": free,
        }
        sections.append(section)
        records += [(e, n, b"".join(steps)) for n, steps in enumerate(tree.chunks)]
    members = []
    steep = float(100 * value + 1)
    for _, joint, _, held in best:
        members.append({"supports": joint, "multipliers": [[r, float(x).hex()] for r, x in held.items()]})
    for joint in infeasible:  # a row without any term of the support
        terms = {(e, j) for e, support in enumerate(joint) for j in support}
        for r, row in enumerate(rows_of(entry)):
            if not terms & {t for t, _ in row["terms"]} and (row["limit"] < 0 or row["equal"]) and row["limit"]:
                number = -steep / float(row["limit"])
                members.append({"supports": joint, "multipliers": [[r, number.hex()]]})
                break
        else:
            return None
    members = [{"supports": [list(s) for s in m["supports"]], "multipliers": m["multipliers"]} for m in members]
    claim = {"supports": [list(s) for s in supports], "active": active, "objective": float(value).hex()}
    entry = {**entry, "sections": [[e] for e in range(len(equations))], "members": members}
    entry["claim"] = {**claim, "lower_bound": float(value).hex()}
    members = [
        {"supports": [list(s) for s in one], "active": held, "objective": float(f).hex()} for f, one, held, _ in others
    ]
    entry |= {"exactly": False, "rivals": None}
    if rivals:
        entry |= {"rivals": {"limit": float(top).hex(), "members": members, "parts": []}}
    return {
        "writer": "reference",
        "sections": sections,
        "budgets": [],
        "conditions": [entry],
    }, records
