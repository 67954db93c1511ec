"""Building blocks of a problem from rows or products."""

from __future__ import annotations

from collections.abc import Iterable

import numpy.typing as npt

from exactsindy.errors import ProblemError
from exactsindy.problem.block import Block, refuse_columns
from exactsindy.problem.checks import as_rows, as_weights, check_finite
from exactsindy.problem.column_names import TermLike, as_target_names, as_terms
from exactsindy.problem.compress import Matrix, Numbers, RowCompressor
from exactsindy.problem.gram import factors_of_gram

Names = Iterable[str | TermLike] | None
TargetNames = Iterable[str] | None
Chunk = tuple[npt.ArrayLike, ...]


def compress_chunks(chunks: Iterable[Chunk], names: Names, target_names: TargetNames, *, numbered: bool) -> Block:
    """Compress chunks ``(theta, targets[, weights])``; errors name the chunk if `numbered`."""
    if not isinstance(chunks, Iterable):
        raise ProblemError(
            f"chunks is of type {type(chunks).__name__}: expected an iterable of (theta, targets) tuples."
        )
    collector = Collector(names, target_names)
    for i, chunk in enumerate(chunks):
        try:
            collector.add(chunk)
        except ProblemError as error:
            if not numbered:
                raise
            raise ProblemError(f"chunk {i}: {error}") from error
    return collector.block()


class Collector:
    """Compresses chunks ``(theta, targets[, weights])`` that are handed over one by one.

    For forms that make the rows of several problems together; otherwise `Problem.from_chunks` is simpler.
    """

    def __init__(self, names: Names, target_names: TargetNames) -> None:
        self._names, self._target_names = names, target_names
        self._compressor: RowCompressor | None = None
        self._terms: tuple[TermLike, ...] = ()
        self._labels: tuple[str, ...] = ()

    def add(self, chunk: object) -> None:
        """Take in the rows of a chunk; after an error the collector must not be used any more."""
        theta, targets, weights = _as_rows(chunk)
        if self._compressor is None:
            self._terms = as_terms(self._names, theta.shape[1])
            self._labels = as_target_names(self._target_names, targets.shape[1])
            self._compressor = RowCompressor(len(self._terms) + len(self._labels))
        if (theta.shape[1], targets.shape[1]) != (len(self._terms), len(self._labels)):
            raise ProblemError(
                f"{theta.shape[1]} terms and {targets.shape[1]} targets after chunks of {len(self._terms)} "
                f"terms and {len(self._labels)} targets: all chunks need the same columns."
            )
        if not self._compressor.append(theta, targets, weights):
            check_finite(theta, "theta", [term.name for term in self._terms], weights)
            check_finite(targets, "targets", self._labels, weights)
            raise ProblemError(
                "theta or targets times the root of weights is too large for doubles (above 1.8e308): scale the "
                "weights down."
            )

    def block(self) -> Block:
        """Return the block of all rows. The last call to make."""
        if self._compressor is None:
            raise ProblemError("chunks is empty: expected at least one (theta, targets).")
        if self._compressor.n_rows == 0:
            raise ProblemError("theta has no rows (of positive weight): expected at least one sample.")
        factor = self._compressor.factor()
        refuse_columns(self._compressor.vanished, [*(term.name for term in self._terms), *self._labels], "small")
        return Block(factor, self._compressor.n_rows, self._terms, self._labels)


def compress_gram(
    gram: npt.ArrayLike,
    moments: npt.ArrayLike,
    target_square: npt.ArrayLike,
    n_samples: int,
    names: Names,
    target_names: TargetNames,
) -> tuple[Block, ...]:
    """Build one block from all products of columns, or one per target if only their squares are known."""
    factors, m = factors_of_gram(gram, moments, target_square, n_samples)
    per_block = m // len(factors)
    terms = as_terms(names, len(factors[0]) - per_block)
    labels = as_target_names(target_names, m)
    groups = [labels[start : start + per_block] for start in range(0, m, per_block)]
    return tuple(Block(factor, n_samples, terms, group) for factor, group in zip(factors, groups, strict=True))


def _as_rows(chunk: object) -> tuple[Numbers, Numbers, Matrix | None]:
    if not isinstance(chunk, tuple | list) or len(chunk) not in (2, 3):
        size = f" of length {len(chunk)}" if isinstance(chunk, tuple | list) else ""
        raise ProblemError(
            f"got a {type(chunk).__name__}{size}: expected a tuple (theta, targets) or (theta, targets, weights)."
        )
    theta, targets = as_rows(chunk[0], chunk[1])
    given = chunk[2] if len(chunk) == 3 else None
    return theta, targets, None if given is None else as_weights(given, len(theta))
