"""An independent checker of the proof files of exactsindy. It uses NumPy and nothing of exactsindy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exactsindy_check.checking import Report, SectionReport, check, progress_lines

__all__ = ["Report", "SectionReport", "check", "progress_lines"]


def __getattr__(name: str) -> Any:
    """Load the checker when it is needed: the command says how many threads NumPy has before NumPy is loaded."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from exactsindy_check import checking

    return getattr(checking, name)
