"""The option --proof of solve, path and pool: a proof file, and beside it the problem that it is about."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from exactsindy.cli import output

Proof = Annotated[
    Path | None,
    typer.Option(help="Write a proof that `exactsindy check` checks; its problem goes to FILE.problem.npz."),
]


def problem_file(proof: Path) -> Path:
    """Return the file for the problem that a proof is about: ``a.problem.npz`` for ``a.proof``."""
    return proof.with_name(f"{proof.name.removesuffix('.proof')}.problem.npz")


@contextmanager
def proof_of(problem: Any, proof: Path | None) -> Iterator[None]:
    """Keep the problem beside the proof that is written in this block, and say where both are, or why they are not."""
    if proof is None:
        yield
        return
    beside = problem_file(proof)
    output.check_folders(proof, beside)
    before = _identity(proof)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        yield
    for warning in said:
        output.note(str(warning.message))
    if _identity(proof) != before:
        problem.save(beside)
        output.note(f"Proof: {proof}, about the problem in {beside}")


def _identity(file: Path) -> tuple[int, int] | None:
    """Return what tells a file from one that was there before under its name."""
    if not file.exists():
        return None
    about = file.stat()
    return about.st_ino, about.st_mtime_ns
