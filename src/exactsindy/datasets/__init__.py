"""Bundled data with their sources (see README.md beside the files)."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from exactsindy.errors import DataError, nearest

if TYPE_CHECKING:
    from exactsindy.data import Trajectories

# name -> (file, time column)
_FILES = {"lorenz": ("lorenz.csv", "t"), "lynx_hare": ("lynx_hare.csv", "year")}


def names() -> tuple[str, ...]:
    """Return the names of the bundled data sets."""
    return tuple(_FILES)


def dataset(name: str) -> Trajectories:
    """Load a bundled data set.

    Examples
    --------
    >>> from exactsindy.datasets import dataset
    >>> dataset("lorenz").state_names
    ('x', 'y', 'z')
    """
    from exactsindy.data import Trajectories, load

    if not isinstance(name, str) or name not in _FILES:
        raise DataError(f"there is no bundled data set {name!r}. {nearest(name, _FILES)}")
    file, time = _FILES[name]
    with as_file(files(__name__) / file) as path:
        data = load(path, time=time)
    assert isinstance(data, Trajectories)
    return data
