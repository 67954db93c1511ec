"""How long and how a solve may run, and how far it got; `Deadline` is the one clock of the package."""

from __future__ import annotations

import enum
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from exactsindy._limits import cut_short
from exactsindy.errors import SolverError
from exactsindy.problem import COEFFICIENT_LIMIT

#: Relative gap that a completed search may leave by rounding: answers this close are proved, also with Settings(gap=0).
PROVED = 1e-14
MOST_NODES = 2**63 - 1  # nodes are counted in 64-bit integers
LARGEST_LIMIT = 2.0**40  # of coefficients: beyond it their products with columns have no digits left
MOST_THREADS = 1024  # more than any machine has cores; a larger number is a mistake
#: Seconds that a part of a call gets at least, also when the limit has passed: enough for a first support and a bound.
LEAST = 0.05
BRIEF = 1e-3  # the same for each of many short solves that make up one call


class Status(enum.Enum):
    """How a solve ended; the value is the sentence shown to the user.

    OPTIMAL is said only where objective and bound differ by at most `Settings.gap` (relative), in every search and for
    every backend.
    """

    OPTIMAL = "Proved: no other support of this size fits these data better, to the gap asked for."
    TIME_LIMIT = "Time limit reached: best support so far, with a true bound. Allow more `seconds` to prove it."
    NODE_LIMIT = "Node limit reached: best support so far, with a true bound. Allow more `nodes` to prove it."
    TOLERANCE = "The backend stopped at its own tolerance, above the gap asked for. Use the native solver to prove it."
    INTERRUPTED = "Interrupted: best support so far, with a true bound."
    REFITTED = "Fit of a given support: nothing is claimed about other supports."
    INFEASIBLE = "Infeasible: no support satisfies the constraints."


@dataclass(frozen=True)
class Progress:
    """A snapshot of a running solve, passed to ``Settings.progress``.

    ``incumbent`` and ``lower_bound`` are objectives per equation being solved, keyed by target name; ``terms``
    are those of the best support so far. ``phase`` says what a call of several steps is doing; empty within a search.
    """

    incumbent: Mapping[str, float]
    lower_bound: Mapping[str, float]
    nodes: int
    seconds: float
    terms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    phase: str = ""


@dataclass(frozen=True)
class Settings:
    """Limits and options of a solve; the one place for their defaults.

    Parameters
    ----------
    gap
        Relative gap (objective - bound) / objective at or below which an answer counts as proved (status OPTIMAL);
        gaps of rounding size, 1e-14, always do. It decides the status in all searches alike: no search discards a
        support because it is "close enough". A gap above 1e-9 also lets the search without constraints end early.
    seconds, nodes
        Limits of the whole call; ``None`` is no limit. The best answer so far is returned with a true bound.
    threads
        At most so many threads; ``None`` uses every core. A completed search gives the same answer for any number.
        Enumeration uses one thread.
    coefficient_limit
        A support counts only if its least-squares coefficients satisfy ``|coefficient| * |column| <= coefficient_limit
        * |target|``: larger ones cancel each other to fit rounding noise. The default, 2**27, excludes nothing that
        has a meaning; smaller values speed up proofs where columns nearly depend on each other. Constraints on
        coefficients keep the rule, for the coefficients of the best fit that satisfies them; ``target`` then stands for
        the targets of all equations whose coefficients they bind together (docs/proof.md).
    progress
        Called about ten times a second from the calling thread with a `Progress`. An exception it raises stops the
        search and is passed on.
    """

    gap: float = 1e-9
    seconds: float | None = None
    nodes: int | None = None
    threads: int | None = None
    coefficient_limit: float = COEFFICIENT_LIMIT
    progress: Callable[[Progress], None] | None = None

    def __post_init__(self) -> None:
        gap: object = self.gap
        if not isinstance(gap, int | float | np.number) or not gap >= 0:
            raise SolverError(f"Settings(gap={self.gap!r}): expected a number >= 0, e.g. 1e-9.")
        limit: object = self.coefficient_limit
        if isinstance(limit, bool) or not isinstance(limit, int | float | np.number) or not 1 <= limit <= LARGEST_LIMIT:
            raise SolverError(f"Settings(coefficient_limit={limit!r}): expected a number from 1 to 2**40, e.g. 2**27.")
        for name, kind, words, most in (
            ("seconds", (int, float, np.number), "a positive number", math.inf),
            ("nodes", (int, np.integer), "a positive integer below 2**63", MOST_NODES),
            ("threads", (int, np.integer), f"a positive integer, at most {MOST_THREADS}", MOST_THREADS),
        ):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, kind) or isinstance(value, bool) or not 0 < value <= most):
                raise SolverError(f"Settings({name}={value!r}): expected {words}, or None for no limit.")
        if self.progress is not None and not callable(self.progress):
            raise SolverError(f"Settings(progress={self.progress!r}): expected a function of one Progress, or None.")


