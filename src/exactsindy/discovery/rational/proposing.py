"""A rational law for one equation, to be compared with laws of other families."""

from __future__ import annotations

from dataclasses import dataclass

from exactsindy.data import Trajectories
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.rational.concrete import concrete_terms, constants, law_text
from exactsindy.discovery.rational.resolving import candidates_of, laws_of
from exactsindy.discovery.rational.shapes import Candidates
from exactsindy.discovery.read import Measurement
from exactsindy.errors import ProblemError
from exactsindy.library import Library, Terms
from exactsindy.model import InnerConstant


@dataclass(frozen=True)
class RationalProposal:
    """The best rational law of one equation.

    ``criterion`` is the Bayesian information criterion of measured derivatives, or the extended one of trajectory fits
    (`TrajectoryEvidence`) with the other equations as they were given; ``without`` is that of the best law without a
    denominator, on the same data. ``gain`` is by how much the denominator lowers it; it counts every constant.
    """

    equation: str
    law: str
    library: Library
    constants: tuple[InnerConstant, ...]
    criterion: float
    without: float
    size: int
    fitted: int

    @property
    def gain(self) -> float:
        """Return by how much the criterion is below that of the best law without a denominator."""
        return self.without - self.criterion


def propose_rational(
    measured: Measurement,
    equation: str,
    numerator: Library,
    denominator: Library,
    others: Library,
    clock: Clock,
    *,
    largest: int = 7,
) -> RationalProposal | None:
    """Return the best rational law of one equation; None if no law with a denominator beats those without.

    Parameters
    ----------
    measured
        What was measured: trajectories, with or without derivatives.
    equation
        The equation, e.g. ``x'``.
    numerator, denominator
        Candidate terms of p and M, and of D.
    others
        The libraries of the other equations; best the terms already found for them (a `PerEquation` of `Terms`), which
        are fitted with this one where there are no measured derivatives.
    clock
        The search takes half of its time limit at most, and says what it found by then.
    largest
        Most coefficients of a law.

    Notes
    -----
    The cost: with measured derivatives about 300 small fits (1 to 3 s for 400 samples and 12 to 20 candidates); from
    trajectories the same again for windows and 30 to 100 trajectory fits (5 to 10 s for 800 samples of two states).
    """
    data = measured.used
    if not isinstance(data, Trajectories):
        raise ProblemError("propose_rational: rational laws are for trajectories; these data are a field.")
    over, under = numerator.terms(data), denominator.terms(data)
    every = [
        Candidates(over, over, under) if target.name == equation else candidates_of(others, data, target.name)
        for target in data.targets
    ]
    found = laws_of(measured, every, largest, clock)
    laws = next(laws for laws in found if laws.equation == equation)
    best, plain = laws.laws[0], laws.without_denominator
    if not best.law.shape.over or plain is None:
        return None
    return RationalProposal(
        equation,
        law_text(best.law, laws.candidates),
        Terms(concrete_terms(best.law, laws.candidates, best.errors)),
        constants(best.law, laws.candidates, best.errors, equation),
        best.criterion,
        plain.criterion,
        best.law.shape.size,
        laws.fitted,
    )
