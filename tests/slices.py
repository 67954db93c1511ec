"""Which cases of a test every run takes, and which only the long campaigns of `make check`."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def first(few: int, cases: Iterable[object]) -> list[object]:
    """Return all cases for ``parametrize``; those after the first few belong to the campaigns."""
    return [case if i < few else pytest.param(case, marks=pytest.mark.campaign) for i, case in enumerate(cases)]
