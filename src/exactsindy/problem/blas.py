"""How many threads BLAS uses."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread.

    For hundreds of products that take milliseconds: threads wait for one another at the end of each, and where another
    program keeps one of the cores busy that costs ten times the work itself.

    Examples
    --------
    >>> import numpy as np
    >>> with one_thread():
    ...     product = np.ones((2, 3)) @ np.ones((3, 2))
    """
    return _libraries().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _libraries() -> Any:
    # SciPy brings a BLAS of its own: it must be loaded to be found.
    import scipy.linalg.blas  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
