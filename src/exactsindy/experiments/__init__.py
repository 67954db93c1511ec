"""The benchmarks and the published experiments: one configuration row in, one result row out."""

from exactsindy.experiments.instances import DURATIONS, Equation, Instance, Prepared, prepare
from exactsindy.experiments.path_benchmark import PathCase, PathRow, measure_path
from exactsindy.experiments.presets import PRESETS, Preset
from exactsindy.experiments.solver_benchmark import measure
from exactsindy.experiments.solver_rows import Answer, Case, Limits, Row
from exactsindy.experiments.table import Table

__all__ = [
    "DURATIONS",
    "PRESETS",
    "Answer",
    "Case",
    "Equation",
    "Instance",
    "Limits",
    "PathCase",
    "PathRow",
    "Prepared",
    "Preset",
    "Row",
    "Table",
    "measure",
    "measure_path",
    "prepare",
]
