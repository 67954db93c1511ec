"""One call from data to a selected, certified model."""

import sys
from types import ModuleType
from typing import Any

from exactsindy.discover.checking import RunVerification as RunVerification
from exactsindy.discover.checking import verify_run as verify_run
from exactsindy.discover.discovering import discover as discover
from exactsindy.discover.record import Discovery as Discovery
from exactsindy.discover.run_folder import Run as Run
from exactsindy.discover.run_folder import load_run as load_run
from exactsindy.discover.run_folder import save_run as save_run


class _Verb(ModuleType):
    """The room and its verb share a name: importing the room binds it in the package, and must not hide the verb."""

    def __call__(self, *args: Any, **options: Any) -> Discovery:
        return discover(*args, **options)


sys.modules[__name__].__class__ = _Verb
