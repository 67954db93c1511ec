"""One compressed regression: equations that share their rows and their candidate terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from exactsindy.errors import ProblemError
from exactsindy.problem.column_names import TermLike, as_target_names, as_terms
from exactsindy.problem.compress import Matrix, column_norms

# Below this norm a column of doubles has too few digits left above the smallest double (2**-1074).
_SMALLEST_NORM = 2.0**-960
# Objectives are squares of the norm of a target, and coefficients ratios of norms: both must be ordinary doubles.
_LARGEST_TARGET = 2.0**480
_LARGEST_RATIO = 960.0  # as a power of two


@dataclass(frozen=True, eq=False, repr=False)
class Block:
    """The triangular factor R of [Theta Y] with the names of its columns.

    With ``z, rest = block.target(j)``, coefficients xi leave  RSS = |z - R_theta xi|^2 + |rest|^2. The factor is stored
    as read-only C-contiguous doubles with a diagonal >= 0 (rows are negated where needed); rows beyond `n_samples` must
    be exactly zero. Norms of columns must be 0 or lie between 2**-960 (about 1e-289) and the largest double (about
    1.8e308), those of targets between 2**-480 and 2**480 (about 3e-145 and 3e144), so that objectives are ordinary
    doubles, and the two at most a factor 2**960 apart, so that coefficients are.
    """

    factor: Matrix  # upper triangular, (D+m, D+m)
    n_samples: int  # rows of data with a positive weight
    terms: tuple[TermLike, ...]  # D distinct terms: objects with a `name`, or strings
    target_names: tuple[str, ...]  # m distinct names

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", as_terms(self.terms, len(self.terms)))
        object.__setattr__(self, "target_names", as_target_names(self.target_names, len(self.target_names)))
        if not self.terms or not self.target_names:
            raise ProblemError("a Block needs at least one term and one target.")
        if isinstance(self.n_samples, bool) or not isinstance(self.n_samples, int | np.integer) or self.n_samples < 0:
            raise ProblemError(f"n_samples is {self.n_samples!r}: expected an integer >= 0.")
        object.__setattr__(self, "n_samples", int(self.n_samples))
        object.__setattr__(self, "factor", self._checked_factor())

    def _checked_factor(self) -> Matrix:
        factor = np.array(self.factor, dtype=np.float64, order="C")
        width = len(self.terms) + len(self.target_names)
        if factor.shape != (width, width):
            raise ProblemError(
                f"factor has shape {factor.shape}: expected ({width}, {width}) for {len(self.terms)} terms "
                f"and {len(self.target_names)} targets."
            )
        self._check_representable(factor)
        if np.tril(factor, -1).any():
            raise ProblemError("factor is not upper triangular: pass the R of a QR factorisation.")
        if factor[self.n_samples :].any():
            raise ProblemError(f"factor has nonzero rows beyond its n_samples = {self.n_samples}.")
        factor[np.diag(factor) < 0] *= -1.0
        factor += 0.0  # no negative zeros: equal numbers shall have equal fingerprints
        factor.flags.writeable = False
        return factor

    def _check_representable(self, factor: Matrix) -> None:
        if np.isnan(factor).any():
            raise ProblemError("factor has NaN entries.")
        norms = column_norms(np.where(np.isinf(factor), 0.0, factor))
        labels = (*self.names, *self.target_names)
        refuse_columns(np.isinf(norms) | np.isinf(factor).any(axis=0), labels, "large")
        refuse_columns((norms > 0) & (norms < _SMALLEST_NORM), labels, "small")
        self._check_targets(norms[: len(self.terms)], norms[len(self.terms) :])

    def _check_targets(self, terms: Matrix, targets: Matrix) -> None:
        for name, norm in zip(self.target_names, targets, strict=True):
            if norm == 0:
                continue
            if not 1 / _LARGEST_TARGET <= norm <= _LARGEST_TARGET:
                size, limit, cure = (
                    ("large", "above 3e144", "divide") if norm > 1 else ("small", "below 3e-145", "multiply")
                )
                raise ProblemError(
                    f"target {name!r} is too {size} (norm {norm:.3g}, {limit}): its square is not an ordinary double; "
                    f"{cure} it by a power of ten."
                )
            ratio = np.log2(norm) - np.log2(np.where(terms > 0, terms, norm))
            if np.any(np.abs(ratio) > _LARGEST_RATIO):
                j = int(np.argmax(np.abs(ratio)))
                raise ProblemError(
                    f"target {name!r} (norm {norm:.3g}) and term {self.names[j]!r} (norm {terms[j]:.3g}) are too far "
                    "apart: a coefficient between them is not an ordinary double; scale one of them by a power of ten."
                )

    def __repr__(self) -> str:
        return f"Block({', '.join(self.target_names)}; {len(self.terms)} terms; {self.n_samples} samples)"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the terms."""
        return tuple(term.name for term in self.terms)

    def parts_for_digest(self) -> Iterator[bytes]:
        """Yield everything that identifies the block, lengths first so that no two blocks read the same."""
        yield f"|{self.n_samples},{len(self.terms)},{len(self.target_names)}".encode()
        for name in (*self.names, *self.target_names):
            text = name.encode("utf-8", "surrogatepass")
            yield f"|{len(text)}:".encode() + text
        yield self.factor.astype("<f8").tobytes()

    @property
    def theta_factor(self) -> Matrix:
        """The part of the factor that belongs to the terms, (D, D), a view."""
        return self.factor[: len(self.terms), : len(self.terms)]

    @cached_property
    def column_norms(self) -> Matrix:
        """The 2-norms of the columns of Theta, (D,)."""
        norms = column_norms(self.theta_factor)
        norms.flags.writeable = False
        return norms

    @cached_property
    def target_squares(self) -> tuple[float, ...]:
        """The squared norms of the targets."""
        targets = self.factor[:, len(self.terms) :]
        return tuple(np.einsum("ij,ij->j", targets, targets).tolist())

    def target(self, j: int) -> tuple[Matrix, Matrix]:
        """Return (z, rest) of target `j`: its column over the rows of the terms, and below them."""
        if not 0 <= j < len(self.target_names):
            raise ProblemError(f"target {j} asked of a block with {len(self.target_names)} targets.")
        column = self.factor[:, len(self.terms) + j]
        return column[: len(self.terms)], column[len(self.terms) :]

    def rss(self, j: int, coef: Matrix) -> float:
        """Return the residual sum of squares of target `j` for coefficients (D,), maybe infinite."""
        z, rest = self.target(j)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            residual = np.concatenate([z - self.theta_factor @ coef, rest])
            value = float(residual @ residual)
        return value if value == value else np.inf


def refuse_columns(bad: npt.NDArray[np.bool_], labels: Sequence[str], size: Literal["large", "small"]) -> None:
    """Refuse the `bad` columns, if any, as too large or too small for doubles."""
    if bad.any():
        listed = ", ".join(repr(labels[j]) for j in np.flatnonzero(bad)[:5])
        more = f" and {int(bad.sum()) - 5} more" if bad.sum() > 5 else ""
        limit, cure = ("above 1.8e308", "divide") if size == "large" else ("below 1e-289", "multiply")
        raise ProblemError(
            f"columns too {size} for doubles: {listed}{more} (norm {limit}); {cure} them by a power of ten."
        )
