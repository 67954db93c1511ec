"""Runs the command line on a cluster of two worker processes, then loses one of them; prints what came out as JSON.

A program of its own: a cluster starts threads and processes that a test run should not hold.
"""

from __future__ import annotations

import json
import os
import signal
import sys

import distributed.protocol.pickle
import numpy as np
from distributed import Client, LocalCluster
from typer.testing import CliRunner

import exactsindy as es
from exactsindy.cli import app


def discovered(folder, *more):
    """What `exactsindy discover` prints about the runs in a folder, but for the time it took."""
    command = ["discover", f"{folder}/*.parquet", "--time", "time", "--trajectory", "run", "--strong", "--json"]
    done = CliRunner().invoke(app, [*command, "--rule", "stability", "--degree", "5", "--seconds", "300", *more])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    for certificate in found["certificates"]:
        del certificate["seconds"]
    return found


def sent():
    """Keep the size of the largest message that is pickled from now on."""
    largest, dumps = [0], distributed.protocol.pickle.dumps

    def counted(*arguments, **options):
        text = dumps(*arguments, **options)
        largest[0] = max(largest[0], len(text))
        return text

    distributed.protocol.pickle.dumps = counted
    return largest


def tasks(client):
    """How many tasks of each kind the workers have done."""

    def count(dask_scheduler):
        ended = [key for key, _, end, *_ in dask_scheduler.transition_log if end == "memory"]
        return [str(key[0] if isinstance(key, tuple) else key) for key in ended]

    names = client.run_on_scheduler(count)
    return {kind: sum(kind in name for name in names) for kind in ("_alone", "_search")}


def problems(count=24):
    """Regressions whose proofs take about a tenth of a second each."""
    rng, found = np.random.default_rng(0), []
    for _ in range(count):
        theta = rng.normal(size=(120, 60)) + rng.normal(size=(120, 1))
        found.append(es.Problem.from_arrays(theta, theta[:, :6].sum(axis=1) + 4.0 * rng.normal(size=120)))
    return found


def answers(solutions):
    return [[s.support, s.objective.tolist(), s.lower_bound.tolist(), s.coef.tolist()] for s in solutions]


def main(folder):
    from exactsindy.chunked import parquet

    parquet.PIECE_BYTES = 24 * 20000
    result = {"alone": discovered(folder)}
    hard = problems()
    expected = answers(es.solve_many(hard, 7, settings=es.Settings(threads=1)))
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=None) as cluster,
        Client(cluster) as client,
    ):
        largest = sent()
        result["cluster"] = discovered(folder, "--scheduler", cluster.scheduler_address)
        result["largest message"], result["tasks"] = largest[0], tasks(client)
        pids = sorted(client.run(os.getpid).values())
        es.solve_many(hard[:4], 2)  # workers load what they need
        told = []

        def kill(now):
            told.append(len(now.incumbent))
            if len(told) == 3:
                os.kill(pids[0], signal.SIGKILL)

        solutions = es.solve_many(hard, 7, settings=es.Settings(progress=kill))
        result["told"], result["solved"] = told, answers(solutions) == expected
        client.wait_for_workers(2, timeout=300)
        result["lost"] = pids[0] not in client.run(os.getpid).values()
        short = es.solve_many(hard, 7, settings=es.Settings(seconds=0.2))
        result["bounds hold"] = all(
            s.lower_bound[0] <= e[1][0] * (1 + 1e-12) and s.objective[0] >= e[1][0] * (1 - 1e-12)
            for s, e in zip(short, expected, strict=True)
        )
        # A task that solves does it itself: a worker that waited for others would wait for itself.
        result["within a task"] = client.submit(inside, hard[:4], pure=False).result(timeout=300) == expected[:4]
    print(json.dumps(result))


def inside(some):
    return answers(es.solve_many(some, 7))


if __name__ == "__main__":
    main(sys.argv[1])
