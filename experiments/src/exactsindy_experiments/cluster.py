"""Bundles of cases on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from exactsindy._optional import optional
from exactsindy.errors import DataError

Request = TypeVar("Request")


def run_bundles_on(
    address: str,
    bundles: Iterable[Sequence[Request]],
    answer: Callable[[Request], Any],
    take: Callable[[Request, Any], None],
) -> None:
    """Run bundles of requests on a cluster; those of a bundle follow one another on one worker and share its caches.

    ``take`` receives the answers of a bundle when it is done. What a lost worker had begun is done again by another.
    """
    distributed = optional("distributed", "dask", "A Dask scheduler")
    try:
        client = distributed.Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise DataError(f"--scheduler {address}: no scheduler answers there ({type(error).__name__}).") from error
    with client:
        waiting = {client.submit(_answers, answer, list(bundle), pure=False): bundle for bundle in bundles}
        for future, answers in distributed.as_completed(list(waiting), with_results=True):
            for request, result in zip(waiting[future], answers, strict=True):
                take(request, result)


def _answers(answer: Callable[[Any], Any], requests: list[Any]) -> list[Any]:
    return [answer(request) for request in requests]
