"""The page of the scaling study, written from its measurements."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from exactsindy._optional import optional
from exactsindy_experiments.pages import table
from exactsindy_experiments.scale_cases import Measured
from exactsindy_experiments.scale_model import Cluster, CostModel, predicted, simulated

#: Rows of a piece on a cluster, and what the study is extended to.
PIECE, FAR = 1e7, (1e10, 1e11, 1e12)


def report(rows: list[Measured], where: str) -> str:
    """Return the page."""
    model = CostModel.fitted([r for r in rows if r.kind in ("rows", "short") and r.rows >= 1e5])
    head = _HEAD.format(where=where, load=_load(rows))
    parts = [head, _limit(rows), _rows(rows), _fields(rows), _workers(rows), _solves(rows), _stream(rows), _far(model)]
    return "\n".join(parts)


def _load(rows: list[Measured]) -> str:
    loads = [r.load for r in rows if r.load]
    return f"{min(loads):.0f} to {max(loads):.0f}" if loads else "not known"


def _of(rows: list[Measured], kind: str) -> list[Measured]:
    return [r for r in rows if r.kind == kind]


def _limit(rows: list[Measured]) -> str:
    lines = []
    for r in _of(rows, "short"):
        best, copied = next(((d.cpu, d.made) for d in _of(rows, "dgemm") if d.terms == r.terms), (np.nan, np.nan))
        lines.append([r.terms, f"{r.cpu:.4f}", f"{best:.4f}", f"{copied:.4f}", f"{100 * best / r.cpu:.0f} %"])
    head = ["terms", "assembly (CPU s)", "one product of BLAS (CPU s)", "one copy (CPU s)", "share of the product"]
    return "## Beside the limit of the machine\n\n" + table(head, lines, "rrrrr") + _LIMIT


def _rows(rows: list[Measured]) -> str:
    lines = [
        [
            f"{r.rows:.0e}",
            r.terms,
            f"{r.cpu:.3g}",
            f"{r.rows / r.cpu / 1e6:.2f}",
            f"{r.peak / 1e6:.0f}",
        ]
        for r in sorted(_of(rows, "rows"), key=lambda r: (r.terms, r.rows))
    ]
    head = ["rows", "terms", "CPU s", "million rows per CPU s", "peak memory (MB)"]
    return "## Rows\n\n" + _ROWS + table(head, lines, "rrrrr") + "\n![Time and memory](scale.png)\n"


def _fields(rows: list[Measured]) -> str:
    lines = [
        [
            r.kind.removeprefix("field, "),
            f"{r.rows / 65536:.0f}",
            r.terms,
            f"{r.cpu:.3g}",
            f"{r.peak / 1e6:.0f}",
            r.note,
        ]
        for r in rows
        if r.kind.startswith("field")
    ]
    head = ["form", "times", "terms", "CPU s", "peak memory (MB)", "read"]
    return "## Fields\n\n" + _FIELDS + table(head, lines, "lrrrrl")


def _workers(rows: list[Measured]) -> str:
    runs = sorted(_of(rows, "workers"), key=lambda r: r.workers)
    if not runs:
        return "## Workers\n\nNot measured.\n"
    bits = {r.note.partition(",")[0] for r in runs}
    one = runs[0]
    lines = [
        [
            r.workers,
            f"{r.cpu:.2f}",
            f"{r.made:.2f}",
            f"{one.cpu / r.cpu:.2f}",
            f"{(one.cpu - one.made) / (r.cpu - r.made):.2f}",
            f"{r.wall:.0f}",
            r.note,
        ]
        for r in runs
    ]
    same = "The problem has the same bits in all runs." if len(bits) == 1 else "THE BITS DIFFER."
    head = ["workers", "CPU s of the busiest", "without work", "speed", "of the work alone", "wall s", "fingerprint"]
    return "## Workers\n\n" + _WORKERS + table(head, lines, "rrrrrrl") + f"\n{same}\n"


def _solves(rows: list[Measured]) -> str:
    lines = [[r.terms, r.size, f"{1e3 * r.cpu:.1f}", r.note or "proved"] for r in _of(rows, "solve")]
    return "## Search\n\n" + _SOLVES + table(["terms", "k", "CPU ms of three equations", ""], lines, "rrrl")


def _stream(rows: list[Measured]) -> str:
    lines = [[r.rows, r.terms, r.size, f"{1e3 * r.cpu:.1f}", r.note] for r in _of(rows, "stream")]
    return "## Streams\n\n" + _STREAM + table(["rows", "terms", "k", "median CPU ms", ""], lines, "rrrrl")


def _far(model: CostModel) -> str:
    lines = []
    for n in FAR:
        for workers in (100, 1000, 10_000):
            cluster, pieces = Cluster(workers=workers), int(n / PIECE)
            seconds = model.seconds(PIECE, 56)
            runs = [simulated(cluster, pieces, seconds, seed).total for seed in range(3)]
            expected = predicted(cluster, pieces, seconds)
            lost = simulated(cluster, pieces, seconds, 0)
            lines.append(
                [
                    f"{n:.0e}",
                    workers,
                    pieces,
                    f"{expected:.3g}",
                    f"{np.mean(runs):.3g}",
                    f"{np.mean(runs) / expected:.2f}",
                    lost.lost,
                    lost.again,
                ]
            )
    head = ["rows", "workers", "pieces", "model (s)", "simulated (s)", "ratio", "workers lost", "pieces again"]
    text = _FAR.format(
        rest=1e9 * model.rest, column=1e9 * model.column, product=1e9 * model.product, error=100 * model.error
    )
    return "## Beyond what was measured\n\n" + text + table(head, lines, "rrrrrrrr") + _END


def plot(rows: list[Measured], path: Path) -> None:
    """Draw time and memory against the rows."""
    plt = optional("matplotlib.pyplot", "report", "The plot")
    optional("matplotlib", "report", "The plot").use("Agg")
    chosen = sorted((r for r in rows if r.kind == "rows"), key=lambda r: r.rows)
    model = CostModel.fitted([r for r in rows if r.kind in ("rows", "short") and r.rows >= 1e5])
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    for terms in sorted({r.terms for r in chosen}):
        own = [r for r in chosen if r.terms == terms]
        line = left.loglog([r.rows for r in own], [r.cpu for r in own], "o", label=f"{terms} terms")[0]
        n = np.geomspace(1e4, 1e10, 20)
        left.loglog(n, [model.seconds(x, terms) for x in n], "-", color=line.get_color(), linewidth=1)
        right.semilogx([r.rows for r in own], [r.peak / 1e6 for r in own], "o", color=line.get_color())
    left.set(xlabel="rows", ylabel="CPU seconds (lines: model)")
    right.set(xlabel="rows", ylabel="peak memory (MB)", ylim=(0, None))
    left.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


_HEAD = """# Size: rows, terms, workers

