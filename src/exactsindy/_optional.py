"""Optional packages, loaded when they are needed."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

from exactsindy.errors import MissingDependency


def optional(module: str, extra: str, purpose: str) -> Any:
    """Return an optional module, or say which pip line installs it.

    Examples
    --------
    >>> optional("math", "data", "square roots").sqrt(4.0)
    2.0
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some packages warn at import that parts of them are missing
            return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingDependency(f"{purpose} needs the package {package}: pip install exactsindy[{extra}]") from error
