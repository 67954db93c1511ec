"""The proof of the chosen equations in a folder, together with the problem that it is about."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from exactsindy._atomic import replacing
from exactsindy.data import Notice
from exactsindy.errors import DataError, SolverError
from exactsindy.solver import Settings, Solution, Status, solve

#: The files: ``exactsindy check FOLDER/solution.proof`` finds the problem beside the proof.
PROOF, PROBLEM = "solution.proof", "problem.npz"


def check_request(folder: str | os.PathLike[str] | None) -> Path | None:
    """Return the folder for a proof, or refuse it before any work is done."""
    if folder is None:
        return None
    if not isinstance(folder, (str, os.PathLike)):
        raise DataError(f"discover(proof=...): got {type(folder).__name__}; expected the name of a folder.")
    if Path(folder).exists() and not Path(folder).is_dir():
        raise DataError(f"discover(proof={str(folder)!r}): this is a file; expected the name of a folder.")
    return Path(folder)


def write_proof(solution: Solution, constraints: Sequence[Any], folder: Path, settings: Settings) -> tuple[Notice, ...]:
    """Search once more, and put the proof and its problem into a folder at once; a notice says why there is none."""
    if Status.REFITTED in solution.status:
        stated = zip(solution.terms, solution.status, strict=True)
        names = [name for name, status in stated if status is Status.REFITTED]
        return (_none(f"the terms of {', '.join(names)} are the simplest of several, not the best of their size."),)
    if not solution.optimal:
        return (_none("the equations are not proved."),)
    problem, k, ridge = solution.problem, solution.k, solution.ridge
    with replacing(folder) as place, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        file = place / PROOF
        try:
            solve(problem, k, ridge=ridge, constraints=constraints, start=solution, settings=settings, proof=file)
        except SolverError as error:
            return (_none(str(error), file),)
        if file.exists():
            problem.save(place / PROBLEM)
            return ()
    return (_none(str(said[-1].message) if said else "the search did not end.", file),)


def _none(reason: str, file: Path | None = None) -> Notice:
    reason = reason.removeprefix(f"proof={str(file)!r}: ").removeprefix("no proof was written, because ")
    return Notice("proof", f"There is no proof file: {reason}")
