"""Read data of any accepted kind: the first stage of `discover`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from exactsindy.data import Columns, Data, Field, Notice, as_data, parse_targets
from exactsindy.discovery.sampling import Sampling, sampling
from exactsindy.errors import DataError
from exactsindy.forms import Smoothed, smooth


@dataclass(frozen=True, eq=False)
class Measurement:
    """What was measured, and the part of it that equations are sought in.

    Parameters
    ----------
    data
        All that was measured, checked.
    used
        The part that equations are sought in: all, unless `trim` cut steady tails.
    notices
        What to be careful about.
    """

    data: Data
    used: Data
    notices: tuple[Notice, ...] = ()

    @cached_property
    def smoothed(self) -> Smoothed:
        """The used trajectories, smoothed; computed once for trimming, forms and notices."""
        if isinstance(self.used, Field):
            raise DataError("smoothed states are those of trajectories; these data are a field.")
        return smooth(self.used)

    @cached_property
    def sampling(self) -> Sampling:
        """Samples and periods of the used trajectories."""
        return sampling(self.smoothed.values, self.smoothed.noise)


def read(source: Any, columns: Columns) -> Measurement:
    """Return the data as they were measured.

    Raises
    ------
    DataError
        If the data cannot be used, or are already read and ``columns`` says otherwise.
    """
    data = as_data(source, columns)
    if data is source:
        names = ("time", "states", "controls", "trajectory")
        unused = [name for name in names if getattr(columns, name) is not None]
        if unused:
            raise DataError(
                f"{', '.join(unused)}: the data are already {type(data).__name__} and carry their own; leave it out."
            )
        if columns.targets is not None:
            wanted = parse_targets(columns.targets, data.state_names, field=isinstance(data, Field))
            data = replace(data, targets=wanted)
    return Measurement(data, data)
