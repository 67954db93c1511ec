"""Warnings about data that can still be used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from exactsindy._types import Array
from exactsindy.data.splitting import gap_starts

# Beyond this ratio of sizes, thresholds and ridges in the user's units treat the states very differently.
_SCALE_RATIO = 1e3


@dataclass(frozen=True)
class Notice:
    """A warning about data or a result, and the equation it is about (``"x'"``; ``None`` is all of them).

    ``kind`` is a short fixed word for programs, e.g. ``"gap"``, ``message`` a sentence for people.
    """

    kind: str
    message: str
    equation: str | None = None

    def __str__(self) -> str:
        return self.message


def column_notices(names: Sequence[str], low: Array, high: Array, rms: Array) -> tuple[Notice, ...]:
    """Return notices on constant columns and on columns of very different size."""
    constant = low == high
    still = [name for name, same in zip(names, constant, strict=True) if same]
    text = "never changes: its equation is 0 and its terms repeat other terms."
    notices = [Notice("constant", f"{name!r} {text}") for name in still]
    sizes = np.where(constant, np.nan, rms)
    if np.isfinite(sizes).sum() > 1:
        large, small = int(np.nanargmax(sizes)), int(np.nanargmin(sizes))
        if sizes[large] > _SCALE_RATIO * sizes[small]:
            text = f"{names[large]!r} is about {sizes[large] / sizes[small]:.0e} times as large as {names[small]!r}"
            cure = "coefficients will differ as much. Choose units of similar size."
            notices.append(Notice("scale", f"{text}: {cure}"))
    return tuple(notices)


def gap_notice(times: Array, name: str) -> tuple[Notice, ...]:
    """Return a notice on the longest gap in time, if there is one."""
    if not len(gap_starts(times)):
        return ()
    steps = np.diff(times)
    longest = int(steps.argmax())
    text = f"{name}: no samples between {times[longest]:g} and {times[longest + 1]:g}, "
    text += f"{steps[longest] / np.median(steps):.0f} times the usual step. "
    return (Notice("gap", text + "Pass gaps='split' to treat the parts as separate trajectories."),)
