"""Proof files checked by the independent checker, a distribution of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from exactsindy._atomic import scratch_folder
from exactsindy._files import regular_file
from exactsindy._optional import optional
from exactsindy.problem import Problem

if TYPE_CHECKING:
    from exactsindy_check import Report


def check_proof(
    problem: Problem | str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Check a proof file: that its tree covers every support, and that its claims follow.

    The work is done by the package ``exactsindy_check``, which has its own reading of files, its own bounds and its own
    exact arithmetic, and imports nothing of this package.

    Parameters
    ----------
    problem
        The regression, or the file that `Problem.save` wrote.
    path
        The proof file.
    jobs
        Number of processes to start; None: as many as cores, or none for a small proof; 0: none.
    progress
        Called with the number of leaves of the proof that are done, and of all.

    Returns
    -------
    Report
        ``ok`` is True if everything claimed is proved; ``outcome`` is ``"proved"``, ``"false"``, ``"unreadable"`` or
        ``"not checked"``; ``sentences`` say what does not hold; ``sections`` hold what was established for each search.

    Examples
    --------
    >>> import pathlib, tempfile, exactsindy as es
    >>> problem = es.Problem.from_arrays([[1.0, 0.0], [0.0, 1.0]], [3.0, 4.0])
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "empty.proof"
    >>> _ = file.write_text("nothing")
    >>> es.check_proof(problem, file).sentences
    ('empty.proof: this is not a proof file.',)
    """
    checker = optional("exactsindy_check", "check", "check_proof")
    for given in (path,) if isinstance(problem, Problem) else (problem, path):
        if not isinstance(given, (str, os.PathLike)) or Path(given).exists():  # (the checker says what is missing)
            regular_file(given, most=2**63)  # pipes and devices would be waited for
    from threadpoolctl import threadpool_limits

    with (
        threadpool_limits(limits=1, user_api="blas"),
        scratch_folder() as folder,
    ):  # (small products: threads only wait)
        if isinstance(problem, Problem):
            file = folder / "problem.npz"
            problem.save(file)
            problem = file
        report: Report = checker.check(problem, path, jobs=jobs, progress=progress)
    return report
