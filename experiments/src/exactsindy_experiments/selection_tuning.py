"""Examples of right and wrong choices on the tuning half of the random systems, and the weights they lead to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Trajectories
from exactsindy.discovery.prepare import fit_samples
from exactsindy.discovery.refine import compare
from exactsindy.discovery.trajectory_search import Comparison
from exactsindy.discovery.variants import Variant, whitened_increments
from exactsindy.library import Library
from exactsindy.selection import PathEvidence, TrajectoryEvidence, select, shared_path
from exactsindy.selection.path_evidence import features
from exactsindy.solver import Settings
from exactsindy.trajectory_fit import Measured, features_of
from exactsindy_experiments.first_contact_data import load as load_contact
from exactsindy_experiments.first_contact_rows import ContactCase
from exactsindy_experiments.selection_cases import Loaded, load
from exactsindy_experiments.selection_rows import SelectionCase

Array = NDArray[np.float64]

#: Largest number of terms of a path.
K_MAX = 8
_LIMITS = Settings(threads=1, nodes=3000, seconds=4.0)
# Weight of the squared weights: a few equations more or less must not turn them.
_SHRINK = 0.3
# Time for the trajectory fits of one data set.
_FIT_SECONDS = 20.0


@dataclass(frozen=True)
class Example:
    """One equation of a tuning data set: the features of all sizes of all paths, and which supports are right."""

    features: Array
    right: NDArray[np.bool_]


@dataclass(frozen=True)
class FitExample:
    """One ambiguous equation of a tuning data set: the features of its confidence, and whether its terms are right."""

    features: tuple[float, ...]
    right: bool


def examples(cases: Sequence[SelectionCase], *, say: Callable[[str], None] = print) -> list[Example]:
    """Return the examples of tuning cases."""
    found = []
    for loaded, prepared in _prepared(cases, say):
        paths = [shared_path(part.problem, K_MAX, settings=_LIMITS) for part in prepared]
        names = prepared[0].problem.names
        for entry, true in enumerate(loaded.truth.values()):
            table = np.vstack([features(path, entry) for path in paths])
            right = [
                frozenset(names[j] for j in path[k].support[entry]) == true for path in paths for k in range(1, K_MAX)
            ]
            found.append(Example(table, np.array(right)))
    return found


@dataclass(frozen=True)
class Compared:
    """The trajectory fits compared for one data set, and the true terms of its equations."""

    measured: Measured
    comparison: Comparison
    truth: Sequence[frozenset[str]]

    def right(self, evidence: TrajectoryEvidence, equation: int) -> bool:
        """Return True if the terms of an ambiguous equation that a rule prefers are the true ones."""
        names = features_of(self.measured, equation).names
        best = evidence.ranked(self.comparison.rivals[equation])[0]
        return frozenset(names[j] for j in best.support) == self.truth[equation]

    def examples(self) -> Iterator[FitExample]:
        """Yield the examples of the ambiguous equations: the supports at which the search ended."""
        for i, rivals in self.comparison.rivals.items():
            chosen, names = self.comparison.supports[i], features_of(self.measured, i).names
            right = frozenset(names[j] for j in chosen) == self.truth[i]
            yield FitExample(self.comparison.evidence.features(rivals, chosen), right)


def compared_fits(
    cases: Sequence[SelectionCase | ContactCase],
    *,
    library: Callable[[int], Library] | None = None,
    say: Callable[[str], None] = print,
) -> Iterator[Compared]:
    """Yield the trajectory fits compared where the rows, judged by `PathEvidence`, leave equations ambiguous.

    Parameters
    ----------
    cases
        Data sets of the tuning half, of this benchmark and of first contact.
    library
        Given the number of states, in place of that of the case.
    say
        Told about every data set.
    """
    for loaded, prepared in _prepared(cases, say, library):
        problems = {part.name: part.problem for part in prepared}
        selection = select(problems, k_max=K_MAX, rule=PathEvidence(), settings=_LIMITS)
        assert loaded.library is not None
        measured = fit_samples(prepared[-1], loaded.data, loaded.library)
        assert measured is not None
        comparison = compare(selection, measured, K_MAX, replace(_LIMITS, seconds=_FIT_SECONDS))
        if comparison is not None:
            yield Compared(measured, comparison, tuple(loaded.truth.values()))


def shares_right(
    data: Sequence[Compared], rule: Callable[[TrajectoryEvidence, float], TrajectoryEvidence], values: Sequence[float]
) -> dict[float, float]:
    """Return for each value the share of ambiguous equations whose terms are right, if the rule is changed to it."""
    found = {}
    for value in values:
        right = [one.right(rule(one.comparison.evidence, value), i) for one in data for i in one.comparison.rivals]
        found[value] = sum(right) / max(len(right), 1)
    return found


def _loaded(case: SelectionCase | ContactCase) -> Loaded:
    if isinstance(case, SelectionCase):
        return load(case)
    contact = load_contact(case)
    return Loaded(contact.data, contact.library, {name: terms or frozenset() for name, terms in contact.truth.items()})


def _prepared(
    cases: Sequence[SelectionCase | ContactCase],
    say: Callable[[str], None],
    library: Callable[[int], Library] | None = None,
) -> Iterator[tuple[Loaded, tuple[Variant, ...]]]:
    for i, case in enumerate(cases):
        loaded = _loaded(case)
        if library is not None:
            loaded = replace(loaded, library=library(len(loaded.data.state_names)))
        assert isinstance(loaded.data, Trajectories)
        assert loaded.library is not None
        yield loaded, whitened_increments(loaded.data, loaded.library, _LIMITS)
        say(f"[{i + 1}/{len(cases)}] {case.system}, n {case.samples}, noise {100 * case.noise:g} %")


def fit_confidence(data: Sequence[FitExample]) -> Array:
    """Return the weights of the constant and the features of greatest likelihood (logistic, slightly shrunk).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> data = [FitExample((x,), bool(rng.random() < 1 / (1 + np.exp(1 - 2 * x)))) for x in rng.normal(size=2000)]
    >>> bool(np.allclose(fit_confidence(data), (-1, 2), atol=0.3))
    True
    """
    from scipy.optimize import minimize

    x = np.array([(1.0, *example.features) for example in data])
    sign = np.where([example.right for example in data], 1.0, -1.0)

    def loss(w: Array) -> tuple[float, Array]:
        margin = sign * (x @ w)
        slope = -(sign / (1.0 + np.exp(margin))) @ x
        return float(np.logaddexp(0.0, -margin).sum()) + _SHRINK * float(w @ w), slope + 2 * _SHRINK * w

    return np.asarray(minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x)


def fit_weights(data: Sequence[Example]) -> tuple[Array, float]:
    """Return the weights and the score of "none" of greatest likelihood (conditional logit, slightly shrunk).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> made = [rng.normal(size=(6, 2)) for _ in range(200)]
    >>> data = [Example(x, np.arange(6) == np.argmax(3 * x[:, 0])) for x in made]
    >>> weights, none = fit_weights(data)
    >>> bool(weights[0] > 2 > abs(weights[1])), bool(none < 0)
    (True, True)
    """
    from scipy.optimize import minimize

    # Paths may differ in length: the sizes that a shorter one lacks have no probability.
    longest = max(len(e.right) for e in data)
    x = np.array([np.pad(e.features, ((0, longest - len(e.right)), (0, 0))) for e in data])
    y = np.array([np.pad(e.right, (0, longest - len(e.right))) for e in data])
    present = np.array([np.arange(longest) < len(e.right) for e in data])
    known = np.asarray(y.any(axis=1), dtype=bool)

    def loss(w: Array) -> tuple[float, Array]:
        scores, none = np.where(present, x @ w[:-1], -np.inf), w[-1]
        top = np.maximum(scores.max(axis=1), none)
        p, q = np.exp(scores - top[:, None]), np.exp(none - top)
        total = p.sum(axis=1) + q
        share = np.maximum(np.where(known, (p * y).sum(axis=1), q), 1e-300)
        toward = np.where(known[:, None], p * y / share[:, None], 0.0)
        slope = np.einsum("nk,nkf->f", p / total[:, None] - toward, x)
        last = float((q / total).sum() - (~known).sum())
        return -float(np.log(share / total).sum()) + _SHRINK * float(w @ w), np.append(slope, last) + 2 * _SHRINK * w

    w = minimize(loss, np.zeros(x.shape[2] + 1), jac=True, method="L-BFGS-B").x
    return np.asarray(w[:-1]), float(w[-1])
