"""The experiments of the paper: run them, keep their rows, report them beside the published numbers."""

from exactsindy_experiments.paper.records import Case, Outcome, Result
from exactsindy_experiments.paper.reporting import report
from exactsindy_experiments.paper.running import Progress, experiments_list, run, take_rows
from exactsindy_experiments.paper.studies import Study, find_study

__all__ = [
    "Case",
    "Outcome",
    "Progress",
    "Result",
    "Study",
    "experiments_list",
    "find_study",
    "report",
    "run",
    "take_rows",
]
