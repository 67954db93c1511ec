"""What the methods that stand in modules of their own need of a model."""

from __future__ import annotations

from typing import Protocol

from exactsindy.library import Variables
from exactsindy.model.equation import Equation


class ModelLike(Protocol):
    """Equations with the variables that they use: a `Model`, which takes these methods as its own."""

    @property
    def rows(self) -> tuple[Equation, ...]:
        """The equations."""

    @property
    def variables(self) -> Variables:
        """The variables of the data."""

    @property
    def target_names(self) -> tuple[str, ...]:
        """The left sides of the equations."""

    @property
    def is_field(self) -> bool:
        """True for equations of fields."""

    @property
    def is_map(self) -> bool:
        """True for a map, which is iterated."""
