"""What a search or a backend says about one equation, or about equations that are solved together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.solver.settings import BRIEF, Deadline, Settings, Status


@dataclass(frozen=True)
class Answer:
    """A support with its coefficients and its objective.

    The support counts the equation's own terms; where equations are put together, ``equation * D + term``.
    """

    support: tuple[int, ...]
    coef: tuple[float, ...]
    objective: float
    fine: float = 0.0  # what its double leaves out of the objective, where that decides


@dataclass(frozen=True)
class Outcome:
    """What is known after a search of one size, or of one pool."""

    answers: tuple[Answer, ...]  # best first; empty if the constraints cannot hold or nothing was met before a limit
    lower_bound: float  # no support of the asked size has an objective below this; inf: none satisfies the constraints
    runner_up: float = math.nan  # objective of the next-best support of the same size; inf: none, nan: not proved
    stop: Status | None = None  # why the search ended before it was done; None: it was done
    complete: bool = False  # True if a pool holds everything that was asked for
    nodes: int = 0  # what the backend counts: nodes of a tree, or supports
    seconds: float = 0.0
    written: tuple[Any, ...] = ()  # finished searches in the file of a proof: native records `Written`
    dependent: bool = False  # True if supports that are not admissible were passed over (search without constraints)

    @property
    def objective(self) -> float:
        """Objective of the best answer; inf if there is none."""
        return self.answers[0].objective if self.answers else math.inf

    @property
    def bound(self) -> float:
        """The lower bound, which no true bound of a feasible point exceeds."""
        return min(self.lower_bound, self.objective)

    @property
    def margin(self) -> float:
        """Runner-up / objective - 1: 0 is a tie, inf says that there is no rival, nan that it is not proved."""
        if not self.answers or math.isnan(self.runner_up):
            return math.nan
        if self.runner_up == self.objective:
            return 0.0
        return self.runner_up / self.objective - 1.0 if self.objective > 0 else math.inf

    def renumbered(self, variables: NDArray[np.intp]) -> Outcome:
        """Return the outcome with variable ``variables[j]`` for each ``j`` of its supports."""
        item = variables.item
        answers = tuple([Answer(tuple(map(item, a.support)), a.coef, a.objective, a.fine) for a in self.answers])
        # (`replace` takes three times as long.)
        ended = (self.stop, self.complete, self.nodes, self.seconds, self.written, self.dependent)
        return Outcome(answers, self.lower_bound, self.runner_up, *ended)

    @property
    def infeasible(self) -> bool:
        """True if it was proved that no support satisfies the constraints."""
        return not self.answers and self.stop is None and self.lower_bound == math.inf


def joined(answers: Sequence[Answer], objective: float) -> Answer:
    """Return the answers of different equations as one."""
    support = tuple(v for answer in answers for v in answer.support)
    return Answer(support, tuple(value for answer in answers for value in answer.coef), objective)


def lower_sum(bounds: Iterable[float]) -> float:
    """Return the sum of bounds, which may be rounded products, rounded down: never above the exact one."""
    values = np.array(list(bounds))
    return float(values.sum()) * (1.0 - (len(values) + 3) * 2.0**-53)


def together(outcomes: Sequence[Outcome]) -> Outcome:
    """Return what independent searches say as one: sums, and as next best the cheapest change in one of them."""
    if len(outcomes) == 1 and outcomes[0].answers:
        (only,) = outcomes
        return only if len(only.answers) == 1 else replace(only, answers=only.answers[:1])
    nodes, seconds = sum(o.nodes for o in outcomes), sum(o.seconds for o in outcomes)
    if any(outcome.infeasible for outcome in outcomes):
        return Outcome((), math.inf, nodes=nodes, seconds=seconds)
    objectives, rivals = np.array([o.objective for o in outcomes]), np.array([o.runner_up for o in outcomes])
    answer = joined([o.answers[0] for o in outcomes if o.answers], float(objectives.sum()))
    proved = bool(np.isfinite(objectives).all()) and not np.isnan(rivals).any()
    stops = [outcome.stop for outcome in outcomes]
    order = (Status.INTERRUPTED, Status.TIME_LIMIT, Status.NODE_LIMIT, Status.TOLERANCE, Status.REFITTED)
    return Outcome(
        answers=(answer,),
        lower_bound=lower_sum(o.bound for o in outcomes),
        runner_up=float(objectives.sum() + np.min(rivals - objectives)) if proved else math.nan,
        stop=next((status for status in order if status in stops), None),
        complete=all(outcome.complete for outcome in outcomes),
        nodes=nodes,
        seconds=seconds,
    )


def in_turn(settings: Settings, searches: Iterable[Callable[[Settings], Outcome]]) -> list[Outcome]:
    """Run searches one after another within the limits of one call."""
    deadline, outcomes = Deadline(settings), []
    for search in searches:
        outcomes.append(search(deadline.settings(least=BRIEF)))
        deadline.nodes += outcomes[-1].nodes
    return outcomes
