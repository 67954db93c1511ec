"""Bundled data with their sources (see README.md beside the files), and loaders of measurements you download."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from exactsindy.datasets.bundled import BUNDLED, Bundled
from exactsindy.datasets.downloads import schmidt_lipson as schmidt_lipson
from exactsindy.datasets.downloads import silverbox as silverbox
from exactsindy.errors import DataError, nearest

if TYPE_CHECKING:
    from exactsindy.data import Trajectories


def names() -> tuple[str, ...]:
    """Return the names of the bundled data sets."""
    return tuple(BUNDLED)


def sources() -> tuple[Bundled, ...]:
    """Return what is bundled: name, content, source, licence, and whether a law is known.

    Examples
    --------
    >>> from exactsindy.datasets import sources
    >>> [source.name for source in sources() if source.law.startswith("none")]
    ['lynx_hare', 'us_census']
    """
    return tuple(BUNDLED.values())


def dataset(name: str) -> Trajectories:
    """Load a bundled data set.

    Examples
    --------
    >>> from exactsindy.datasets import dataset
    >>> dataset("lorenz").state_names
    ('x', 'y', 'z')
    """
    from exactsindy.data import Trajectories, load

    if not isinstance(name, str) or name not in BUNDLED:
        raise DataError(f"there is no bundled data set {name!r}. {nearest(name, BUNDLED)}")
    item = BUNDLED[name]
    with as_file(files(__name__) / item.file) as path:
        if item.rates:
            return item.measured_rates(path)
        data = load(path, time=item.time, trajectory=item.trajectory)
    assert isinstance(data, Trajectories)
    return data
