"""Asking a worker that may not answer: then that is the answer."""

from __future__ import annotations

from exactsindy_experiments.workers import Json, Worker


def told_by(worker: Worker, request: Json, patience: float) -> Json:
    """Return the answer, or ``{"failure": ...}`` and an ended worker if there is none in so many seconds."""
    try:
        return worker.ask(request, patience)
    except (TimeoutError, ConnectionError) as error:
        worker.stop()
        return {"failure": f"{type(error).__name__}: {error}"}
