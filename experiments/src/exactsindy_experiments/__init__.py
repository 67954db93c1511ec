"""The benchmarks and the published experiments: one configuration row in, one result row out."""

from exactsindy_experiments.instances import DURATIONS, Equation, Instance, Prepared, prepare
from exactsindy_experiments.path_benchmark import PathCase, PathRow, measure_path
from exactsindy_experiments.presets import PRESETS, Preset
from exactsindy_experiments.solver_benchmark import measure
from exactsindy_experiments.solver_rows import Answer, Case, Limits, Row
from exactsindy_experiments.table import Table

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
