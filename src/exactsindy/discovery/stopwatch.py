"""The limits of a whole call, and its time handed out in parts."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, replace

from exactsindy.errors import SolverError
from exactsindy.solver import Settings

# Time limit of one `discover` unless another is asked for, in seconds: long enough to prove most answers, short enough
# to wait for.
DEFAULT_SECONDS = 60.0


def limits(seconds: float | None, threads: int | None, settings: Settings | None) -> Settings:
    """Return the settings of a call: what ``settings`` says, and the keywords where it says nothing.

    Raises
    ------
    SolverError
        If a keyword and ``settings`` ask for different values.
    """
    asked = Settings() if settings is None else settings
    if not isinstance(asked, Settings):
        raise SolverError(f"discover(settings={settings!r}): expected Settings(...), or leave it out.")
    for name, value, default in (("seconds", seconds, DEFAULT_SECONDS), ("threads", threads, None)):
        other = getattr(asked, name)
        if other is not None and value not in (default, other):
            raise SolverError(
                f"discover({name}={value!r}, settings=Settings({name}={other!r})): two different values; give one."
            )
    return replace(
        asked,
        seconds=seconds if asked.seconds is None else asked.seconds,
        threads=threads if asked.threads is None else asked.threads,
    )


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
