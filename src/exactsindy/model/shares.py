"""How large each term of an equation is beside its whole right-hand side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Trajectory
from exactsindy.differentiation import PenalisedSpline
from exactsindy.model.equation import Equation
from exactsindy.model.sampled import Sampled
from exactsindy.model.score import with_rates
from exactsindy.problem import Problem

Shares = dict[str, dict[str, float]]


def sample_shares(sampled: Sampled, members: Sequence[Trajectory]) -> Shares:
    """Return rms(coefficient * term) / rms(whole right-hand side) over all samples of trajectories, by equation.

    Samples at which a term is not defined do not count.
    """
    terms = tuple(dict.fromkeys(term for row in sampled.rows for term in row.terms))
    if not terms:
        return {row.name: {} for row in sampled.rows}
    names = [term.name for term in terms]
    coef, norms, totals = _coefficients(sampled.rows, names), np.zeros(len(terms)), np.zeros(len(sampled.rows))
    for member in members:
        states = with_rates(member.states, member.times, member.names, sampled, PenalisedSpline())
        values = sampled.values(terms, member, states)
        values = values[np.isfinite(values).all(axis=1)]
        sums = values @ coef.T
        norms += np.einsum("ij,ij->j", values, values)
        totals += np.einsum("ij,ij->j", sums, sums)
    return _shares(sampled.rows, names, coef, np.sqrt(norms), np.sqrt(totals))


def row_shares(equations: Sequence[Equation], problem: Problem) -> Shares:
    """Return the same over the rows of a regression, which has every term of the equations.

    For fields: derivatives of a noisy field on its grid are mostly noise, which the rows of a regression average away.
    """
    names = problem.names
    coef, norms, totals = _coefficients(equations, names), np.zeros((len(equations), len(names))), []
    for i, row in enumerate(equations):
        block, _ = problem.locate(row.name)
        columns = problem.columns(block)
        norms[i, columns] = block.column_norms
        totals.append(float(np.linalg.norm(block.theta_factor @ coef[i, columns])))
    return _shares(equations, names, coef, norms, np.array(totals))


def _coefficients(equations: Sequence[Equation], names: Sequence[str]) -> Array:
    table, position = np.zeros((len(equations), len(names))), {name: j for j, name in enumerate(names)}
    for i, row in enumerate(equations):
        for value, term in row.parts:
            table[i, position[term.name]] = value
    return table


def _shares(equations: Sequence[Equation], names: Sequence[str], coef: Array, norms: Array, totals: Array) -> Shares:
    """Return the shares from the norms of terms and of right-hand sides; inf where terms cancel to nothing."""
    sizes, position = np.abs(coef) * norms, {name: j for j, name in enumerate(names)}
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(sizes > 0, sizes / totals[:, None], 0.0)
    return {
        row.name: {term.name: float(shares[i, position[term.name]]) for term in row.terms}
        for i, row in enumerate(equations)
    }
