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

_ROWS = 32 * CHUNK


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
            client.run(_load)
            es.StrongForm().problem(pieces, es.Polynomials(5))  # the first run loads what workers need
            before = client.run(time.process_time)
            begin = time.perf_counter()
            problem = es.StrongForm().problem(pieces, es.Polynomials(5))
            wall = time.perf_counter() - begin
            after = client.run(time.process_time)
    spent = [after[name] - before[name] for name in after]
    note = f"{problem.fingerprint[:16]}, all workers {sum(spent):.2f} s"
    print(json.dumps(asdict(Measured("workers", _ROWS, 56, 3, workers, max(spent), wall, 0.0, peak(), note))))


def _load() -> None:
    es.StrongForm().problem(es.Trajectories.from_arrays(np.zeros((99, 3)), time=0.1), es.Polynomials(5))
