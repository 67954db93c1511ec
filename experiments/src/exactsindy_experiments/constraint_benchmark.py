"""Constrained solves against Gurobi: one case in, one row out, and the page that shows them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from exactsindy.constraints import Stacked, compile_rules
from exactsindy.solver import Settings, Total, solve
from exactsindy.solver.backends.gurobi import write_model
from exactsindy.solver.backends.scaling import scaled_problem
from exactsindy_experiments.constraint_cases import Case, Pair
from exactsindy_experiments.pages import geometric_mean, table
from exactsindy_experiments.two_threads import EXPLAINED, HEAD, SHORT, Compare, Search, TwoThreads, summary

_REPEATS, _FEW = 10, 3  # runs of each; few where one takes longer than
_LONG = 0.05  # seconds
_LIMIT = 60.0  # seconds of one search where two threads are compared
_ONE = Settings(threads=1)
_HEAD = """# Constraint benchmark

`exactsindy bench constraints` writes this page. The paper's Duffing experiment (two equations, cubic library, 20
joint coefficients, 6 equalities, one budget; dt 0.01 s, derivative smoothed over 21 samples, ridge 1e-3), and joint
Lorenz and MHD problems with equalities, bounds, signs and inequalities. Both sides start from the compressed problem.
*native* is our search (setting up, search, proof of optimum and margin), *call* the whole call from Python
including the translation of the constraints, which *translate* gives apart; *Gurobi* is its solve with scaled columns
and gap and tolerances 1e-9 (an equal proof of the optimum; it proves no margin), model building apart; > where its time
limit (`--seconds`, elapsed: on a busy machine far less of the processor) came first, so the ratio is at least this. One
thread each. So that other work on the machine does not count, Gurobi's times are processor seconds; *native* is the
elapsed time of our search, or the processor seconds of the whole call where those are fewer. The least of 10 runs, or
of 3 where one takes longer than 50 ms.
"""
_PAIRS = """## What constraints cost

Whole calls in ms of processor time on one thread, without and with one constraint, in turn in one run, the least of 10
(of 3 where that takes longer than 50 ms). *rise* is how much larger the best objective is under the constraint: 0 says
that it held anyway.

{explained}
"""
_PAIR_COLUMNS = ("problem", "without ms", "with ms", "ratio", "nodes", "rise", "proved", *HEAD)
_COLUMNS = ("problem", "coefficients", "==", "<=", "translate ms", "native ms", "call ms", "nodes", "proved")
_PEER = ("Gurobi ms", "nodes", "ratio", "same support")


@dataclass(frozen=True)
class ConstraintRow:
    """Times in seconds, the least of several runs; ``peer`` is Gurobi's own solve, model building apart."""

    name: str
    columns: int
    equalities: int
    inequalities: int
    translate: float
    native: float
    call: float
    nodes: int
    objective: float
    proved: bool
    peer: float
    peer_build: float
    peer_nodes: int
    peer_proved: bool
    same: bool

    @property
    def ratio(self) -> float:
        """Gurobi's solve over our native call."""
        return self.peer / self.native

    @property
    def call_ratio(self) -> float:
        """Gurobi's solve over the whole call from Python."""
        return self.peer / self.call


def measure(case: Case, *, seconds: float = 60.0) -> ConstraintRow:
    """Solve a case with both."""
    translate, call, native = np.inf, np.inf, np.inf
    solution = None
    for run in range(_REPEATS):
        if run >= _FEW and call > _LONG:
            break
        started = time.perf_counter()
        rules = compile_rules(case.problem, case.constraints)
        translate = min(translate, time.perf_counter() - started)
        started, before = time.perf_counter(), time.process_time()
        solution = solve(case.problem, Total(case.size), ridge=case.ridge, constraints=case.constraints, settings=_ONE)
        call = min(call, time.perf_counter() - started)
        # (What the whole call takes of the processor is more than the search does.)
        native = min(native, float(solution.seconds[0]), time.process_time() - before)
    assert solution is not None
    count, width = len(case.problem.target_names), len(case.problem.terms)
    ridge = np.full((count, width), case.ridge)
    stacked = Stacked.of(rules, range(count), ridge, [1.0] * count, [(range(count * width), case.size)])
    peer, build, nodes, support, peer_proved = _gurobi(stacked, seconds)
    ours = {e * width + j for e, chosen in enumerate(solution.support) for j in chosen}
    return ConstraintRow(
        name=case.name,
        columns=count * width,
        equalities=len(stacked.equal),
        inequalities=len(stacked.below) + int(np.isfinite(stacked.lower).sum() + np.isfinite(stacked.upper).sum()),
        translate=translate,
        native=native,
        call=call,
        nodes=int(solution.nodes[0]),
        objective=float(solution.objective[0]),
        proved=solution.optimal,
        peer=peer,
        peer_build=build,
        peer_nodes=nodes,
        peer_proved=peer_proved,
        same=support == ours,
    )


