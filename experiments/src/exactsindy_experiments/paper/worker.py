"""A process that runs cases: JSON lines in, JSON lines out. Started by `pool`, never by hand.

One process per worker, so that a case that crashes or is stopped takes nothing else down, and so that the number of
BLAS threads can be set before NumPy is loaded.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from exactsindy_experiments.paper.records import Case, Outcome


def run_case(case: Case, evaluate: Callable[[Case], Outcome] | None = None) -> Outcome:
    """Run a case; what it raises becomes the outcome's error."""
    try:
        if evaluate is None:
            from exactsindy_experiments.paper import evaluate as room

            return room.evaluate(case)
        return evaluate(case)
    except Exception as error:  # a failing trial is a result and must not stop the others
        return Outcome(error=f"{type(error).__name__}: {error}"[:500])


def main() -> None:
    """Answer requests until the other side closes."""
    # Libraries that print must not be taken for an answer.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        answers.write(json.dumps(asdict(run_case(Case(**request)))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
