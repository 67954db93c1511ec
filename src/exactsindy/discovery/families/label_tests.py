"""Tests of equations of measured derivatives: what functions outside the library would add to their rows."""

from __future__ import annotations

import math

import numpy as np

from exactsindy._limits import go_on
from exactsindy.data import Trajectories
from exactsindy.discovery.families.equation_rows import EquationRows, target_square
from exactsindy.discovery.prepare import Prepared
from exactsindy.discovery.wide_library import WideLibrary, with_additions
from exactsindy.errors import ExactSindyError
from exactsindy.selection import LackOfFit, Selection, additions


def label_tests(selection: Selection, prepared: Prepared) -> dict[str, LackOfFit]:
    """Return the tests of every equation that has terms; none where functions are not finite on the data.

    The noise of measured derivatives is taken as white; how large it is, is not known without a model.
    """
    data = prepared.data
    if not isinstance(data, Trajectories) or data[0].derivatives is None:
        return {}
    if len(selection.choices) != len(data.targets):
        return {}
    found = {}
    try:
        wide = WideLibrary.of(data, prepared.library, selection)
        for group in wide.groups:
            for name in group.target_names:
                go_on()
                places = wide.places[name]
                if places.support:
                    found[name] = _test(EquationRows.of_labels(data, name), wide, name)
    except (ExactSindyError, np.linalg.LinAlgError):
        return {}
    return found


def _test(rows: EquationRows, wide: WideLibrary, name: str) -> LackOfFit:
    places = wide.places[name]
    terms = wide.wide.for_equation(name).bind(wide.data).terms
    problem = rows.problem(terms)
    block, j = problem.locate(0)
    target, rest = block.target(j)
    columns, left = block.theta_factor, float(rest @ rest)
    chosen = columns[:, list(places.support)]
    residual = target - chosen @ np.linalg.lstsq(chosen, target, rcond=None)[0]
    square, whole, least = float(residual @ residual) + left, target_square(problem), rows.least(problem)
    added = additions(columns, target, left, places.support, places.outside, problem.n_samples, least)
    lack = LackOfFit(
        rows=problem.n_samples,
        ratio=1.0,
        share=math.sqrt(square / whole) if whole else 0.0,
        correlation=0.0,
        resolved=square > least,
    )
    return with_additions(lack, added, places.names)