How the time and memory of the assembly of a regression grow, measured on this machine, and what a fitted model and a
simulated cluster say beyond it. Printed by `exactsindy bench scale`; the measurements are in
[scale.jsonl](scale.jsonl).

{where}

A part of the measurements shared the two cores of the machine with several other programs (load average {load} where it
was noted): CPU seconds are what counts here, wall seconds of one process are up to ten times as many, and ratios of
wall seconds are lower bounds. Caches are shared with the other programs. One thread.
"""
_LIMIT = """
100,000 rows of three states, `StrongForm()`, the shortest of 40 runs, beside one product `A.T @ B` of BLAS with as many
columns on one thread (a QR factorisation has the same arithmetic) and beside one copy of the matrix, which the assembly
never stores as a whole; both the shortest of 40 runs as well. Where the product takes longer than the copy, arithmetic
is what binds. The rest of the assembly is passes over columns (powers, derivatives, checks): in proportion to the
terms, not to their square.
"""
_ROWS = """Three states of a Lorenz orbit with fresh noise in every chunk, made chunk by chunk (131,072 rows) and handed
over as an iterator; the time in which they are made is left out.

"""
_FIELDS = """Two periodic fields of 256 x 256 points, Dask arrays in single precision that are made when they are
read, 16 times in a chunk, 109 candidate terms. The weak form lays 2000 windows over all times. A piece is 64 MB of
doubles whatever the length of the data, so memory stays where it is.

"""
_WORKERS = """32 Parquet files of 131,072 rows, 56 terms, worker processes of one thread each of a Dask cluster on
this machine; the middle one of five runs after two that warm up. The speed is that of the busiest worker in CPU
seconds: what an idle machine would show in wall time, but for the time of the scheduler. "Without work" is what that
worker takes for its connections while it waits as many wall seconds, which are many here: "of the work alone" leaves
it out.

"""
_SOLVES = """The search sees only the compressed problem (here of a million rows): its time does not depend on the rows.

"""
_STREAM = """`es.Stream` on a noisy Lorenz orbit: rows of a chunk are absorbed and the best five terms of three
equations proved again, with the earlier optimum as the start.

"""
_FAR = """The cost model, fitted to all measurements of 100,000 rows and more:
CPU nanoseconds per row = {rest:.0f} + {column:.2f} D + {product:.4f} (D + m)^2, with a largest relative error of
{error:.0f} % at the measurements. NOTHING in the table below was measured. Assumed of the cluster: workers as fast as
this machine, pieces of 10^7 rows with 56 terms, 1 % of them five times as slow and the others spread by 10 %, a failure
of a worker every 100 hours after which it is back in a minute and what it held is done again, 1 ms for a merge, 5 ms
for moving a problem; reading as fast as computing; a scheduler that keeps up. "Model": equal shares of the mean piece
and the levels of the tree. "Simulated": the discrete simulation of pieces, failures and the tree, the mean of three
runs.

"""
_END = """
The simulation agrees with the model where every worker has many pieces. With few pieces for each, the model is too
low: the last slow piece decides. Smaller pieces help there.
"""
