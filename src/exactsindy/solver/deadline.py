"""The one clock of the package: the limits of a whole call, handed out to the solves it consists of."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace

from exactsindy.solver.settings import Progress, Settings

#: Seconds that a part of a call gets at least, also when the limit has passed: enough for a first support and a bound.
LEAST = 0.05

#: The same for each of many short solves that make up one call.
BRIEF = 1e-3


@dataclass
class Deadline:
    """What is left of the limits of a call that consists of several steps; it begins when it is made.

    Parameters
    ----------
    limits
        The limits of the whole call.
    nodes
        Nodes used so far: add those of each finished solve.

    Examples
    --------
    >>> from exactsindy.solver import Settings
    >>> deadline = Deadline(Settings(seconds=10.0, nodes=100))
    >>> deadline.nodes += 30
    >>> deadline.settings().nodes, deadline.share(0.25).seconds, deadline.expired
    (70, 2.5, False)
    """

    limits: Settings
    nodes: int = 0
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
        """Whether the time limit has passed."""
        return self.left() <= 0

    def settings(self, parts: int = 1, least: float = LEAST) -> Settings:
        """Return settings for the next step: an equal part of the time that is left, and all nodes that are left.

        Its progress goes on from what was done before.

        Parameters
        ----------
        parts
            So many equal steps are still to come, this one included.
        least
            Seconds it gets at least.
        """
        return self._settings(self.left() / parts, least)

    def share(self, fraction: float, least: float = LEAST) -> Settings:
        """Return settings with a fraction of the whole time limit, but not more than is left (``least`` at least)."""
        whole = math.inf if self.limits.seconds is None else self.limits.seconds
        return self._settings(min(fraction * whole, self.left()), least)

    def _settings(self, seconds: float, least: float) -> Settings:
        limits, report, done, elapsed = self.limits, self.limits.progress, self.nodes, self.elapsed

        def forward(now: Progress) -> None:
            if report is not None:
                report(replace(now, nodes=now.nodes + done, seconds=now.seconds + elapsed))

        return replace(
            limits,
            seconds=None if limits.seconds is None else max(seconds, least),
            nodes=None if limits.nodes is None else max(limits.nodes - done, 1),
            progress=None if report is None else forward,
        )
