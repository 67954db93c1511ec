"""What a form is: how a regression is built from data, and what else the form offers."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from exactsindy.data import Data
from exactsindy.errors import ProblemError
from exactsindy.forms.base import TrialLike
from exactsindy.forms.increment.smoothing import Smoothed
from exactsindy.forms.modal.mode_smoothing import SmoothedField
from exactsindy.forms.modal.windowed_field import WindowedField
from exactsindy.forms.rows import Whiteness
from exactsindy.library import Library
from exactsindy.problem import Problem


@runtime_checkable
class Form(Protocol):
    """How a regression is built from data.

    `problem` and `folds` must be written. The other members say what a form offers beyond the regression; a form that
    inherits from this class offers none of it unless it says so.
    """

    def problem(self, data: Data, library: Library) -> Problem:
        """Return the regression of all equations of the data over the library: the sum of the `folds`."""

    def folds(self, data: Data, library: Library, count: int) -> tuple[Problem, ...]:
        """Return ``count`` problems, contiguous in time, whose sum is `problem`."""

    @property
    def smoothed(self) -> Smoothed | SmoothedField | WindowedField | None:
        """Return the smoothed data that the form was given, to which trajectories can be fitted; None by default."""
        return None

    @property
    def whitened(self) -> bool:
        """Return True if a trial model whitens the rows, so that `whiteness` means something; False by default."""
        return False

    def whiteness(self, data: Data, library: Library, coef: TrialLike) -> Whiteness:
        """Return the size and the correlation of a model's whitened residuals; by default refuse."""
        raise ProblemError(
            f"{type(self).__name__}.whiteness: the rows of this form are not whitened; use IncrementForm, ModalForm or "
            "WeakForm with model=..."
        )