def _gurobi(stacked: Stacked, seconds: float) -> tuple[float, float, int, set[int], bool]:
    """Return processor and build times, nodes and support of Gurobi (scaled columns, gap 1e-9), and if it got there."""
    import gurobipy

    scaled = scaled_problem(stacked)
    best: tuple[float, float, int, set[int], bool] = (np.inf, np.inf, 0, set(), False)
    for run in range(_REPEATS):
        if run >= _FEW and best[0] > _LONG:
            break
        with gurobipy.Env(empty=True) as env:
            env.setParam("OutputFlag", 0)
            env.start()
            with gurobipy.Model(env=env) as model:
                started = time.perf_counter()
                absent = write_model(gurobipy, model, scaled, replace(_ONE, seconds=seconds))
                built, before = time.perf_counter(), time.process_time()
                model.optimize()
                spent = time.process_time() - before
                chosen = np.flatnonzero(np.asarray(absent.X) < 0.5).tolist() if model.SolCount else []
                # A presence flag costs nothing where the budget has room: its coefficient decides.
                values = np.asarray(model.getVars())[: len(stacked.variables)]
                used = {int(stacked.variables[j]) for j in chosen if abs(values[j].X) > 1e-9} if chosen else set()
                proved = model.Status == gurobipy.GRB.OPTIMAL
                found = (spent, built - started, int(model.NodeCount), used, proved)
                best = min(best, found, key=lambda item: item[0])
        if best[0] > 1.0:
            break
    return best


@dataclass(frozen=True)
class PairRow:
    """A problem without and with constraints: processor seconds of whole calls, the least of several runs in turn."""

    name: str
    without: float
    constrained: float
    nodes: int
    rise: float  # of the objective by the constraints, relative
    proved: bool
    two: TwoThreads | None  # None: too short


def measure_pair(pair: Pair, compare: Compare) -> PairRow:
    """Solve a pair in turn, and the constrained problem on two threads if it takes long enough."""
    without, constrained = np.inf, np.inf
    for run in range(_REPEATS):
        if run >= _FEW and constrained > _LONG:
            break
        started = time.process_time()
        plain = solve(pair.problem, pair.k, settings=_ONE)
        without = min(without, time.process_time() - started)
        started = time.process_time()
        solution = solve(pair.problem, pair.k, constraints=pair.constraints, settings=_ONE)
        constrained = min(constrained, time.process_time() - started)
    rise = float(solution.objective.sum() / plain.objective.sum() - 1)
    search = Search(pair.problem, pair.k, pair.constraints)
    two = compare(search, _LIMIT) if constrained > SHORT else None
    return PairRow(pair.name, without, constrained, int(solution.nodes.sum()), rise, solution.optimal, two)


def page(rows: Sequence[ConstraintRow], pairs: Sequence[PairRow], machine: str) -> str:
    """Return the page docs/benchmarks/constraints.md."""
    duffing = [row for row in rows if row.name.startswith("Duffing")]
    others = [row for row in rows if not row.name.startswith("Duffing")]
    text = f"{_HEAD}\nMachine: {machine.rstrip('.')}.\n\nDuffing: {_summary(duffing)}\n"
    text += f"Joint Lorenz and MHD: {_summary(others)}\n" if others else ""
    text += f"All: {_summary(rows)}\n"
    text += f"\n{table([*_COLUMNS, *_PEER], map(_cells, rows))}"
    paired = table(_PAIR_COLUMNS, map(_pair_cells, pairs))
    two = summary([pair.two for pair in pairs if pair.two])
    return f"{text}\n{_PAIRS.format(explained=EXPLAINED)}\n{paired}\n{two}\n"


def _summary(rows: Sequence[ConstraintRow]) -> str:
    same, translate = sum(row.same for row in rows), 1e3 * max(row.translate for row in rows)
    ratios, calls = [row.ratio for row in rows], [row.call_ratio for row in rows]
    return (
        f"Gurobi needs {geometric_mean(ratios):.0f} times our native call (geometric mean of {len(rows)}; least "
        f"{min(ratios):.0f}), {geometric_mean(calls):.0f} times our whole call from Python (least {min(calls):.0f}); "
        f"the same support in {same} of {len(rows)}; translation at most {translate:.2f} ms."
    )


def _cells(row: ConstraintRow) -> list[object]:
    return [
        row.name,
        row.columns,
        row.equalities,
        row.inequalities,
        f"{1e3 * row.translate:.2f}",
        f"{1e3 * row.native:.3f}",
        f"{1e3 * row.call:.2f}",
        row.nodes,
        "yes" if row.proved else "NO",
        f"{'' if row.peer_proved else '> '}{1e3 * row.peer:.1f}",
        row.peer_nodes,
        f"{'' if row.peer_proved else '> '}{row.ratio:.0f}",
        "yes" if row.same else "NO",
    ]


def _pair_cells(row: PairRow) -> list[object]:
    times = (f"{1e3 * row.without:.1f}", f"{1e3 * row.constrained:.1f}", f"{row.constrained / row.without:.2f}")
    two = row.two.cells() if row.two else "-" * len(HEAD)
    return [row.name, *times, row.nodes, f"{100 * row.rise:.3g} %", "yes" if row.proved else "NO", *two]
