"""Proof files of shared budgets: every search that the values of single equations need, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from exactsindy.errors import SolverError
from exactsindy.problem import Problem
from exactsindy.solver.backends import native
from exactsindy.solver.equations import Equation
from exactsindy.solver.outcome import Outcome
from exactsindy.solver.proof_file import ProofSection, SharedBudget, finish_proof, proof_records
from exactsindy.solver.proofs import ProofPath, sections_of, warn
from exactsindy.solver.settings import Settings


@dataclass
class Recording:
    """The native search, which writes down all it does for the equations of a shared budget; without a file, nothing.

    The searches of one equation are the sections of its values: for several sizes, and again for next-best supports.
    """

    proof: ProofPath
    records: Path | None
    equations: Sequence[Equation]
    weights: Sequence[float]
    most: Sequence[int]
    settings: Settings
    calls: int = 0
    sections: list[list[ProofSection]] = field(init=False)
    budgets: list[SharedBudget] = field(default_factory=list)
    stopped: bool = False

    def __post_init__(self) -> None:
        self.sections = [[] for _ in self.equations]

    def run(
        self, index: int, size: int, starts: Sequence[tuple[int, ...]], settings: Settings, **options: Any
    ) -> Outcome:
        """Search one equation (see `native.run`)."""
        equation = self.equations[index]
        if self.records is not None:
            first = self.calls * native.SECTIONS
            options |= {"proof": str(self.records), "first_section": first}
            settings = replace(settings, gap=Settings.gap)
            self.calls += 1
        try:
            ((outcome,),) = native.run([equation], [size], [starts], settings, **options)
        except OSError as error:
            raise SolverError(f"proof={str(self.proof)!r}: {error}.") from error
        self.stopped = self.stopped or outcome.stop is not None
        self.sections[index] += sections_of(index, equation, [outcome], self.settings, size, **options)
        return outcome

    def add(self, k: int, outcome: Outcome) -> None:
        """Add what was found for a budget of k terms."""
        chosen = outcome.answers[0].support
        self.budgets.append(
            SharedBudget(
                k,
                self.most,
                self.weights,
                [tuple(own) for own in self.sections],
                [equation.local(chosen) for equation in self.equations],
                outcome.objective,
                outcome.bound,
                outcome.runner_up,
            )
        )

    def finish(self, problem: Problem) -> None:
        """Put the proof into place, or say why there is none."""
        if self.records is None or self.proof is None:
            return
        if self.stopped:
            warn(self.proof, "the search did not end. Allow more time or nodes")
            return
        sections = [section for own in self.sections for section in own]
        finish_proof(self.records, self.proof, problem, sections, self.budgets)


@contextmanager
def recording(
    proof: ProofPath,
    equations: Sequence[Equation],
    weights: Sequence[float],
    most: Sequence[int],
    settings: Settings,
) -> Iterator[Recording]:
    """Return the search for a shared budget, with a file for its proof if one is asked for."""
    if proof is None:
        yield Recording(None, None, equations, weights, most, settings)
        return
    with proof_records(proof) as records:
        yield Recording(proof, records, equations, weights, most, settings)
