"""The library with functions beside it that it lacks, and where the terms chosen stand in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Trajectories
from exactsindy.discovery.outside_terms import outside_terms
from exactsindy.forms import EquationGroup, groups, with_rates
from exactsindy.library import Library, Terms
from exactsindy.selection import Additions, LackOfFit, Selection
from exactsindy.solver import Solution

# At most this many samples are tested: with more the tests would notice errors of the rows that matter to nobody, and
# their thresholds were fitted to 200 to 5,000 samples. Numbers in the columns of all equations together are limited as
# well; where that leaves fewer than the last number of samples, there is no test.
_SAMPLES, _NUMBERS, _FEWEST = 5000, 8_000_000, 100


@dataclass(frozen=True)
class Places:
    """Columns of the wide library of one equation: their names, those of the terms chosen and of functions."""

    names: tuple[str, ...]
    support: tuple[int, ...]
    outside: tuple[int, ...]
    complexity: tuple[int, ...]
    degrees: tuple[int, ...]  # -1 where a term is no monomial


@dataclass(frozen=True, eq=False)
class WideLibrary:
    """The equations chosen, their library, and the library with functions beside it."""

    data: Trajectories
    library: Library
    wide: Library
    selection: Selection

    @classmethod
    def of(cls, data: Trajectories, library: Library, selection: Selection) -> WideLibrary:
        """Return the library with functions at the scale of the data, of velocities too where equations are for x''."""
        space = with_rates(data)
        inside = {term for group in groups(data, library) for term in group.features.terms}
        every = outside_terms(space.state_names, np.vstack([member.states for member in space]))
        functions = [term for term in every if term not in inside]
        return cls(data, library, library + Terms(functions) if functions else library, selection)

    @cached_property
    def groups(self) -> tuple[EquationGroup, ...]:
        """The equations with the wide library."""
        return groups(self.data, self.wide)

    @cached_property
    def samples(self) -> int:
        """The largest number of samples to test; 0 if there are too many columns for any test."""
        columns = sum(len(group.features.terms) * len(group.targets) for group in self.groups)
        most = min(_SAMPLES, _NUMBERS // columns)
        return most if most >= _FEWEST else 0

    @cached_property
    def places(self) -> dict[str, Places]:
        """The columns of every equation."""
        found = {}
        for group in self.groups:
            names = group.features.names
            for name in group.target_names:
                inside = set(self.inside(name))
                support = sorted(names.index(term) for term in self.selection.solution.terms[name])
                outside = tuple(j for j, term in enumerate(names) if term not in inside)
                complexity = tuple(term.complexity for term in group.features.terms)
                degrees = tuple(term.degree if term.polynomial else -1 for term in group.features.terms)
                found[name] = Places(names, tuple(support), outside, complexity, degrees)
        return found

    def inside(self, name: str) -> tuple[str, ...]:
        """Return the terms of the library of an equation."""
        return self.library.for_equation(name).bind(self.data).names

    def coefficients(self, model: Solution) -> Array:
        """Return the coefficients of a model over the wide library (equations x terms)."""
        names = list(dict.fromkeys(name for group in self.groups for name in group.features.names))
        coef = np.zeros((len(model.coef), len(names)))
        coef[:, [names.index(name) for name in model.problem.names]] = model.coef
        return coef


def with_additions(lack: LackOfFit, added: Additions, names: Sequence[str]) -> LackOfFit:
    """Return a test with what additions say, where that speaks more against the law."""
    if added.advantage > lack.advantage:
        lack = replace(lack, advantage=added.advantage, function=names[added.column])
    if added.saved > lack.saved:
        replaced = tuple(names[j] for j in added.replaced)
        lack = replace(lack, saved=added.saved, replacement=names[added.replacement], replaced=replaced)
    if added.swapped > lack.swapped:
        lack = replace(lack, swapped=added.swapped, other=names[added.other], out=names[added.out])
    if added.imitation > lack.imitation:
        imitated = tuple(names[j] for j in added.imitated)
        lack = replace(lack, imitation=added.imitation, imitator=names[added.imitator], imitated=imitated)
    return lack
