"""Pick one model from the proved paths of one or several regressions: the verb `select`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from numpy.typing import ArrayLike

from exactsindy._limits import OutOfTime, is_over
from exactsindy.constraints import Constraint, constraint_list
from exactsindy.errors import SolverError, nearest
from exactsindy.problem import Problem
from exactsindy.selection.choices import Candidate, Choice, Selection, SizeScore, TableRow, rows_of
from exactsindy.selection.criteria import BIC, EBIC
from exactsindy.selection.folds import Folds
from exactsindy.selection.growth import GrowthRatio, first_sizes
from exactsindy.selection.path_evidence import PathEvidence
from exactsindy.selection.paths import join_paths, join_problems, shared_path
from exactsindy.selection.resampling import CrossValidation, Stability, inclusion
from exactsindy.solver import Deadline, Path, Settings, Total

Problems = Problem | Folds | Sequence[Problem] | Mapping[str, Problem | Folds | Sequence[Problem]]
# Fewest folds from which inclusion shares are worth computing.
_LEAST_FOLDS = 5
# Inclusion shares solve 30 resamples, each for at most this part of the time that is left.
_RESAMPLE_PART = 60


class Rule(Protocol):
    """How a size is picked from a path: `GrowthRatio`, `AICc`, `BIC`, `CrossValidation`, `Stability`."""

    def scores(self, candidate: Candidate) -> tuple[SizeScore, ...]:
        """Return the size chosen for every equation of a candidate (one in all for a shared budget)."""


#: The rules that have a name, beside "auto"; the same in Python and on the command line.
RULES: dict[str, Callable[[], Rule]] = {
    "growth": GrowthRatio,
    "bic": BIC,
    "ebic": EBIC,
    "cross-validation": CrossValidation,
    "stability": Stability,
}


def find_rule(rule: Rule | str) -> Rule | str:
    """Return a rule from its name or itself; "auto" stays as it is, for the caller to decide."""
    if isinstance(rule, str):
        if rule == "auto":
            return rule
        if rule in RULES:
            return RULES[rule]()
        advice = nearest(rule, ["auto", *RULES])
        raise SolverError(f"rule={rule!r}: expected the name of a rule, or a rule such as BIC(). {advice}")
    if isinstance(rule, type) or not hasattr(rule, "scores"):
        rules = "GrowthRatio(), AICc(...), BIC(...), EBIC(...), CrossValidation(), Stability()"
        raise SolverError(f"rule={rule!r}: expected one of auto, {', '.join(RULES)}, or a rule: {rules}.")
    return rule


def select(
    problems: Problems,
    *,
    k_max: int | Total,
    ridge: ArrayLike = 0.0,
    rule: Rule | str = "auto",
    constraints: Sequence[Constraint] = (),
    settings: Settings = Settings(),  # noqa: B008 - frozen
) -> Selection:
    """Solve for every number of terms, each proved, and pick one per equation.

    Parameters
    ----------
    problems
        A Problem; or its folds, a list of Problems contiguous in time such as ``form.folds(data, library, 10)``,
        which cross-validation, stability and inclusion probabilities need; or a mapping from a name to either, for
        several variants of the same data: then each equation is taken from the one that the rule scores best.
    k_max
        Largest number of terms of an equation, or ``Total(k_max)`` for a budget shared by all. Let it exceed the
        expected number by 2 or 3.
    ridge
        As in `solve`, or a list of ridges to choose from.
    rule
        A rule or its name: ``GrowthRatio()`` (``"growth"``, ``"auto"``), ``AICc(validation=problem)``, ``BIC(...)``
        (``"bic"``), ``EBIC(...)`` (``"ebic"``), ``CrossValidation()`` (``"cross-validation"``), ``Stability()``
        (``"stability"``).
    constraints, settings
        As in `solve`; the time limit is for the whole call.

    Returns
    -------
    Selection
        ``.solution``, ``.path``, ``.table``, ``.inclusion``, ``.confidence``.

    Raises
    ------
    SolverError
        If an argument is of the wrong kind, the rule lacks what it needs, or no size satisfies the constraints.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> rng = np.random.default_rng(0)
    >>> theta = rng.normal(size=(300, 10))
    >>> y = 2 * theta[:, 3] - theta[:, 7] + 0.1 * rng.normal(size=300)
    >>> folds = [es.Problem.from_arrays(theta[i : i + 30], y[i : i + 30]) for i in range(0, 300, 30)]
    >>> chosen = es.select(folds, k_max=6)
    >>> chosen.solution.support, chosen.inclusion
    (((3, 7),), {"y0'": {'theta3': 1.0, 'theta7': 1.0}})
    """
    named = find_rule(rule)
    chosen_rule = GrowthRatio() if isinstance(named, str) else named
    if not isinstance(settings, Settings):
        raise SolverError(f"settings={settings!r}: expected Settings(...), e.g. Settings(seconds=60).")
    clock = Deadline(settings)
    candidates = _candidates(problems, k_max, ridge, constraint_list(constraints), clock)
    if not isinstance(k_max, Total) and any(candidate.path[0].joint for candidate in candidates):
        raise SolverError(
            "select: the constraints bind equations together, so there is one answer for all of them; give them one "
            "budget, e.g. k_max=Total(6), on the command line --total 6."
        )
    first = [first_sizes(candidate.path) for candidate in candidates]  # refuses constraints that no size satisfies
    scores = [chosen_rule.scores(candidate) for candidate in candidates]
    entries = range(len(scores[0]))
    shared = isinstance(k_max, Total)
    targets = candidates[0].problem.target_names
    labels = (", ".join(targets),) if shared else targets
    picks = [_resolve(chosen_rule, candidates, [of[i] for of in scores], i) for i in entries]
    best, chosen = [c for c, _ in picks], [score for _, score in picks]
    path = _path(candidates, best, shared)
    sizes = [score.k for score in chosen]
    solution = path[sizes[0]] if shared else path.at(sizes)
    choices = tuple(
        Choice(
            label, v.k, candidates[c].name, candidates[c].ridge, v.score, v.confidence, v.rival, required=first[c][i]
        )
        for i, (label, v, c) in enumerate(zip(labels, chosen, best, strict=True))
    )
    table: list[TableRow] = []
    for c, candidate in enumerate(candidates):
        for i in entries:
            score = chosen[i] if c == best[i] else scores[c][i]
            table += rows_of(candidate, i, labels[i], score, c == best[i])
    shares = _inclusion(candidates, best, solution, shared, tuple(constraints), clock)
    return Selection(solution, path, tuple(table), shares, choices, chosen_rule)


def _resolve(rule: Rule, candidates: Sequence[Candidate], scores: list[SizeScore], i: int) -> tuple[int, SizeScore]:
    """Return the candidate and size for one equation: the best score, or all candidates weighed together."""
    if isinstance(rule, PathEvidence) and not isinstance(candidates[0].path[0].k, Total):
        names = [candidate.path.problem.names for candidate in candidates]
        supports = [
            [frozenset(names[c][j] for j in solution.support[i]) for solution in candidate.path]
            for c, candidate in enumerate(candidates)
        ]
        return rule.resolve(supports, scores)
    c = max(range(len(candidates)), key=lambda c: scores[c].score)
    return c, scores[c]


def _candidates(
    problems: Any, k_max: int | Total, ridge: Any, constraints: tuple[Any, ...], clock: Deadline
) -> list[Candidate]:
    named = problems if isinstance(problems, Mapping) else {"": problems}
    ridges = list(ridge) if isinstance(ridge, list | tuple) else [ridge]
    if not named or not ridges:
        raise SolverError(f"select: got {len(named)} variants and {len(ridges)} ridges; expected at least one of each.")
    folds = {name: _folds(value) for name, value in named.items()}
    first = next(iter(folds.values())).parts[0].target_names
    candidates: list[Candidate] = []
    # One part of the time for each path, and one for resampling.
    left = len(named) * len(ridges) + 1
    for name, parts in folds.items():
        whole = parts.whole
        if whole.target_names != first:
            text = f"select: variant {name!r} has the equations {', '.join(whole.target_names)}"
            raise SolverError(f"{text}, the first one {', '.join(first)}; expected the same.")
        for value in ridges:
            if candidates and is_over():
                return candidates  # the call is over: what there is must do
            settings = clock.settings(left)
            path = shared_path(whole, k_max, ridge=value, constraints=constraints, settings=settings)
            kept = parts.parts if len(parts) > 1 else ()
            candidates.append(Candidate(name, value, whole, kept, path, constraints, settings, parts.floor))
            left -= 1
    return candidates


def _folds(value: Any) -> Folds:
    if isinstance(value, Folds):
        return value
    if isinstance(value, Problem):
        return Folds((value,))
    parts = tuple(value) if isinstance(value, Sequence) else ()
    if not parts or not all(isinstance(part, Problem) for part in parts):
        kinds = "a Problem, a list of folds, or a mapping from a name to these"
        raise SolverError(f"problems: got {type(value).__name__}; expected {kinds}.")
    return Folds(parts)


def _path(candidates: Sequence[Candidate], best: Sequence[int], shared: bool) -> Path:
    if shared:
        return candidates[best[0]].path
    problem = join_problems([candidates[c].problem for c in best])
    return join_paths(problem, [candidates[c].path for c in best])


def _inclusion(
    candidates: Sequence[Candidate],
    best: Sequence[int],
    solution: Any,
    shared: bool,
    constraints: tuple[Any, ...],
    clock: Deadline,
) -> dict[str, dict[str, float]]:
    """Return inclusion probabilities at the chosen sizes where there are enough folds."""
    counts = {len(candidates[c].folds) for c in best}
    if is_over() or min(counts) < _LEAST_FOLDS or len(counts) > 1 or (not shared and not any(solution.k)):
        return {}
    folds: Sequence[Problem] = candidates[best[0]].folds
    if not shared:
        folds = [join_problems([candidates[c].folds[f] for c in best]) for f in range(len(folds))]
    settings = replace(clock.settings(_RESAMPLE_PART), progress=None)
    try:
        return inclusion(folds, solution, constraints=constraints, settings=settings)
    except OutOfTime:
        return {}
