"""Warnings as people read them: what is said of many equations is said once."""

from __future__ import annotations

from collections.abc import Iterable

from exactsindy.data import Notice
from exactsindy.errors import listed


def messages(notices: Iterable[Notice]) -> tuple[str, ...]:
    """Return the sentences of warnings in their order; those that differ by the equation alone are one sentence."""
    equations: dict[str, list[str]] = {}
    for notice in notices:
        prefix = f"{notice.equation}: "
        own = notice.equation is not None and notice.message.startswith(prefix)
        names = equations.setdefault(notice.message.removeprefix(prefix) if own else notice.message, [])
        if own and notice.equation is not None:
            names.append(notice.equation)
    return tuple(f"{listed(names)}: {text}" if names else text for text, names in equations.items())