@dataclass(frozen=True)
class Total:
    """One budget of ``k`` terms shared by all equations.

    Minimises ``sum_j weights[j] * RSS_j + ridge * sum_j |xi_j|^2`` over all supports with at most ``k`` terms in total,
    and at most ``caps[j]`` of them in equation j.

    Parameters
    ----------
    k
        Number of terms, all equations together.
    weights
        One positive weight per target, as a sequence in the order of the targets or a mapping from target name;
        ``None`` is 1 for all.
    caps
        Most terms of each equation beside the shared budget: one int for all, a sequence in the order of the targets or
        a mapping from target name (equations it leaves out have no cap); ``None`` is no cap.
    """

    k: int
    weights: Sequence[float] | Mapping[str, float] | None = None
    caps: int | Sequence[int] | Mapping[str, int] | None = None


@dataclass
class Deadline:
    """What is left of the limits of a call that consists of several steps; it begins when it is made.

    Examples
    --------
    >>> from exactsindy.solver import Settings
    >>> deadline = Deadline(Settings(seconds=10.0, nodes=100))
    >>> deadline.nodes += 30
    >>> deadline.settings().nodes, deadline.share(0.25).seconds, deadline.expired
    (70, 2.5, False)
    """

    limits: Settings
    nodes: int = 0  # used so far: add those of each finished solve
    _begin: float = field(init=False, repr=False, default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        """Seconds since the call began."""
        return time.monotonic() - self._begin

    def left(self) -> float:
        """Return the seconds that are left: infinite without a limit, negative once it has passed."""
        return math.inf if self.limits.seconds is None else self.limits.seconds - self.elapsed

    @property
    def expired(self) -> bool:
        """Whether the time limit has passed; who asks leaves something out then: it is noted (`noting`)."""
        over = self.left() <= 0
        if over:
            cut_short()
        return over

    def settings(self, parts: int = 1, least: float = LEAST) -> Settings:
        """Return settings for the next of so many equal steps: its part of the time that is left, and all nodes left.

        It gets ``least`` seconds at least; its progress goes on from what was done before.
        """
        return self._settings(self.left() / parts, least)

    def share(self, fraction: float, least: float = LEAST) -> Settings:
        """Return settings with a fraction of the whole time limit, but not more than is left (``least`` at least)."""
        whole = math.inf if self.limits.seconds is None else self.limits.seconds
        return self._settings(min(fraction * whole, self.left()), least)

    def _settings(self, seconds: float, least: float) -> Settings:
        limits, report, done = self.limits, self.limits.progress, self.nodes
        if limits.seconds is None and limits.nodes is None and report is None:
            return limits  # (nothing to be left of)
        elapsed = self.elapsed

        def forward(now: Progress) -> None:
            if report is not None:
                report(replace(now, nodes=now.nodes + done, seconds=now.seconds + elapsed))

        return replace(
            limits,
            seconds=None if limits.seconds is None else max(seconds, least),
            nodes=None if limits.nodes is None else max(limits.nodes - done, 1),
            progress=None if report is None else forward,
        )
