"""Runs on a cluster of three worker processes, one of which is killed; prints what came out as JSON.

A program of its own: a cluster starts threads and processes that a test run should not hold.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

from distributed import Client, LocalCluster

import exactsindy as es
from exactsindy.chunked import Assembly, assemble, parquet, reading


class Slow:
    """A form on pieces that take a while, so that a worker is killed in the middle."""

    def __init__(self, plan):
        self.plan = plan
        self.reach, self.in_order = plan.reach, plan.in_order

    def problem(self, piece, before):
        time.sleep(0.1)
        return self.plan.problem(piece, before)


def killed(client, form, pieces, library):
    """The fingerprint of a problem, at whose third piece the first of the workers is killed, and what happened."""
    pid, told = sorted(client.run(os.getpid).values())[0], []

    def tell(done):
        told.append(done)
        if done == 3:
            os.kill(pid, signal.SIGKILL)

    with reading(Assembly(tell=tell)):
        (problem,) = assemble(pieces, Slow(form.plan(pieces, library)))
    client.wait_for_workers(3, timeout=300)
    lost = pid not in client.run(os.getpid).values()
    return {"fingerprint": problem.fingerprint, "lost": lost, "told": told}


def main(folder):
    parquet.PIECE_BYTES = 24 * 400
    pieces = es.scan_parquet(folder, time="time", trajectory="run")
    library = es.Polynomials(3)
    forms = {"strong": es.StrongForm(), "increments": es.IncrementForm()}
    result = {"alone": {name: form.problem(pieces, library).fingerprint for name, form in forms.items()}}
    parts = [form.folds(pieces, library, 5) for form in forms.values()]
    result["folds"] = [[part.fingerprint for part in form] for form in parts]
    with (
        LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None, memory_limit=None) as cluster,
        Client(cluster) as client,
    ):
        result["cluster"] = {name: form.problem(pieces, library).fingerprint for name, form in forms.items()}
        parts = [form.folds(pieces, library, 5) for form in forms.values()]
        result["folds on the cluster"] = [[part.fingerprint for part in form] for form in parts]
        result["killed"] = {name: killed(client, form, pieces, library) for name, form in forms.items()}
        plan = forms["strong"].plan(pieces, library)
        sizes = [len(__import__("pickle").dumps(piece)) for piece in pieces.unread(plan.reach)]
        result["largest pickle"] = max(sizes)
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1])
