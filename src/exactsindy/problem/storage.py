"""Problems as npz files: the triangular factors and the names, no objects."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from exactsindy._atomic import write_atomically
from exactsindy._files import read_arrays, reason
from exactsindy.errors import DataError, ExactSindyError
from exactsindy.problem.block import Block
from exactsindy.problem.column_names import as_terms

_FORMAT = "exactsindy problem 1"


def write_blocks(path: str | os.PathLike[str], blocks: Sequence[Block], fingerprint: str) -> None:
    """Write the blocks of a problem, to the bit; terms are stored by name."""
    arrays: dict[str, Any] = {"format": np.array(_FORMAT), "fingerprint": np.array(fingerprint)}
    for i, block in enumerate(blocks):
        arrays[f"factor{i}"] = block.factor
        arrays[f"samples{i}"] = np.array(block.n_samples)
        arrays[f"terms{i}"] = np.array(block.names)
        arrays[f"targets{i}"] = np.array(block.target_names)
    buffer = io.BytesIO()
    try:
        np.savez_compressed(buffer, **arrays)
    except ValueError as error:  # Ctrl-C in the middle: the archive cannot be closed then
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None
        raise
    write_atomically(path, buffer.getvalue())


def read_blocks(path: str | os.PathLike[str]) -> tuple[tuple[Block, ...], str]:
    """Return the blocks that `write_blocks` wrote, and the fingerprint written with them."""
    arrays = read_arrays(path)
    if str(arrays.get("format")) != _FORMAT:
        raise DataError(f"{str(path)!r}: this is not a problem written by Problem.save.")
    try:
        count = sum(name.startswith("factor") for name in arrays)
        return tuple(_block(arrays, i) for i in range(count)), str(arrays["fingerprint"])
    except (ArithmeticError, LookupError, TypeError, ValueError, ExactSindyError) as error:
        raise DataError(f"{str(path)!r}: the file is damaged ({reason(error)}).") from error


def _block(arrays: dict[str, Any], i: int) -> Block:
    terms, targets = tuple(map(str, arrays[f"terms{i}"])), tuple(map(str, arrays[f"targets{i}"]))
    return Block(arrays[f"factor{i}"], int(arrays[f"samples{i}"]), as_terms(terms, len(terms)), targets)
