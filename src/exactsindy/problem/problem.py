"""Problem: the regression of all equations, compressed once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from exactsindy.errors import DataError, ProblemError
from exactsindy.problem.block import Block
from exactsindy.problem.build import compress_chunks, compress_gram
from exactsindy.problem.checks import as_coefficients
from exactsindy.problem.column_names import TermLike, check_names, find_target
from exactsindy.problem.combine import add_blocks, weigh_blocks
from exactsindy.problem.compress import Matrix
from exactsindy.problem.storage import read_blocks, write_blocks


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """Sparse regression  min |y_j - Theta xi|^2  for each target j, stored as triangular factors.

    The size does not depend on the number of samples. ``p + q`` is the problem of both data sets, ``w * p`` weights all
    squared residuals by w. Both agree with the problem of all rows up to rounding in R'R (compare R'R, never R).

    Parameters
    ----------
    blocks :
        One block, or several where equations have different libraries or rows. Target names are distinct over all
        blocks; terms of the same name are the same term.

    Examples
    --------
    >>> x = np.linspace(0.0, 1.0, 50)
    >>> theta = np.column_stack([x, x**2])
    >>> problem = Problem.from_arrays(theta, 3 * x, names=["x", "x^2"], target_names=["x'"])
    >>> problem
    Problem(x'; 2 terms; 50 samples)
    >>> bool(problem.rss([[3.0, 0.0]])[0] < 1e-28)
    True
    """

    blocks: tuple[Block, ...]

    # NumPy scalars and arrays on the left leave `w * p` to this class.
    __array_ufunc__: ClassVar[None] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", tuple(self.blocks))
        if not self.blocks:
            raise ProblemError("a Problem needs at least one block.")
        for i, block in enumerate(self.blocks):
            if not isinstance(block, Block):
                raise ProblemError(f"blocks[{i}] is of type {type(block).__name__}: expected a Block.")
        check_names("target_names", self.target_names, len(self.target_names), "targets")

    @classmethod
    def from_arrays(
        cls,
        theta: npt.ArrayLike,
        targets: npt.ArrayLike,
        *,
        names: Iterable[str | TermLike] | None = None,
        target_names: Iterable[str] | None = None,
        weights: npt.ArrayLike | None = None,
    ) -> Problem:
        """Compress a library matrix and its targets to one block.

        Parameters
        ----------
        theta :
            Library matrix, (n, D); real numbers of any type and order, converted to double a block of rows at a time.
        targets :
            Left-hand sides, (n,) or (n, m).
        names :
            D names or terms; ``theta0, theta1, ...`` if left out.
        target_names :
            m names such as ``x'``; ``y0', y1', ...`` if left out.
        weights :
            (n,) numbers >= 0 that multiply the squared residuals. Rows of weight 0 are left out: they are neither
            checked nor counted in `n_samples`.

        Raises
        ------
        ProblemError
            If shapes, types or names do not fit, a value is NaN or infinite, no row is left, or the norm of a
            column is too large or too small for doubles (see `Block`).

        Examples
        --------
        >>> Problem.from_arrays([[1, 0], [1, 1], [1, 2]], [1, 3, 5]).names
        ('theta0', 'theta1')
        """
        chunk = (theta, targets) if weights is None else (theta, targets, weights)
        return cls((compress_chunks([chunk], names, target_names, numbered=False),))

    @classmethod
    def from_chunks(
        cls,
        chunks: Iterable[tuple[npt.ArrayLike, ...]],
        *,
        names: Iterable[str | TermLike] | None = None,
        target_names: Iterable[str] | None = None,
    ) -> Problem:
        """Compress a stream of rows to one block, one chunk in memory at a time.

        Gives the same doubles as `from_arrays` of all rows, however they are cut.

        Parameters
        ----------
        chunks :
            Tuples ``(theta, targets)`` or ``(theta, targets, weights)``, as for `from_arrays`; they may be empty.
        names, target_names :
            As for `from_arrays`.

        Raises
        ------
        ProblemError
            As for `from_arrays`, naming the chunk; if there is no chunk, or their widths differ.

        Examples
        --------
        >>> chunks = ((np.ones((5, 1)) * i, np.ones(5)) for i in range(4))
        >>> Problem.from_chunks(chunks).n_samples
        20
        """
        return cls((compress_chunks(chunks, names, target_names, numbered=True),))

    @classmethod
    def from_gram(
        cls,
        gram: npt.ArrayLike,
        moments: npt.ArrayLike,
        target_square: npt.ArrayLike,
        n_samples: int,
        *,
        names: Iterable[str | TermLike] | None = None,
        target_names: Iterable[str] | None = None,
    ) -> Problem:
        """Build a problem from products of columns: less accurate, for where no rows are left.

        Forming products squares the condition number: residuals below about 1e-8 |y| and directions of Theta below
        about 1e-8 of its columns are lost, and nothing done here can bring them back. If the matrix is singular up to
        rounding, its negative eigenvalues (columns scaled to norm 1) are set to zero.

        Parameters
        ----------
        gram, moments :
            Theta'Theta, (D, D), and Theta'Y, (D,) or (D, m).
        target_square :
            Y'Y, (m, m); or its diagonal, (m,) or a number: then each target gets its own block, since nothing is known
            of the products between them.
        n_samples :
            Number of samples in the sums.
        names, target_names :
            As for `from_arrays`.

        Raises
        ------
        ProblemError
            If the shapes do not fit, a value is NaN or infinite, or the matrix is not symmetric, clearly indefinite or
            of higher rank than `n_samples`.

        Examples
        --------
        >>> problem = Problem.from_gram([[4.0]], [2.0], 5.0, n_samples=7)
        >>> float(round(problem.rss([[0.5]])[0], 12))
        4.0
        """
        return cls(compress_gram(gram, moments, target_square, n_samples, names, target_names))

    @classmethod
    def from_blocks(cls, problems: Iterable[Problem]) -> Problem:
        """Join problems of different equations (distinct targets), which may have different libraries and rows.

        Examples
        --------
        >>> p = Problem.from_arrays([[1.0], [2.0]], [1.0, 2.0], names=["x"], target_names=["x'"])
        >>> q = Problem.from_arrays([[3.0], [2.0]], [1.0, 2.0], names=["y"], target_names=["y'"])
        >>> Problem.from_blocks([p, q]).names
        ('x', 'y')
        """
        if isinstance(problems, Problem) or not isinstance(problems, Iterable):
            raise ProblemError(f"problems is of type {type(problems).__name__}: expected a sequence of Problems.")
        given = tuple(problems)
        for i, problem in enumerate(given):
            if not isinstance(problem, Problem):
                raise ProblemError(f"problems[{i}] is of type {type(problem).__name__}: expected a Problem.")
        return cls(tuple(block for problem in given for block in problem.blocks))

    @cached_property
    def terms(self) -> tuple[TermLike, ...]:
        """The terms of all blocks, in order of first appearance."""
        first: dict[str, TermLike] = {}
        for term in (term for block in self.blocks for term in block.terms):
            first.setdefault(term.name, term)
        return tuple(first.values())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of `terms`."""
        return tuple(term.name for term in self.terms)

    @cached_property
    def target_names(self) -> tuple[str, ...]:
        """The names of the targets of all blocks, in order."""
        return tuple(name for block in self.blocks for name in block.target_names)

    @property
    def n_samples(self) -> int:
        """The number of samples of the first block; `n_samples_of` gives that of any target."""
        return self.blocks[0].n_samples

    def n_samples_of(self, target: int | str) -> int:
        """Return the number of samples behind `target`."""
        return self.locate(target)[0].n_samples

    def locate(self, target: int | str) -> tuple[Block, int]:
        """Return the block of a target and its column there: ``(block, j)`` for use in ``block.target(j)``.

        A target is an index into `target_names`, a target name, or a bare state name: ``x`` for ``x'``, ``x''`` or
        ``x_t`` if only one of them exists.

        Examples
        --------
        >>> p = Problem.from_arrays([[1.0], [2.0]], [[1.0, 0.0], [2.0, 1.0]], target_names=["x'", "y'"])
        >>> p.locate("y")[1]
        1
        """
        j = find_target(target, self.target_names)
        for block in self.blocks:
            if j < len(block.target_names):
                return block, j
            j -= len(block.target_names)
        raise AssertionError("unreachable: target_names are those of the blocks")

    def columns(self, block: Block) -> npt.NDArray[np.intp]:
        """Return the indices of the terms of `block` in `terms`."""
        for own, _, columns in self._layout:
            if own is block:
                return columns
        raise ProblemError(f"{block!r} is not a block of {self!r}: pass one of problem.blocks.")

    @cached_property
    def _layout(self) -> tuple[tuple[Block, slice, npt.NDArray[np.intp]], ...]:
        """Each block with its rows (targets) and columns (terms) in an (m, D) array of coefficients."""
        position = {name: j for j, name in enumerate(self.names)}
        layout, start = [], 0
        for block in self.blocks:
            rows = slice(start, start + len(block.target_names))
            columns = np.array([position[name] for name in block.names], dtype=np.intp)
            columns.flags.writeable = False
            layout.append((block, rows, columns))
            start = rows.stop
        return tuple(layout)

    @cached_property
    def column_norms(self) -> Matrix:
        """The 2-norms of the columns of Theta: (D,) if one block, else (m, D), 0 where a term is absent."""
        if len(self.blocks) == 1:
            return self.blocks[0].column_norms
        norms = np.zeros((len(self.target_names), len(self.terms)))
        for block, rows, columns in self._layout:
            norms[rows, columns] = block.column_norms
        norms.flags.writeable = False
        return norms

    def rss(self, coef: npt.ArrayLike) -> Matrix:
        """Return the residual sum of squares of each target, (m,).

        The rounding error of the residual norm is of order eps (|y| + sum |xi_j| |theta_j|).
        A sum beyond the doubles is infinite.

        Parameters
        ----------
        coef :
            (m, D) coefficients over `terms`; (D,) if there is one target.

        Raises
        ------
        ProblemError
            If the shape does not fit, a value is not finite, or an equation does not have a term with a coefficient.

        Examples
        --------
        >>> p = Problem.from_arrays([[1.0], [2.0]], [1.0, 1.0])
        >>> float(round(p.rss([1.0])[0], 12))
        1.0
        """
        present = np.zeros((len(self.target_names), len(self.terms)), dtype=bool)
        for _, rows, columns in self._layout:
            present[rows, columns] = True
        values = as_coefficients(coef, present, self.target_names, self.names)
        return np.array(
            [block.rss(j, xi[columns]) for block, rows, columns in self._layout for j, xi in enumerate(values[rows])]
        )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of the stored doubles, the names of terms and targets, and the numbers of samples."""
        digest = hashlib.sha256(b"exactsindy problem 1")
        for block in self.blocks:
            for part in block.parts_for_digest():
                digest.update(part)
        return digest.hexdigest()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the problem as an npz file, to the bit; terms are stored by name.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> problem = Problem.from_arrays([[1.0], [2.0]], [1.0, 1.0], names=["x"])
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "problem.npz"
        >>> problem.save(file)
        >>> Problem.load(file).fingerprint == problem.fingerprint
        True
        """
        write_blocks(path, self.blocks, self.fingerprint)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Problem:
        """Read what `save` wrote; a file that is missing, damaged or no problem raises a DataError."""
        blocks, fingerprint = read_blocks(path)
        try:
            problem = cls(blocks)
        except ProblemError as error:
            raise DataError(f"{str(path)!r}: the file is damaged ({error}).") from error
        if problem.fingerprint != fingerprint:
            raise DataError(f"{str(path)!r}: the numbers are not those saved (fingerprints differ).")
        return problem

    def __add__(self, other: Problem) -> Problem:
        """Return the problem of both data sets; targets, terms and blocks must be the same."""
        if not isinstance(other, Problem):
            return NotImplemented
        return Problem(add_blocks(self.blocks, other.blocks))

    def __radd__(self, other: object) -> Problem:
        """Let ``sum(problems)`` start from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __mul__(self, weight: float) -> Problem:
        """Return the problem with all squared residuals times `weight`; weight 0 leaves no samples."""
        return Problem(weigh_blocks(weight, self.blocks))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        targets = ", ".join(self.target_names[:6]) + (", ..." if len(self.target_names) > 6 else "")
        counts = " / ".join(dict.fromkeys(str(block.n_samples) for block in self.blocks))
        blocks = f"; {len(self.blocks)} blocks" if len(self.blocks) > 1 else ""
        plural = "" if len(self.terms) == 1 else "s"
        return f"Problem({targets}; {len(self.terms)} term{plural}; {counts} samples{blocks})"
