"""A fitted rational law as ordinary terms: a readable normalisation, the terms of its library, its constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from exactsindy._types import Array
from exactsindy.discovery.rational.output_fit import LawFit
from exactsindy.discovery.rational.shapes import Candidates, Shape
from exactsindy.library import NAME, Expression, Group, Term, Variable
from exactsindy.model import InnerConstant, rounded_to_error

# Singular value, as a share of the largest, below which terms are dependent.
_DEPENDENT = 1e-9


def readable(law: LawFit, candidates: Candidates) -> LawFit:
    """Return a law as it reads best, the same function: how M is divided from p, and which term of D has coefficient 1.

    S/(K + S) where the highest term of a two-term denominator is part of a single term over it; otherwise the constant
    is 1, as in 1/(1 + a y^2 + b x); without a constant the first term is.
    """
    law = _rewritten(law, candidates)
    shape = law.shape
    if not shape.over or len(shape.under) < 2:
        return law
    terms = [candidates.under[j] for j in shape.under]
    highest = _highest(shape, candidates)
    divides = len(shape.over) == 1 and _divides(terms[highest], candidates.over[shape.over[0]])
    constant = next((i for i, term in enumerate(terms) if not term.factors), None)
    if len(terms) == 2 and divides:
        return renormalised(law, highest)
    return renormalised(law, int(np.argmin(shape.under)) if constant is None else constant)


def _highest(shape: Shape, candidates: Candidates) -> int:
    """Return the position of the term of highest degree in a denominator."""
    degrees = [candidates.under[j].degree for j in shape.under]
    return max(range(len(degrees)), key=lambda i: (degrees[i], -shape.under[i]))


def _rewritten(law: LawFit, candidates: Candidates) -> LawFit:
    """Return the same function with as many or fewer coefficients and, if there is a choice, terms such as x/(K + x).

    A multiple of D may be taken out of M: 1 + 1/(1 + x) is 2 - x/(1 + x). The second is preferred: its fraction is zero
    where its state is, as rates that saturate are written.
    """
    best, places = law, {term: j for j, term in enumerate(candidates.over)}
    if not law.shape.over or len(law.shape.under) < 2:
        return law
    d = dict(zip((candidates.under[j] for j in law.shape.under), [1.0, *law.under.tolist()], strict=True))
    for i, monomial in enumerate(candidates.plain):
        for lower, factor in d.items():
            m = dict(zip((candidates.over[j] for j in law.shape.over), law.over.tolist(), strict=True))
            p = dict(zip(law.shape.plain, law.plain.tolist(), strict=True))
            taken = monomial * lower
            if taken not in m or not factor:
                continue
            share = m[taken] / factor
            for term, value in d.items():
                m[monomial * term] = m.get(monomial * term, 0.0) - share * value
            del m[taken]
            p[i] = p.get(i, 0.0) + share
            if not m or not all(term in places for term in m):
                continue
            over = sorted((places[term], value) for term, value in m.items())
            plain = sorted(p.items())
            shape = replace(law.shape, plain=tuple(j for j, _ in plain), over=tuple(j for j, _ in over))
            other = replace(
                law, shape=shape, plain=np.array([v for _, v in plain]), over=np.array([v for _, v in over])
            )
            best = min(best, other, key=lambda found: _reading(found, candidates))
    return best


def _reading(law: LawFit, candidates: Candidates) -> tuple[int, int, int]:
    """Return by what writings of one law are ordered."""
    highest = candidates.under[law.shape.under[_highest(law.shape, candidates)]]
    saturating = all(_divides(highest, candidates.over[j]) for j in law.shape.over)
    return law.shape.size, len(law.shape.over), int(not saturating)


def renormalised(law: LawFit, first: int) -> LawFit:
    """Return a law with another term of its denominator (a position in ``under``) normalised to 1; others in order."""
    every = np.concatenate([[1.0], law.under])
    scale = every[first]
    rest = sorted((i for i in range(len(every)) if i != first), key=lambda i: law.shape.under[i])
    under = (law.shape.under[first], *(law.shape.under[i] for i in rest))
    shape = replace(law.shape, under=under)
    return replace(law, shape=shape, over=law.over / scale, under=every[rest] / scale)


def denominator_term(law: LawFit, candidates: Candidates, values: Array) -> tuple[float, Term]:
    """Return D as a number times a term that can be divided by, with these values of its free coefficients."""
    parts = dict(zip(law.shape.under, [1.0, *values.tolist()], strict=True))
    ordered = [(parts[j], candidates.under[j]) for j in sorted(parts)]
    if len(ordered) == 1:
        return ordered[0]
    return 1.0, Term(((Group(Expression(tuple(ordered))), 1),))


def concrete_terms(law: LawFit, candidates: Candidates, errors: Array) -> tuple[Term, ...]:
    """Return the terms of the library at the constants of a law: those of p, and those of M divided by D.

    Terms that are sums of others are left out (x/(1 + x) = 1 - 1/(1 + x)), those of the law being kept first: otherwise
    one law could be written in several ways, and none of them would be the only best one.
    """
    if not law.shape.over:
        return candidates.plain
    values = rounded(law.under, errors)
    _, bottom = denominator_term(law, candidates, values)
    inverse = Term(tuple((atom, -power) for atom, power in bottom.factors))
    parts = [(1.0, law.shape.under[0]), *zip(values.tolist(), law.shape.free_under, strict=True)]
    d = {candidates.under[j]: value for value, j in parts}
    # Every term times D, as a sum of monomials.
    plain = [{term * monomial: value for monomial, value in d.items()} for term in candidates.plain]
    over = [{term: 1.0} for term in candidates.over]
    first = [*law.shape.plain, *(len(plain) + j for j in law.shape.over)]
    sums = [*plain, *over]
    kept = _independent(sums, [*first, *(j for j in range(len(sums)) if j not in first)])
    terms = [*candidates.plain, *(term * inverse for term in candidates.over)]
    return tuple(dict.fromkeys(terms[j] for j in sorted(kept)))


def law_terms(law: LawFit, candidates: Candidates, errors: Array) -> tuple[Term, ...]:
    """Return the terms of the law itself, at its constants."""
    plain = [candidates.plain[j] for j in law.shape.plain]
    if not law.shape.over:
        return tuple(plain)
    _, bottom = denominator_term(law, candidates, rounded(law.under, errors))
    inverse = Term(tuple((atom, -power) for atom, power in bottom.factors))
    return (*plain, *(candidates.over[j] * inverse for j in law.shape.over))


def constants(law: LawFit, candidates: Candidates, errors: Array, equation: str) -> tuple[InnerConstant, ...]:
    """Return the constants in the denominator of a law, with standard errors."""
    if not law.shape.over or not len(law.under):
        return ()
    used = {
        v.name for terms in (candidates.plain, candidates.over, candidates.under) for t in terms for v in t.variables()
    }
    letter = next(name for name in ("K", "C", "constant") if not any(other.startswith(name) for other in used))
    count = len(law.under)
    names = [letter] if count == 1 else [f"{letter}{i + 1}" for i in range(count)]
    by_column = dict(zip(law.shape.free_under, names, strict=True))
    parts = [
        (1.0, candidates.under[j] if j not in by_column else Term(((Variable(by_column[j]), 1),)) * candidates.under[j])
        for j in sorted(law.shape.under)
    ]
    top = candidates.over[law.shape.over[0]] if len(law.shape.over) == 1 else Term()
    template = top * Term(((Group(Expression(tuple(parts))), -1),))
    values = rounded(law.under, errors).tolist()
    return tuple(
        InnerConstant(equation, template.name, name, value, float(error))
        for name, value, error in zip(names, values, errors.tolist(), strict=True)
    )


def rounded(values: Array, errors: Array) -> Array:
    """Return constants without digits far below their standard errors."""
    return np.array([rounded_to_error(v, e) for v, e in zip(values.tolist(), errors.tolist(), strict=True)])


def _divides(part: Term, whole: Term) -> bool:
    return all(whole.powers.get(atom, 0) >= power for atom, power in part.factors)


def _independent(sums: Sequence[dict[Term, float]], order: Sequence[int]) -> set[int]:
    """Return which sums of monomials are kept, in this order, so that none is a sum of others."""
    monomials = {term: j for j, term in enumerate(dict.fromkeys(term for part in sums for term in part))}
    table = np.zeros((len(sums), len(monomials)))
    for i, part in enumerate(sums):
        for term, value in part.items():
            table[i, monomials[term]] = value
    table /= np.abs(table).max(axis=1, keepdims=True)
    kept: list[int] = []
    basis = np.zeros((len(monomials), 0))
    for i in order:
        rest = table[i] - basis @ (basis.T @ table[i])
        rest = rest - basis @ (basis.T @ rest)
        size = float(np.linalg.norm(rest))
        if size > _DEPENDENT:
            kept.append(i)
            basis = np.column_stack([basis, rest / size])
    return set(kept)


def law_text(law: LawFit, candidates: Candidates, digits: int = 3) -> str:
    """Write a law in a line, e.g. ``1 - 1.2 x/(0.5 + x)``."""
    errors = np.zeros(len(law.under))
    values = [*law.plain.tolist(), *law.over.tolist()]
    if law.shape.over:
        short = replace(law, under=np.array([float(f"{v:.{digits}g}") for v in law.under.tolist()]))
        scale, _ = denominator_term(short, candidates, short.under)
        terms, values = law_terms(short, candidates, errors), [*law.plain.tolist(), *(law.over / scale).tolist()]
    else:
        terms = law_terms(law, candidates, errors)
    parts = [(float(f"{value:.{digits}g}"), term) for value, term in zip(values, terms, strict=True)]
    return Expression(tuple(parts)).text(NAME)


def standard_errors(curvature: Array, variance: float) -> Array:
    """Return the standard errors of coefficients from the curvature of the squared residuals; nan if dependent."""
    size = np.sqrt(np.maximum(np.diag(curvature), np.finfo(float).tiny))
    try:
        inverse = np.linalg.inv(curvature / np.outer(size, size))
    except np.linalg.LinAlgError:
        return np.full(len(size), np.nan)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.sqrt(variance * np.diag(inverse)) / size)
