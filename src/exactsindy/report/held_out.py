"""How well equations fit data that their coefficients were not fitted to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np

from exactsindy.data import Data, Trajectories
from exactsindy.errors import ExactSindyError
from exactsindy.forms import Form, MapForm, WeakForm
from exactsindy.library import Term, Terms
from exactsindy.model import Equation, lags_of
from exactsindy.problem import Problem

# Parts of the data, contiguous in time; each is left out once.
_PARTS = 5
# Windows over which rates are averaged: enough for a share of variance to two digits.
_WINDOWS = 1000
# Beyond this many samples nothing is computed: it would take more than about two seconds.
_MOST_SAMPLES = 200_000
# Sampling is irregular if a tenth of the steps is longer than this many times the median.
_IRREGULAR = 2.0


def held_out_scores(equations: Sequence[Equation], data: Data) -> dict[str, float | None]:
    """Return for each equation the R^2 of rates that its coefficients were not fitted to.

    The data are cut into 5 parts, contiguous in time. The terms stay; their coefficients are fitted again without a
    part, and predict the rates of that part, averaged over windows with smooth weights (`WeakForm`), which takes away
    most of the noise. R^2 is 1 - (squared errors) / (squared errors of the mean rate of the other parts), summed over
    the parts: 1 is perfect, 0 no better than a constant rate. For maps it is that of the next samples, with their
    noise. The terms were chosen with all data, so it is no test of the choice.

    ``None`` where it cannot be computed: too few or too many samples, very unequal steps, missing cells that leave no
    windows, or an equation that does not give a rate.
    """
    names = [equation.name for equation in equations]
    if isinstance(data, Trajectories) and _is_irregular(data):
        return dict.fromkeys(names)
    if data.n_samples > _MOST_SAMPLES or [target.name for target in data.targets] != names:
        return dict.fromkeys(names)
    constant = Term()
    terms = tuple(dict.fromkeys([constant, *(term for equation in equations for term in equation.terms)]))
    try:
        with np.errstate(all="ignore"):
            parts = _form(equations).folds(data, Terms(terms), _PARTS)
    except (ExactSindyError, ArithmeticError, ValueError, np.linalg.LinAlgError):
        return dict.fromkeys(names)
    return {equation.name: _score(equation, parts, constant) for equation in equations}


def _form(equations: Sequence[Equation]) -> Form:
    """Return averages over windows for rates, and for maps one step from every sample."""
    step = equations[0].target.step
    return MapForm(lags_of(equations), step == "change") if step else WeakForm(domains=_WINDOWS)


def _is_irregular(data: Trajectories) -> bool:
    """Return True if steps differ so much that averages over windows say more about the steps than about the rates."""
    steps = np.concatenate([np.diff(member.times) for member in data])
    return bool(np.quantile(steps, 0.9) > _IRREGULAR * np.median(steps))


def _score(equation: Equation, parts: Sequence[Problem], constant: Term) -> float | None:
    """Return R^2 of one equation over the parts left out one by one; None if it has no terms."""
    if not equation.terms:
        return None
    columns = [parts[0].names.index(term.name) for term in equation.terms]
    mean = [parts[0].names.index(constant.name)]
    left, total = 0.0, 0.0
    for i in range(len(parts)):
        others = [part for j, part in enumerate(parts) if j != i]
        left += _error(equation.name, columns, others, parts[i])
        total += _error(equation.name, mean, others, parts[i])
    if not (math.isfinite(left) and total > 0):
        return None
    return 1.0 - left / total


def _error(target: str, columns: Sequence[int], others: Sequence[Problem], part: Problem) -> float:
    """Return the squared error in a part of the coefficients that are fitted to the others."""
    block, j = reduce(add, others).locate(target)
    coef = np.zeros(len(block.terms))
    if columns:
        z, _ = block.target(j)
        coef[columns] = np.linalg.lstsq(block.theta_factor[:, columns], z, rcond=None)[0]
    block, j = part.locate(target)
    return block.rss(j, coef)
