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
    """A warning about data or a result.

    Parameters
    ----------
    kind
        A short fixed word for programs, e.g. ``"gap"``.
    message
        A sentence for people.
    equation
        Name of the equation that the warning is about, e.g. ``"x'"``; ``None`` if it is about all of them.
    """

    kind: str
    message: str
    equation: str | None = None

    def __str__(self) -> str:
        return self.message


def column_notices(names: Sequence[str], low: Array, high: Array, rms: Array) -> tuple[Notice, ...]:
    """Return notices on constant columns and on columns of very different size."""
    notices = []
    constant = low == high
    for name in (name for name, still in zip(names, constant, strict=True) if still):
        notices.append(
            Notice("constant", f"{name!r} never changes: its equation is 0 and its terms repeat other terms.")
        )
    sizes = np.where(constant, np.nan, rms)
    if np.isfinite(sizes).sum() > 1:
        large, small = int(np.nanargmax(sizes)), int(np.nanargmin(sizes))
        if sizes[large] > _SCALE_RATIO * sizes[small]:
            notices.append(
                Notice(
                    "scale",
                    f"{names[large]!r} is about {sizes[large] / sizes[small]:.0e} times as large as {names[small]!r}: "
                    "coefficients will differ as much. Choose units of similar size.",
                )
            )
    return tuple(notices)


def gap_notice(times: Array, name: str) -> tuple[Notice, ...]:
    """Return a notice on the longest gap in time, if there is one."""
    if not len(gap_starts(times)):
        return ()
    steps = np.diff(times)
    longest = int(steps.argmax())
    return (
        Notice(
            "gap",
            f"{name}: no samples between {times[longest]:g} and {times[longest + 1]:g}, "
            f"{steps[longest] / np.median(steps):.0f} times the usual step. Pass gaps='split' to treat the parts as "
            "separate trajectories.",
        ),
    )
