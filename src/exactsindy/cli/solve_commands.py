"""solve, path, pool: regressions that exist already, from a file."""

from __future__ import annotations

import json as codec
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exactsindy.cli import options, output
from exactsindy.cli.progress import progress
from exactsindy.cli.proof_option import Proof, proof_of

if TYPE_CHECKING:
    from exactsindy.solver import Settings

File = Annotated[
    Path, typer.Argument(help="npz with `theta` and `targets`, a saved problem, or a CSV file.", show_default=False)
]
Targets = Annotated[str | None, typer.Option(help="CSV: columns that are targets; the others are terms.")]


def read_problem(file: Path, targets: str | None) -> Any:
    """Return the regression in a file: a saved problem, arrays theta and targets, or columns of a table."""
    from exactsindy._files import read_arrays
    from exactsindy.data import read_csv
    from exactsindy.problem import Problem

    if file.suffix.lower() == ".npz":
        arrays = read_arrays(file)
        if "format" in arrays:
            return Problem.load(file)
        missing = [name for name in ("theta", "targets") if name not in arrays]
        if missing:
            output.fail(f"{file.name} has no array {missing[0]!r}; it has {', '.join(arrays)}.")
        called = {key: list(map(str, arrays[key])) for key in ("names", "target_names") if key in arrays}
        return Problem.from_arrays(arrays["theta"], arrays["targets"], **called)
    import numpy as np

    columns, notices = read_csv(file)
    for notice in notices:
        output.note(str(notice))
    wanted = options.names(targets)
    if not wanted:
        output.fail(f"{file.name}: say which columns are targets, e.g. --targets {list(columns)[-1]}.")
    unknown = [name for name in wanted if name not in columns]
    if unknown:
        output.fail(f"--targets: {file.name} has no column {unknown[0]!r}; it has {', '.join(columns)}.")
    text = [name for name, column in columns.items() if column.dtype.kind not in "fi"]
    if text:
        output.fail(f"{file.name}: column {text[0]!r} holds text; expected numbers.")
    terms = [name for name in columns if name not in wanted]
    if not terms:
        output.fail(f"{file.name}: every column is a target; expected some that are terms.")
    theta, left = (np.column_stack([columns[name] for name in group]) for group in (terms, wanted))
    return Problem.from_arrays(theta, left, names=terms, target_names=wanted)


def solve(
    file: File,
    k: Annotated[str, typer.Option(help="Number of terms: 3, or \"x'=2,y'=3\".")],
    targets: Targets = None,
    constraint: options.Constraints = None,
    ridge: options.Ridge = 0.0,
    seconds: options.Seconds = 60.0,
    threads: options.Threads = None,
    proof: Proof = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    r"""Solve a regression for a given number of terms.

    \b
    Examples:
      exactsindy solve regression.npz --k 3
      exactsindy solve table.csv --targets y --k 2 --json
      exactsindy solve regression.npz --k 3 --proof three.proof && exactsindy check three.proof
    """
    from exactsindy.solver import solve as run

    problem = read_problem(file, targets)
    with proof_of(problem, proof):
        with _limits(seconds, threads, quiet=quiet) as settings:
            rules = options.constraints(constraint)
            solution = run(problem, options.sizes(k), ridge=ridge, constraints=rules, settings=settings, proof=proof)
        output.show(_certificates(solution), json, lambda: str(solution))
    output.finish(output.ending(solution.status))


def path(
    file: File,
    k_max: Annotated[int, typer.Option(min=0, help="Largest number of terms.")] = 8,
    targets: Targets = None,
    constraint: options.Constraints = None,
    ridge: options.Ridge = 0.0,
    seconds: options.Seconds = 60.0,
    threads: options.Threads = None,
    proof: Proof = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    r"""Solve a regression for every number of terms from 0 to --k-max, each proved.

    \b
    Example:
      exactsindy path regression.npz --k-max 6
    """
    from exactsindy.solver import solve_path

    problem = read_problem(file, targets)
    with proof_of(problem, proof):
        with _limits(seconds, threads, quiet=quiet) as settings:
            rules = options.constraints(constraint)
            found = solve_path(problem, k_max, ridge=ridge, constraints=rules, settings=settings, proof=proof)
        output.show([_certificates(solution) for solution in found], json, lambda: str(found))
    output.finish(output.ending(tuple(status for solution in found for status in solution.status)))


def pool(
    file: File,
    k: Annotated[str, typer.Option(help="Number of terms: 3, or \"x'=2,y'=3\".")],
    within: Annotated[float | None, typer.Option(min=0.0, help="All supports at most this much worse: 0.1.")] = None,
    count: Annotated[int | None, typer.Option(min=1, help="Most supports listed; 10 if --within is absent.")] = None,
    targets: Targets = None,
    constraint: options.Constraints = None,
    ridge: options.Ridge = 0.0,
    seconds: options.Seconds = 60.0,
    threads: options.Threads = None,
    proof: Proof = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    r"""List the best supports of a given size, best first.

    \b
    Example:
      exactsindy pool regression.npz --k 3 --within 0.1
    """
    from exactsindy.solver import pool_record, solve_pool

    problem = read_problem(file, targets)
    most = 10 if within is None and count is None else count
    sizes, rules = options.sizes(k), options.constraints(constraint)
    with proof_of(problem, proof):
        with _limits(seconds, threads, quiet=quiet) as settings:
            asked: dict[str, Any] = {"ridge": ridge, "constraints": rules, "settings": settings, "proof": proof}
            found = solve_pool(problem, sizes, within=within, count=most, **asked)
        output.show(pool_record(found), json, lambda: str(found))
    output.finish(output.OK if all(found.complete.values()) else output.NOT_PROVED)


@contextmanager
def _limits(seconds: float, threads: int | None, *, quiet: bool) -> Iterator[Settings]:
    """Yield the limits of a search that shows how far it is."""
    from exactsindy.solver import Settings

    with progress("Solving", seconds, quiet=quiet) as tick:
        yield Settings(seconds=seconds, threads=threads, progress=tick)


def _certificates(solution: Any) -> list[Any]:
    return [codec.loads(certificate.to_json()) for certificate in solution.certificates]
