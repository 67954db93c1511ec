"""The rational laws of measured derivatives: each equation is searched by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Trajectories
from exactsindy.discovery.rational.concrete import readable, standard_errors
from exactsindy.discovery.rational.output_fit import LawFit
from exactsindy.discovery.rational.poles import PoleCheck, box_of
from exactsindy.discovery.rational.rows import Rows, evaluated
from exactsindy.discovery.rational.screening import screened
from exactsindy.discovery.rational.shapes import Candidates
from exactsindy.library import Features, Variables
from exactsindy.solver import Deadline


@dataclass(frozen=True, eq=False)
class FoundLaw:
    """A law of one equation: its criterion (less is better) and the standard errors of all coefficients: p, M, D."""

    law: LawFit
    criterion: float
    every_error: Array

    @property
    def errors(self) -> Array:
        """Return the standard errors of the constants in D."""
        return self.every_error[len(self.every_error) - len(self.law.under) :]

    @property
    def coefficient_errors(self) -> Array:
        """Return the standard errors of the coefficients of p and M, the constants in D being free."""
        return self.every_error[: len(self.every_error) - len(self.law.under)]


@dataclass(frozen=True, eq=False)
class FoundLaws:
    """The laws of one equation, the best first, and how many were fitted."""

    equation: str
    candidates: Candidates
    laws: tuple[FoundLaw, ...]
    fitted: int
    criterion: str  # how they were compared, in words
    refused: tuple[LawFit, ...] = ()  # better ones with a pole within the range of the data
    among: int = 0  # number of candidates before those of this search were screened
    unchecked: bool = False  # whether it is not known if the best law has a pole within the range of the data
    of_labels: bool = False  # whether rates were measured: then laws are compared without trajectories

    @property
    def without_denominator(self) -> FoundLaw | None:
        """Return the best law that divides by nothing."""
        return next((found for found in self.laws if not found.law.shape.over), None)


def labelled_laws(
    data: Trajectories, equation: int, candidates: Candidates, largest: int, clock: Deadline
) -> FoundLaws:
    """Return the laws of one equation of measured derivatives, by the extended Bayesian information criterion."""
    target = data.targets[equation]
    reduced = screened(labelled_rows(data, target.state, candidates), candidates, clock)
    own = reduced.candidates
    box = box_of(np.vstack([np.hstack((member.states, member.controls)) for member in data]))
    poles = PoleCheck(own, (*data.state_names, *data.control_names), box)
    search = reduced.searched(largest, clock, poles)
    laws = []
    for ranked in search.ranked():
        law = readable(ranked.law, own)
        laws.append(FoundLaw(law, ranked.criterion, row_errors(reduced.rows, law)))
    refused = tuple(readable(law, own) for law in search.better_but_refused())
    words = "extended BIC of the measured derivatives"
    return FoundLaws(
        target.name,
        own,
        tuple(laws),
        len(search.fits),
        words,
        refused,
        reduced.among,
        poles.is_open(laws[0].law),
        of_labels=True,
    )


def labelled_rows(data: Trajectories, state: str, candidates: Candidates) -> Rows:
    """Return the rows of measured derivatives of a state."""
    variables = Variables.of(data)
    every = Features(variables, tuple(dict.fromkeys((*candidates.plain, *candidates.over, *candidates.under))))
    j = data.state_names.index(state)
    values = np.vstack([every.inputs_of(member) for member in data])
    label = np.concatenate([member.derivatives[:, j] for member in data if member.derivatives is not None])
    return Rows(*evaluated(every, candidates, values), label)


def row_errors(rows: Rows, law: LawFit) -> Array:
    """Return the standard errors of all coefficients, for independent residuals."""
    shape = law.shape
    d, fraction = law.denominator(rows), law.fraction(rows)
    columns = [
        rows.plain[:, shape.plain],
        rows.over[:, shape.over] / d[:, None],
        -rows.under[:, shape.free_under] * (fraction / d)[:, None],
    ]
    table = rows.rates(np.hstack(columns))
    freedom = max(rows.count - table.shape[1], 1)
    return standard_errors(table.T @ table, law.rss / freedom)
