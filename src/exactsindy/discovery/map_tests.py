"""Test whether the library holds the law of a map: what functions and higher powers add to the trajectory fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from exactsindy.data import Trajectories
from exactsindy.discovery.adequacy import judged
from exactsindy.discovery.map_search import map_evidence
from exactsindy.discovery.outside_terms import outside_terms
from exactsindy.discovery.prepare import Prepared
from exactsindy.discovery.trajectory_search import Comparison
from exactsindy.discovery.wide_library import with_additions
from exactsindy.errors import ExactSindyError
from exactsindy.forms import MapForm, groups, lagged
from exactsindy.library import Library, Polynomials, Terms
from exactsindy.selection import LackOfFit, Selection, additions, mean_correlation
from exactsindy.trajectory_fit import MeasuredMap, row_count, tangent_problem, target_names

# Degrees beyond that of the library whose monomials of single states are tested as well.
_MORE = 2
# Candidate terms and functions together beyond which there is no test, and samples tested.
_MOST_COLUMNS, _MOST_SAMPLES = 400, 20_000


def tested_map(selection: Selection, prepared: Prepared, compared: Comparison, form: MapForm) -> Selection:
    """Return the selection with the confidence lowered or withheld where tests speak against the library."""
    try:
        lacks = _lacks(prepared, compared, form)
    except (ExactSindyError, np.linalg.LinAlgError):  # a function overflows, or two terms have one name: not tested
        return selection
    choices = tuple(judged(choice, lacks.get(choice.equation)) for choice in selection.choices)
    return replace(selection, choices=choices)


def _lacks(prepared: Prepared, compared: Comparison, form: MapForm) -> dict[str, LackOfFit]:
    measured, data = compared.measured, prepared.data
    if not isinstance(measured, MeasuredMap) or not isinstance(data, Trajectories) or data.n_samples > _MOST_SAMPLES:
        return {}
    wide = groups(lagged(data, form.lags), _wider(data, prepared.library))
    if max(len(group.features.terms) for group in wide) > _MOST_COLUMNS:
        return {}
    inside = [group.features.names for group in measured.equations for _ in group.targets]
    names = [group.features.names for group in wide for _ in group.targets]
    supports = tuple(
        tuple(names[i].index(inside[i][j]) for j in support) for i, support in enumerate(compared.supports)
    )
    tested = replace(measured, equations=wide)
    rows, floor = row_count(tested), map_evidence(tested).least
    found = {}
    for i, name in enumerate(target_names(tested)):
        problem = tangent_problem(tested, supports, compared.fit, i) if supports[i] else None
        if problem is None:
            continue
        block, j = problem.locate(0)
        target, rest = block.target(j)
        outside = [place for place, term in enumerate(names[i]) if term not in set(inside[i])]
        added = additions(block.theta_factor, target, float(rest @ rest), supports[i], outside, rows, floor)
        state = int(tested.own[i])
        residual = (tested.samples - compared.fit.states)[:, state]
        lack = LackOfFit(rows, 1.0, 0.0, mean_correlation(residual), resolved=compared.fit.misfit > floor)
        found[name] = with_additions(lack, added, names[i])
    return found


def _wider(data: Trajectories, library: Library) -> Library:
    """Return the library with functions of the states at their scale, and higher powers of single states."""
    functions = outside_terms(data.state_names, np.vstack([member.states for member in data]))
    terms = library.bind(data).terms if not isinstance(library, Polynomials) else ()
    degree = (
        library.degree
        if isinstance(library, Polynomials)
        else max((t.degree for t in terms if t.polynomial), default=0)
    )
    powers = Polynomials(degree + _MORE, interactions=False, of=data.state_names)
    return library + powers + Terms(functions) if functions else library + powers
