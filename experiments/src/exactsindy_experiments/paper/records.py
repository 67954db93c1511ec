"""One configuration row in, one result row out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

#: Protocols: as the published code did it, and what `discover` does by default with the training part.
PROTOCOLS = ("published", "ours")
#: Names of the algorithms and how figures call them.
TITLES = {
    "exact": "exact (this package)",
    "stlsq": "STLSQ",
    "ssr": "SSR",
    "sr3": "SR3",
    "e-stlsq": "E-STLSQ",
    "exact-constrained": "exact, constrained",
    "sr3-constrained": "constrained SR3",
    "exact-all-cores": "exact, all cores",
    "exact-warm": "exact, warm start",
    "exact-short": "exact, 0.1 s limit",
    "gurobi": "MIOSR (Gurobi)",
}


def rounded(value: float) -> float:
    """Return a number of a grid to 13 digits.

    Examples
    --------
    >>> rounded(0.1 + 0.2)
    0.3
    """
    return float(f"{value:.13g}")


@dataclass(frozen=True)
class Case:
    """What is run: one algorithm on one trial of one cell.

    ``trial`` is the published trial number, which is its seed. ``duration`` is that of the training part in seconds,
    ``noise`` the fraction of the data's size, ``degree`` that of the library. Duration and noise are kept to 13 digits:
    powers of two differ in the last one between machines, and what identifies a case must not.

    Examples
    --------
    >>> Case("differential", "lorenz", "published", "exact", 5, 0.25, 0.002, 1).key[:3]
    ('differential', 'lorenz', 'published')
    """

    experiment: str
    system: str
    protocol: str
    algorithm: str
    degree: int
    duration: float
    noise: float
    trial: int

    def __post_init__(self) -> None:
        for name in ("duration", "noise"):
            object.__setattr__(self, name, rounded(getattr(self, name)))

    @property
    def key(self) -> tuple[str | int | float, ...]:
        """The values that identify the case, in the order of results."""
        return tuple(vars(self).values())

    @property
    def curve(self) -> tuple[str | int | float, ...]:
        """The values that trials of one cell share."""
        return self.key[:-1]


@dataclass(frozen=True)
class Outcome:
    """What came out; None where a number has no meaning for the case.

    Attributes
    ----------
    terms
        Candidate terms of the library.
    tp, fp, fn, tpr, exact
        Terms found rightly, wrongly, missed; their published rate; whether the support is the true one.
    coef_l1, coef_l2, coef_linf
        Norm of the coefficients' error over that of the truth.
    test_rmse
        As published: on ten clean test trajectories against their own (smoothed) differences.
    rhs_rmse
        On the same trajectories against the true right-hand side.
    violation
        Mean absolute violation of the constraints.
    seconds
        Fitting and selection; without simulation and rows, which are shared by the algorithms of a trial.
    proved, gap, margin
        Whether the chosen supports are proved optimal, the largest gap, the least margin over the next support.
    exact_at_true_k
        Whether the best subset at the true sizes, on the same rows, is the truth: the ceiling of any selection rule.
    choice, model
        Chosen hyperparameters; coefficients by equation and term (both JSON).
    error
        Why there is no result, empty otherwise.
    """

    terms: int | None = None
    tp: int | None = None
    fp: int | None = None
    fn: int | None = None
    tpr: float | None = None
    exact: bool | None = None
    coef_l1: float | None = None
    coef_l2: float | None = None
    coef_linf: float | None = None
    test_rmse: float | None = None
    rhs_rmse: float | None = None
    violation: float | None = None
    seconds: float | None = None
    proved: bool | None = None
    gap: float | None = None
    margin: float | None = None
    exact_at_true_k: bool | None = None
    choice: str = ""
    model: str = ""
    error: str = ""


class Result(NamedTuple):
    """A case and what came out of it: one row of the results."""

    case: Case
    outcome: Outcome

    @property
    def key(self) -> Case:
        """What identifies the row."""
        return self.case
