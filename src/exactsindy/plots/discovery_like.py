"""The part of a `Discovery` that plots and reports read; they stand before it, so they cannot import it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from exactsindy.data import Data, Notice
from exactsindy.model import InnerConstant, Model
from exactsindy.problem import Problem
from exactsindy.selection import Selection
from exactsindy.solver import Pool, Solution


class DiscoveryLike(Protocol):
    """A model with its proof, its rivals and its data; `exactsindy.Discovery` is one."""

    @property
    def model(self) -> Model:
        """The equations."""

    @property
    def selection(self) -> Selection:
        """How the sizes were chosen."""

    @property
    def problem(self) -> Problem:
        """The regression that was solved."""

    @property
    def pool(self) -> Pool | None:
        """The best supports of the chosen sizes."""

    @property
    def warnings(self) -> tuple[Notice, ...]:
        """What to be careful about."""

    @property
    def data(self) -> Data:
        """What was measured."""

    @property
    def solution(self) -> Solution:
        """The coefficients shown, with what is proved about them."""

    @property
    def shares(self) -> Mapping[str, Mapping[str, float]]:
        """How large each term is beside the right-hand side, by equation."""

    @property
    def constants(self) -> tuple[InnerConstant, ...]:
        """The constants inside terms that were fitted to the data."""

    @property
    def tried(self) -> tuple[str, ...]:
        """What was tried to find the library, in words."""

    @property
    def arguments(self) -> Mapping[str, str]:
        """What was asked for, as text, by name."""

    @property
    def residuals(self) -> Mapping[str, float]:
        """The residual of each equation in units of the noise, where it was computed."""

    @property
    def noise(self) -> Mapping[str, float]:
        """The noise of each state, where it was estimated."""

    @property
    def held_out(self) -> Mapping[str, float | None]:
        """How well each equation fits data that its coefficients were not fitted to."""
