"""All constraints of a solution, read from their records by name.

For each kind of record `condition_kinds` says which supports it allows, which linear rows the coefficients of all terms
satisfy (0 for absent ones), how large present ones are, and which forms hold that are not linear.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from exactsindy.certificate.condition_kinds import read_meanings
from exactsindy.certificate.condition_names import Names
from exactsindy.certificate.condition_records import Meaning
from exactsindy.problem import Problem


@dataclass(frozen=True, eq=False)
class Conditions:
    """Several constraints on one problem, part by part: ``meanings[i]`` is a part of ``sources[i]``."""

    names: Names
    sources: tuple[Any, ...]
    meanings: tuple[Meaning, ...]

    @property
    def t_level(self) -> float:
        """The least |t| asked of present terms; 0: nothing."""
        return max((meaning.t_level for meaning in self.meanings), default=0.0)

    @property
    def forms(self) -> bool:
        """Whether something is asked that is not linear."""
        return any(meaning.forms for meaning in self.meanings)

    @property
    def unknown(self) -> list[str]:
        """Kinds that cannot be read."""
        pairs = zip(self.sources, self.meanings, strict=True)
        return sorted({type(source).__name__ for source, meaning in pairs if not meaning.known})

    def of(self, rows: Iterable[int]) -> Conditions:
        """Return what concerns some equations; what is about none stays (t levels)."""
        own = {v for e in rows for v in self.names.library[e]}
        keep = [i for i, m in enumerate(self.meanings) if not m.variables or m.variables & own]
        return replace(
            self, sources=tuple(self.sources[i] for i in keep), meanings=tuple(self.meanings[i] for i in keep)
        )

    def allows(self, present: frozenset[int]) -> bool:
        """Return True if no constraint on supports forbids this one."""
        return all(meaning.present is None or meaning.present(present) for meaning in self.meanings)


def read_conditions(problem: Problem, constraints: Sequence[Any]) -> Conditions:
    """Read constraints: records, or texts such as ``x': x + y == 0``."""
    names = Names(problem)
    parts = [(constraint, meaning) for constraint in constraints for meaning in read_meanings(names, constraint)]
    return Conditions(names, tuple(source for source, _ in parts), tuple(meaning for _, meaning in parts))
