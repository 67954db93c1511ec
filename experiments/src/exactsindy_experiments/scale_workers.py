"""Assembly of Parquet files by the workers of a Dask cluster on this machine."""

from __future__ import annotations

import importlib
import json
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import exactsindy as es
from exactsindy._optional import optional
from exactsindy_experiments.scale_cases import CHUNK, Chunks, Measured, orbit, peak

#: Rows of all files; runs of which the one in the middle counts.
_ROWS, _RUNS = 32 * CHUNK, 5


def run(workers: int) -> None:
    """Print the measurement of so many workers as JSON."""
    pa, parquet = (optional(name, "data", "Parquet") for name in ("pyarrow", "pyarrow.parquet"))
    distributed = optional("distributed", "dask", "A cluster")
    with tempfile.TemporaryDirectory() as folder:
        for i, chunk in enumerate(Chunks(_ROWS, orbit())):
            columns = {
                "run": np.full(CHUNK, i),
                "t": chunk[0].times,
                **dict(zip("xyz", chunk[0].states.T, strict=True)),
            }
            parquet.write_table(pa.table(columns), Path(folder) / f"{i:03d}.parquet")
        module: Any = importlib.import_module("exactsindy.chunked.parquet")
        module.PIECE_BYTES = 32 * CHUNK  # a piece per file
        pieces = es.scan_parquet(folder, time="t", trajectory="run")
        with (
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None, memory_limit=None
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            for _ in range(2):  # the first runs load what workers need and fill their caches
                es.StrongForm().problem(pieces, es.Polynomials(5))
            runs = []
            for _ in range(_RUNS):
                before, begin = client.run(time.process_time), time.perf_counter()
                problem = es.StrongForm().problem(pieces, es.Polynomials(5))
                wall = time.perf_counter() - begin
                runs.append((_spent(client, before), wall))
            spent, wall = sorted(runs, key=lambda run: max(run[0]))[_RUNS // 2]
            before = client.run(time.process_time)
            time.sleep(wall)
            idle = _spent(client, before)[spent.index(max(spent))]
    note = f"{problem.fingerprint[:16]}, all workers {sum(spent):.2f} s"
    print(json.dumps(asdict(Measured("workers", _ROWS, 56, 3, workers, max(spent), wall, idle, peak(), note))))


def _spent(client: Any, before: dict[str, float]) -> list[float]:
    """Return the CPU seconds of each worker since then."""
    after = client.run(time.process_time)
    return [after[name] - before[name] for name in after]
