"""Runs on a cluster of three worker processes, one of which is killed; prints what came out as JSON.

A program of its own: a cluster starts threads and processes that a test run should not hold.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time

from distributed import Client, LocalCluster

import exactsindy as es
from exactsindy.chunked import parquet


class Slow:
    """The strong form on pieces that take a while, so that a worker is killed in the middle."""

    def __init__(self, plan):
        self.plan = plan
        self.reach, self.in_order = plan.reach, plan.in_order

    def problem(self, piece, before):
        time.sleep(0.1)
        return self.plan.problem(piece, before)


def main(folder):
    from exactsindy.chunked import assemble

    parquet.PIECE_BYTES = 24 * 400
    pieces = es.scan_parquet(folder, time="time", trajectory="run")
    library = es.Polynomials(3)
    forms = {"strong": es.StrongForm(), "increments": es.IncrementForm()}
    result = {"alone": {name: form.problem(pieces, library).fingerprint for name, form in forms.items()}}
    with (
        LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None, memory_limit=None) as cluster,
        Client(cluster) as client,
    ):
        result["cluster"] = {name: form.problem(pieces, library).fingerprint for name, form in forms.items()}
        before = sorted(client.run(os.getpid).values())
        killer = threading.Timer(0.6, os.kill, (before[0], signal.SIGKILL))
        killer.start()
        plan = Slow(forms["strong"].plan(pieces, library))
        result["killed"] = assemble(pieces, plan)[0].fingerprint
        killer.join()
        client.wait_for_workers(3, timeout=60)
        result["lost"] = before[0] not in client.run(os.getpid).values()
        sizes = [len(__import__("pickle").dumps(piece)) for piece in pieces.unread(plan.reach)]
        result["largest pickle"] = max(sizes)
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1])
