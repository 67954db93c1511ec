"""Where `discover` misses: whether the likelihood of trajectories prefers what it chose, or the true terms."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from exactsindy.data import Trajectories
from exactsindy_experiments.likelihood_ceiling import truth_leads
from exactsindy_experiments.outside.asking import told_by
from exactsindy_experiments.outside.lorenz_data import LIBRARY, STATES, STEP, TRUTH, LorenzCase, samples
from exactsindy_experiments.outside.lorenz_methods import OURS
from exactsindy_experiments.outside.lorenz_run import LorenzRow, lorenz_table
from exactsindy_experiments.results import Table
from exactsindy_experiments.workers import Json, Worker, command, one_thread

_PATIENCE = 1800.0


@dataclass(frozen=True)
class CeilingRow:
    """A miss: by how much the extended BIC of the best rival exceeds that of the truth, in the equation where least.

    Above 0 the likelihood prefers the true terms, so the search should have chosen them; below 0 the data prefer
    others. None if trajectories of the true model could not be fitted.
    """

    case: LorenzCase
    lead: float | None

    @property
    def key(self) -> LorenzCase:
        """What identifies the row."""
        return self.case


def ceiling_table(folder: Path) -> Table[CeilingRow]:
    """Open the rows of a folder."""
    return Table(folder / "outside_ceiling.csv", CeilingRow)


def run_ceiling(folder: Path, say: Callable[[str], None]) -> None:
    """Compare the likelihoods of every miss that the folder does not hold yet."""
    table = ceiling_table(folder)
    misses = [row for row in lorenz_table(folder) if row.method == OURS and not row.right and not row.failure]
    worker: Worker | None = None
    for row in misses:
        if table.find(row.case) is not None:
            continue
        if worker is None or worker.ended:
            worker = Worker(command(__name__), one_thread())
        request = {**dataclasses.asdict(row.case), "terms": chosen_terms(row)}
        lead = told_by(worker, request, _PATIENCE).get("lead")
        table.append(CeilingRow(row.case, lead))
        say(f"{row.case}: the truth leads by {lead if lead is None else format(lead, '.2f')}")
    if worker is not None:
        worker.stop()


def chosen_terms(row: LorenzRow) -> list[list[str]]:
    """Return the terms of each equation that a row holds as text.

    ``found`` separates summands by a sign after a space: ``x' = -10 x +10 y; ...``.
    """
    equations = []
    for text in row.found.split("; "):
        summands = text.partition(" =")[2].replace(" +", "\n").replace(" -", "\n").split("\n")
        equations.append([summand.partition(" ")[2] for summand in summands if summand.strip()])
    return equations


def answer(request: Json) -> Json:
    """Return the least lead of the true terms over the equations."""
    case = LorenzCase(request["noise"], request["duration"], request["draw"])
    data = Trajectories.from_arrays(samples(case)[1], time=STEP, states=STATES)
    truth = [frozenset(terms) for terms in TRUTH.values()]
    try:
        leads = truth_leads(data, LIBRARY, truth, [frozenset(terms) for terms in request["terms"]])
    except Exception:  # no trajectory of the true model could be fitted
        return {"lead": None}
    known = [lead for lead in leads if not math.isnan(lead)]
    return {"lead": min(known) if known else None}
