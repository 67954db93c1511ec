"""Runs `exactsindy reproduce` on a cluster of two worker processes; in a program of its own, as that starts others."""

from __future__ import annotations

import json
import sys

from distributed import Client, LocalCluster
from typer.testing import CliRunner

from exactsindy.cli import app


def tasks(client):
    """How many bundles of cases the workers have run."""

    def count(dask_scheduler):
        return sum("_answers" in str(key) and end == "memory" for key, _, end, *_ in dask_scheduler.transition_log)

    return client.run_on_scheduler(count)


def main(store):
    command = ["reproduce", "weak", "--systems", "van_der_pol", "--trials", "2", "--values", "0.01", "--store", store]
    some = ["--algorithms", "exact", "--protocols", "published"]
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=None) as cluster:
        done = CliRunner().invoke(app, [*command, *some, "--scheduler", cluster.scheduler_address])
        with Client(cluster) as client:
            print(json.dumps({"code": done.exit_code, "said": done.output, "tasks": tasks(client)}))


if __name__ == "__main__":
    main(sys.argv[1])
