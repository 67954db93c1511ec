"""What a selection returns: one model, the path it was picked from, and how sure the rule is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from exactsindy.solver import Path, Settings, Solution, Status, Total

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from exactsindy.problem import Problem

# Probability of being right below which an equation is reported as not identified: it is more likely wrong.
IDENTIFIED = 0.5


@dataclass(frozen=True)
class Candidate:
    """One path to choose from: that of one variant of the regression with one ridge.

    ``floor`` is that of `Folds`.
    """

    name: str
    ridge: ArrayLike
    problem: Problem
    folds: tuple[Problem, ...]
    path: Path
    constraints: tuple[Any, ...] = ()
    settings: Settings = Settings()  # noqa: RUF009 - frozen
    floor: tuple[float, ...] = ()


@dataclass(frozen=True)
class SizeScore:
    """The size that a rule picks for one equation (or all, with a shared budget) of one candidate.

    ``values`` holds the criterion of every k (nan where it has none). ``score`` is compared between candidates,
    larger is better. ``confidence`` is the probability of being right, nan if the rule has none.
    """

    k: int
    score: float
    values: tuple[float, ...]
    rival: int | None = None
    confidence: float = math.nan


@dataclass(frozen=True)
class TableRow:
    """A line of the table of a selection: one size of one equation."""

    equation: str
    variant: str
    ridge: ArrayLike
    k: int
    terms: tuple[str, ...]
    objective: float
    value: float
    proved: bool
    chosen: bool


@dataclass(frozen=True)
class Choice:
    """The size chosen for one equation, and how sure the rule is of it.

    ``variant`` names the regression that the equation was taken from. ``rival`` is the size of the next most plausible
    support; ``rival_terms`` are its terms where they are not simply the best ones of that size. ``required`` is the
    smallest size with an answer: constraints leave no choice about so many terms, and the confidence is about the
    others. ``withheld`` says why there is no confidence although the rule gives one: the library does not seem to hold
    the law, or the data mislead; empty if nothing speaks against it or it was not checked.
    """

    equation: str
    k: int
    variant: str
    ridge: ArrayLike
    score: float
    confidence: float
    rival: int | None
    rival_terms: tuple[str, ...] = ()
    required: int = 0
    withheld: str = ""

    @property
    def identified(self) -> bool:
        """Whether the equation is more likely right than not; True if the rule gives no probability.

        False if the confidence is withheld.
        """
        return not self.withheld and not self.confidence < IDENTIFIED

    def words(self) -> str:
        """Return the confidence in the choice as words."""
        if self.withheld:
            return f"not identified: {self.withheld}"
        if math.isnan(self.confidence):
            if self.k > self.required:
                return "no probability is known for this rule"
            beyond = " beyond those required" if self.required else ""
            return f"no term{beyond} is statistically justified"
        shown = "over 99 %" if self.confidence > 0.99 else f"{100 * self.confidence:.0f} %"
        if self.identified:
            return f"confidence {shown}{self._about()}"
        other = f"; as plausible: {self.rival_words()}" if self.rival is not None else ""
        return f"not identified (confidence {shown}{self._about()}{other})"

    def rival_words(self) -> str:
        """Return the rival in words: how many terms it has, or which ones ("a law with the terms constant, x")."""
        if self.rival_terms:
            names = ", ".join("constant" if name == "1" else name for name in self.rival_terms)
            return f"a law with the term{'' if len(self.rival_terms) == 1 else 's'} {names}"
        return f"a law with {self.rival or 'no'} term{'' if self.rival == 1 else 's'}"

    def _about(self) -> str:
        """Return what the confidence is about, if constraints require terms."""
        if not self.required:
            return ""
        beyond = "in the terms beyond those required" if self.k > self.required else "that no other term is needed"
        return f" {beyond}"


@dataclass(frozen=True, eq=False)
class Selection:
    """The model a rule picked from proved paths.

    Attributes
    ----------
    solution
        The chosen support of every equation, with its certificate.
    path
        The path of every equation in the variant of the regression and with the ridge chosen for it.
    table
        Every size of every candidate with the value of the criterion.
    inclusion
        ``{equation: {term: share}}``: how often a term is in the best support of the chosen size when blocks of
        the data are drawn anew (empty if there were no folds to draw from); where trajectory fits decided, the
        probability of all models compared that have the term.
    choices
        One record per equation; one in all for a shared budget.
    rule
        What chose.
    """

    solution: Solution
    path: Path
    table: tuple[TableRow, ...] = field(repr=False)
    inclusion: Mapping[str, Mapping[str, float]]
    choices: tuple[Choice, ...]
    rule: object

    @property
    def confidence(self) -> dict[str, float]:
        """Probability that the terms of each equation are exactly the true ones; nan where unknown."""
        return {choice.equation: choice.confidence for choice in self.choices}

    def __repr__(self) -> str:
        shown = "; ".join(f"{choice.equation}: {choice.k} terms, {choice.words()}" for choice in self.choices)
        return f"<Selection {shown}>"

    def __str__(self) -> str:
        lines = [f"{self.rule}"]
        for choice in self.choices:
            lines.append(f"{choice.equation}: {choice.k} terms, {choice.words()}")
            rows = [r for r in self.table if (r.equation, r.variant) == (choice.equation, choice.variant)]
            lines += [_line(row) for row in rows if _same(row.ridge, choice.ridge)]
        return "\n".join(lines)


def _same(first: Any, second: Any) -> bool:
    return bool((first == second) if not hasattr(first, "shape") else first is second)


def _line(row: TableRow) -> str:
    value = "      -" if math.isnan(row.value) else f"{row.value:9.4g}"
    proof = ("proved" if row.objective < math.inf else "infeasible") if row.proved else "not proved"
    return f"  {'>' if row.chosen else ' '} {row.k:2d} {row.objective:12.6g} {value}  {proof}  {', '.join(row.terms)}"


def rows_of(candidate: Candidate, entry: int, equation: str, score: SizeScore, chosen: bool) -> Sequence[TableRow]:
    """Return the lines of one equation of one candidate."""
    name, ridge, path = candidate.name, candidate.ridge, candidate.path
    shared = isinstance(path[0].k, Total)
    result = []
    for k, solution in enumerate(path):
        supports = solution.support if shared else (solution.support[entry],)
        terms = tuple(path.problem.names[j] for support in supports for j in support)
        objective, value, picked = float(solution.objective[entry]), score.values[k], chosen and k == score.k
        proved = solution.status[entry] in (Status.OPTIMAL, Status.INFEASIBLE)
        result.append(TableRow(equation, name, ridge, k, terms, objective, value, proved, picked))
    return result
