"""The campaign of `bench torture`: many instances in several processes, counted per family."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from exactsindy_experiments import workers as processes
from exactsindy_experiments.pages import minutes, table
from exactsindy_experiments.torture_families import FAMILIES
from exactsindy_experiments.torture_instances import Task, Verdict, examine

MOST_EXCUSED = 0.01  # share of instances that may end without a proof
_BATCH = 50  # instances a process takes at a time
_SHOWN = 20  # failing instances that are listed


@dataclass
class Tally:
    """Counts of one family."""

    family: str
    tried: int = 0
    beyond: int = 0
    wrong: int = 0
    excused: int = 0
    refused: int = 0
    band: int = 0

    def add(self, verdict: Verdict) -> None:
        """Count one instance."""
        self.tried += 1
        self.beyond += verdict.beyond
        self.band += verdict.band
        self.wrong += verdict.kind == "wrong"
        self.excused += verdict.kind == "excused"
        self.refused += verdict.kind == "refused"


@dataclass
class Campaign:
    """What a campaign found."""

    seed: int
    tallies: list[Tally]
    failures: list[Verdict] = field(default_factory=list)  # the first of every family
    seconds: float = 0.0

    @property
    def total(self) -> Tally:
        """The counts of all families together."""
        names = ("tried", "beyond", "wrong", "excused", "refused", "band")
        return Tally("all", **{name: sum(getattr(tally, name) for tally in self.tallies) for name in names})

    @property
    def passed(self) -> bool:
        """True if nothing was wrong, and no more than 1 % ended without a proof."""
        total = self.total
        return not total.wrong and total.excused <= MOST_EXCUSED * total.tried


def run(
    instances: int, seed: int, families: Sequence[str] | None, workers: int, say: Callable[[str], None]
) -> Campaign:
    """Examine so many instances, shared by the families, in so many worker processes (0: in this one)."""
    begin = time.monotonic()
    chosen = list(families or FAMILIES)
    tallies = {name: Tally(name) for name in chosen}
    campaign = Campaign(seed, list(tallies.values()))
    each = -(-instances // len(chosen))
    batches = [
        [Batch(name, seed, start, min(start + _BATCH, each))] for start in range(0, each, _BATCH) for name in chosen
    ]
    told = begin

    def take(batch: Batch, verdicts: list[Verdict]) -> None:
        nonlocal told
        for verdict in verdicts:
            tallies[batch.family].add(verdict)
            if verdict.kind == "wrong":
                campaign.failures.append(verdict)
        if time.monotonic() - told > 10:
            told, total = time.monotonic(), campaign.total
            say(f"{total.tried} instances, {total.wrong} wrong, {total.tried / (told - begin):.0f} per second")

    if workers:
        processes.run_bundles(batches, workers, _ask, take, command=processes.command(__name__))
    else:
        for (batch,) in batches:
            take(batch, batch.examine())
    campaign.failures.sort(key=lambda v: (v.task.index, v.task.family))
    campaign.seconds = time.monotonic() - begin
    return campaign


@dataclass(frozen=True)
class Batch:
    """Consecutive instances of one family."""

    family: str
    seed: int
    start: int
    stop: int

    def examine(self) -> list[Verdict]:
        """Examine the instances one after another."""
        return [attempt(Task(self.family, self.seed, i)) for i in range(self.start, self.stop)]


def _ask(worker: processes.Worker, batch: Batch) -> list[Verdict]:
    """Let a worker process examine a batch; if it dies, that is a wrong answer."""
    try:
        rows = worker.ask(asdict(batch))["verdicts"]
    except ConnectionError as error:
        return [Verdict(Task(batch.family, batch.seed, batch.start), "wrong", text=f"within {_BATCH} of it, {error}")]
    return [Verdict(Task(batch.family, batch.seed, row.pop("index")), **row) for row in rows]


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Examine a batch in a worker process."""
    verdicts = Batch(**request).examine()
    keys = ("kind", "beyond", "band", "text")
    return {"verdicts": [{"index": v.task.index, **{key: getattr(v, key) for key in keys}} for v in verdicts]}


def attempt(task: Task) -> Verdict:
    """Examine one instance; an exception is a wrong answer as well."""
    try:
        return examine(task)
    except Exception as error:
        return Verdict(task, "wrong", text=f"raised {type(error).__name__}: {error}")


def command(task: Task) -> str:
    """Return the line that repeats one instance."""
    return f"exactsindy bench torture --family {task.family} --seed {task.seed} --only {task.index}"


def report(campaign: Campaign) -> str:
    """Return the counts as a table and the first failing instances."""
    head = ["family", "tried", "beyond the root", "wrong", "not proved", "refused", "at a threshold"]
    lines = [
        [t.family, t.tried, t.beyond, t.wrong, t.excused, t.refused, t.band]
        for t in [*campaign.tallies, campaign.total]
    ]
    text = table(head, lines, "lrrrrrr")
    shown = [f"{command(v.task)}\n    {v.text}\n" for v in campaign.failures[:_SHOWN]]
    if len(campaign.failures) > _SHOWN:
        shown.append(f"and {len(campaign.failures) - _SHOWN} more\n")
    return text + ("\n" + "".join(shown) if shown else "")


def page(campaign: Campaign, machine: str) -> str:
    """Return the page of a campaign; other pages include its summary by the marks around it."""
    total = campaign.total
    return f"""# The solver against an exact oracle

Written by `exactsindy bench torture --instances {total.tried} --seed {campaign.seed} --out docs/benchmarks`
({minutes(campaign.seconds)}).

Machine: {machine}

<!-- --8<-- [start:summary] -->
{total.tried:,} problems in {len(campaign.tallies)} families, {total.beyond:,} of them beyond the root of the search:
**{total.wrong} wrong**, {total.excused} not proved (and said so), {total.refused:,} refused before a search with a
sentence.
<!-- --8<-- [end:summary] -->

The problems are small, random and hostile: 5 to 20 terms, supports of up to 8 terms, solved by `solve`, `solve_path`,
`solve_pool` and with a shared budget `Total`, on one and two threads. An oracle that shares no code with the solver
computes the value of *every* support in exact integers on the stored doubles, and decides which supports are
admissible. An instance is **wrong** if something claimed is not so: the support, the objective to the last bits, the
coefficients, `lower_bound` at or below the optimum, the margin, what a pool called complete holds and in which order,
to which support ties go.

- **beyond the root**: the search had to branch (pools: more than two terms).
- **not proved**: the solver itself says that it has no proof (at most {MOST_EXCUSED:.0%} allowed).
- **refused**: the numbers are refused before any search (targets whose square is not an ordinary double).
- **at a threshold**: a candidate for the optimum lies within 1e-6 of a threshold of admissibility; either answer counts
  as right.

The families stand in `experiments/src/exactsindy_experiments/torture_families.py`.

{report(campaign)}"""
