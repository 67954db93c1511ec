"""Finding an entry of a catalogue by the name a user gives it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TypeVar

from exactsindy.errors import DataError

Entry = TypeVar("Entry")


def by_name(name: str, catalogue: Mapping[str, Entry], kind: str) -> Entry:
    """Return the entry of that name; case, blanks and hyphens do not matter. The error lists the nearest names."""
    key = name.strip().lower().replace(" ", "_").replace("-", "_")
    if key in catalogue:
        return catalogue[key]
    nearest = difflib.get_close_matches(key, catalogue, n=3, cutoff=0.5)
    advice = f"did you mean {' or '.join(nearest)}?" if nearest else f"expected one of {', '.join(catalogue)}."
    raise DataError(f"name: there is no {kind} {name!r}; {advice}")
