"""The native search with a proof file: which finished searches it lists, and what they claim."""

from __future__ import annotations

import math
import os
import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from exactsindy.errors import SolverError
from exactsindy.problem import Problem
from exactsindy.solver.backends import native
from exactsindy.solver.checkpoint import Checkpoint, CheckpointPath
from exactsindy.solver.equations import Equation
from exactsindy.solver.outcome import Outcome
from exactsindy.solver.proof_file import ConditionsClaim, ProofSection, finish_proof, proof_records
from exactsindy.solver.settings import Settings

#: A file name, or None: no proof is written.
ProofPath = str | os.PathLike[str] | None


def run(
    problem: Problem,
    proof: ProofPath,
    equations: Sequence[Equation],
    sizes: Sequence[int],
    starts: Sequence[Sequence[tuple[int, ...]]],
    settings: Settings,
    checkpoint: CheckpointPath = None,
    **options: Any,
) -> list[list[Outcome]]:
    """Run the native search (see `native.run`), and write a proof of all it found to the file ``proof``.

    A search that a limit ended has no proof: then no file is written, and a warning says so. With a ``checkpoint``
    the search goes on where an earlier call has left it, proof included.
    """
    kept = None
    if checkpoint is not None:
        kept = Checkpoint.of(checkpoint, problem, equations, sizes, settings, proof=proof is not None, **options)
    if proof is None:
        if kept is None:
            return native.run(equations, sizes, starts, settings, **options)
        with kept.going_on() as state:
            return native.run(equations, sizes, starts, settings, **options, **state)
    with proof_records(proof) as records:
        exhaustive = replace(settings, gap=Settings.gap)
        try:
            if kept is None:
                searches = native.run(equations, sizes, starts, exhaustive, proof=str(records), **options)
            else:
                with kept.going_on() as state:
                    searches = native.run(
                        equations, sizes, starts, exhaustive, proof=str(kept.records), **options, **state
                    )
                shutil.copyfile(kept.records, records)
        except OSError as error:
            raise SolverError(f"proof={str(proof)!r}: {error}.") from error
        sections: list[ProofSection] = []
        for index, (equation, outcomes) in enumerate(zip(equations, searches, strict=True)):
            found = list(sections_of(index, equation, outcomes, settings, sizes[index], **options))
            if not found or any(outcome.stop is not None for outcome in outcomes):
                warn(proof, f"the search for {equation.target} did not end. Allow more time or nodes")
                return searches
            sections += found
        finish_proof(records, proof, problem, sections)
    return searches


class NoProofError(Exception):
    """Why no proof can be written; a warning says so."""


@dataclass
class ProofDraft:
    """A proof file while it is written: the searches so far, what they claim, and what several prove together."""

    records: Path
    sections: list[ProofSection] = field(default_factory=list)
    conditions: list[ConditionsClaim] = field(default_factory=list)
    searched: int = 0  # equations, each time they are

    def run(
        self, equations: Sequence[Equation], sizes: Sequence[int], settings: Settings, **options: Any
    ) -> list[list[Outcome]]:
        """Run the native search (see `native.run`), and write down how it went."""
        first = native.SECTIONS * self.searched
        self.searched += len(equations)
        starts: list[list[tuple[int, ...]]] = [[] for _ in equations]
        exhaustive = replace(settings, gap=Settings.gap)
        return native.run(equations, sizes, starts, exhaustive, proof=str(self.records), first_section=first, **options)


@contextmanager
def draft(proof: str | os.PathLike[str], problem: Problem) -> Iterator[ProofDraft]:
    """Give a block a proof file to write; if the block ends well the file is put into place, else a warning says why.

    What the block raises as a `NoProofError` becomes the warning.
    """
    with proof_records(proof) as records:
        whole = ProofDraft(records)
        try:
            yield whole
        except OSError as error:
            raise SolverError(f"proof={str(proof)!r}: {error}.") from error
        except NoProofError as reason:
            return warn(proof, str(reason))
        finish_proof(records, proof, problem, whole.sections, conditions=whole.conditions)


def refuse(proof: ProofPath, what: str) -> None:
    """Refuse a proof file where none can be written yet."""
    if proof is not None:
        raise SolverError(f"proof={str(proof)!r}: proof files are not written for {what}: leave `proof` out.")


def warn(proof: ProofPath, reason: str) -> None:
    """Say why there is no proof."""
    warnings.warn(f"proof={str(proof)!r}: no proof was written, because {reason}.", stacklevel=4)


def sections_of(
    index: int,
    equation: Equation,
    outcomes: Sequence[Outcome],
    settings: Settings,
    size: int,
    *,
    path: bool = False,
    pool: bool = False,
    keep: int = 2,
    within: float = -1.0,
    **_: Any,
) -> Iterator[ProofSection]:
    """Yield the sections of one equation: one, or one for each size of a path."""
    last: ProofSection | None = None
    for asked, outcome in enumerate(outcomes) if path else [(size, outcomes[0])]:
        if not outcome.written:
            if last is None:
                return
            last = replace(last, at_most=asked)  # an exact fit of fewer terms: nothing was left to search for
            continue
        if last is not None:
            yield last
        whole = section_of(index, equation, outcome.written[0], outcome, settings)
        if pool:
            last = replace(whole, exactly=True, pool_limit=_limit(outcome, keep, within, whole.cut))
            continue
        # The next best counts supports of as many terms as the best has: the search of that very size shows it.
        terms = len(outcome.answers[0].support)
        last = replace(whole, at_most=asked)
        if whole.k != terms:
            last = replace(last, outcome=replace(outcome, runner_up=math.nan))
            for part in outcome.written[1:]:
                if part.size == terms:
                    yield section_of(index, equation, part, outcome, settings)
    if last is not None:
        yield last


def section_of(index: int, equation: Equation, part: Any, outcome: Outcome, settings: Settings) -> ProofSection:
    """Return the section of one finished search (a native record `Written`), its terms numbered as in the equation."""
    section = ProofSection(part.section, index, equation, part.size, settings.coefficient_limit, part.cut, outcome)
    if not part.delta:
        return section
    delta, exponents = [0.0] * len(equation.names), [0] * len(equation.names)
    for j, share, power in zip(part.columns, part.delta, part.exponents, strict=True):
        delta[j], exponents[j] = share, power
    return replace(section, delta=delta, exponents=exponents)


def _limit(outcome: Outcome, keep: int, within: float, cut: float) -> float:
    """Return the objective up to which a pool is complete."""
    if within >= 0:
        return min(outcome.objective * (1 + within), cut)
    return min(outcome.answers[-1].objective, cut) if len(outcome.answers) >= keep else cut
