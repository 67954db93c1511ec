"""Adding and weighting blocks: several data sets as one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real

import numpy as np

from exactsindy.errors import ProblemError
from exactsindy.problem.block import Block, refuse_columns
from exactsindy.problem.compress import merge_factors


def add_blocks(first: Sequence[Block], second: Sequence[Block]) -> tuple[Block, ...]:
    """Return the blocks of both data sets: those of the same targets are stacked and factored again."""
    matches = {block.target_names: block for block in second}
    if matches.keys() != {block.target_names for block in first}:
        raise ProblemError(
            f"cannot add problems with different targets: {_groups(first)} and {_groups(second)}. "
            "To join different equations use Problem.from_blocks."
        )
    return tuple(_add(block, matches[block.target_names]) for block in first)


def weigh_blocks(weight: object, blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return the blocks with all squared residuals times `weight`; weight 0 leaves no samples."""
    if isinstance(weight, bool | np.bool_) or not isinstance(weight, Real):
        kind = type(weight).__name__
        raise ProblemError(f"a Problem was multiplied by {weight!r} of type {kind}: expected a number >= 0.")
    try:
        value = float(weight)
    except OverflowError:
        value = math.inf
    if not (math.isfinite(value) and value >= 0):
        raise ProblemError(f"a Problem was multiplied by {value}: expected a finite number >= 0.")
    return tuple(_weigh(math.sqrt(value), block) for block in blocks)


def _weigh(root: float, block: Block) -> Block:
    with np.errstate(over="ignore", under="ignore"):
        factor = root * block.factor
    if root > 0:
        vanished = np.logical_and(block.factor.any(axis=0), ~factor.any(axis=0))
        refuse_columns(vanished, (*block.names, *block.target_names), "small")
    return replace(block, factor=factor, n_samples=block.n_samples if root > 0 else 0)


def _add(first: Block, second: Block) -> Block:
    if first.names != second.names:
        pairs = enumerate(zip(first.names, second.names, strict=False))
        differing = [f"term {j} is {a!r} and {b!r}" for j, (a, b) in pairs if a != b]
        found = differing[0] if differing else f"{len(first.names)} and {len(second.names)} terms"
        raise ProblemError(
            f"cannot add problems with different terms: for {', '.join(first.target_names)} {found}. "
            "Build both from the same library, in the same order."
        )
    factor = merge_factors(first.factor, second.factor)
    return replace(first, factor=factor, n_samples=first.n_samples + second.n_samples)


def _groups(blocks: Sequence[Block]) -> str:
    return " | ".join(", ".join(block.target_names) for block in blocks)
