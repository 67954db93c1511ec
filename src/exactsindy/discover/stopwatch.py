"""The time limit of a whole call, handed out in parts."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, replace

from exactsindy.solver import Settings


@dataclass(frozen=True)
class Stopwatch:
    """The time limit of the whole call, handed out in parts."""

    settings: Settings
    begin: float = -1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "begin", clock.monotonic())

    def share(self, share: float) -> Settings:
        """Return settings with a share of the whole limit, but not more than what is left."""
        if self.settings.seconds is None:
            return self.settings
        left = self.settings.seconds - (clock.monotonic() - self.begin)
        return replace(self.settings, seconds=max(min(share * self.settings.seconds, left), 0.05))
