"""A run is resumable, says how far it is, and ends in a page and a plot."""

import math
from dataclasses import replace

import pytest

from exactsindy_experiments.pages import geometric_mean, machine
from exactsindy_experiments.solver_presets import PRESETS, Library, Preset, groups
from exactsindy_experiments.solver_report import report
from exactsindy_experiments.solver_rows import Limits, PathRow, Task
from exactsindy_experiments.solver_run import describe, run, solver_table

CASES = groups(
    [Library("hopf", 3, (0.5,), (0, 1), largest=2)],
    lambda task, true: ("enumeration", "okridge"),
    ridges=(0.01,),
)
PRESET = Preset("tiny", CASES, (), Limits(seconds=5.0, repeats=1))


@pytest.fixture
def measured(tmp_path, stand_in):
    lines = []
    run(PRESET, tmp_path, say=lines.append, reference=stand_in)
    return tmp_path, lines


def test_every_case_has_its_row(measured):
    folder, lines = measured
    rows = list(solver_table(folder))
    assert [row.case for row in rows] == list(CASES)
    assert {row.status for row in rows if row.solver == "okridge"} == {"not installed"}
    assert all(row.truly_optimal for row in rows if row.solver == "enumeration")
    assert lines[0] == "tiny: 0 rows present, 12 to measure."
    assert lines[1].startswith("[1/12, ")
    assert "hopf degree 3 (D=10), 0.5 s, x', k=4, ridge 0.01, exactsindy: optimal in" in lines[1]


def test_a_second_run_measures_only_what_was_missing(measured, stand_in):
    folder, _ = measured
    before = (folder / "solver.csv").read_text()
    lines = []
    run(PRESET, folder, say=lines.append, reference=stand_in)
    # What was not installed may be installed now.
    assert lines[0] == "tiny: 8 rows present, 4 to measure."
    assert (folder / "solver.csv").read_text().startswith(before)
    lines.clear()
    run(PRESET.with_seconds(6.0), folder, say=lines.append, reference=stand_in)
    assert lines[0] == "tiny: 0 rows present, 12 to measure."


def test_an_interruption_keeps_what_was_measured(tmp_path, stand_in):
    calls = []

    def interrupted(equation, seconds):
        calls.append(equation)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return stand_in(equation, seconds)

    with pytest.raises(KeyboardInterrupt):
        run(PRESET, tmp_path, say=lambda line: None, reference=interrupted)
    assert len(solver_table(tmp_path)) == 6
    lines = []
    run(PRESET, tmp_path, say=lines.append, reference=stand_in)
    assert lines[0] == "tiny: 4 rows present, 8 to measure."
    assert [row.case for row in solver_table(tmp_path)] == list(CASES)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_start_each_group_with_us_and_repeat_nothing(name):
    preset = PRESETS[name]()
    assert preset.name == name
    assert len(set(preset.cases)) == len(preset.cases)
    seen = set()
    for case in preset.cases:
        if case.solver == "exactsindy":
            seen.add(case.task)
        assert case.task in seen
    assert {"gurobi published", "gurobi sos1", "scip", "enumeration", "okridge", "l0bnb"} < {
        case.solver for case in preset.cases
    }
    assert preset.paths


def test_full_preset_is_the_published_grid():
    cases = [case for case in PRESETS["full"]().cases if case.solver == "exactsindy"]
    assert len(cases) == 12 * 2 * 2 * (2 * (2 + 3 + 6))
    assert {case.task.size for case in cases if case.task.system == "hopf"} == {4, 5}


PATHS = [
    PathRow(Task("mhd", 3, 0.5, 1, "V1'", 6, 0.01), 84, 0.3, 0.4, 0.2, 6, 1.5, True),
    PathRow(Task("hopf", 3, 0.5, 1, "x'", 6, 0.01), 10, 1e-4, 2e-4, 1e-4, 5, 1.0, True),
]


def test_the_page(measured):
    rows = list(solver_table(measured[0]))
    page = report(rows, PATHS, machine())
    assert "ERROR" not in page
    assert "No peer claimed optimality" in page
    assert "| hopf degree 3 | 10 | 4 | 2 |" in page
    assert "(1 of 2 paths), the path costs 1.50 times that size (geometric mean), at most 2 times in 1 of 1" in page
    assert "cores; Python 3" in machine()


def test_the_page_shows_wrong_answers_and_contradictions(measured):
    rows = list(solver_table(measured[0]))
    peer = next(row for row in rows if row.solver == "enumeration")
    wrong = replace(
        peer, case=replace(peer.case, solver="gurobi published"), excess=0.031, truly_optimal=False, support="1; x y"
    )
    page = report([*rows, wrong], PATHS, "here")
    assert "1 in all, the worst" in page
    assert "| Gurobi, as published | 3.1 % |" in page
    assert "| 1 of 1 |" in page
    page = report([*rows, replace(peer, excess=-0.2)], [], "here")
    assert "## ERROR: answers better than our proved optimum" in page


def test_ratios_are_geometric_means_split_at_one_second(measured):
    rows = list(solver_table(measured[0]))
    ours = rows[0]
    peers = [
        replace(
            ours,
            case=replace(ours.case, solver="scip"),
            seconds=seconds,
            ratio=ratio,
            call_ratio=ratio / 2,
            status=status,
        )
        for seconds, ratio, status in [
            (2.0, 100.0, "optimal"),
            (30.0, 10_000.0, "time limit"),
            (0.5, 30.0, "optimal"),
            (math.nan, math.nan, "failed"),
        ]
    ]
    line = next(line for line in report([ours, *peers], [], "here").splitlines() if line.startswith("| SCIP"))
    assert line == "| SCIP | 1,000 (2) | 30 (1) | 30 | 500 (2) / 15 (1) | 15 | 1 of 3 | 0 of 2 | 1 |"
    assert math.isnan(geometric_mean([]))


def test_the_plot_is_written(measured):
    pytest.importorskip("matplotlib")
    from exactsindy_experiments.solver_plot import plot

    folder, _ = measured
    plot(solver_table(folder), folder / "solver.png")
    assert (folder / "solver.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in folder.iterdir()) == ["solver.csv", "solver.png"]


def test_lines_say_what_is_wrong(measured):
    row = next(row for row in solver_table(measured[0]) if row.solver == "enumeration")
    assert describe(replace(row, truly_optimal=False)).endswith("x ours, NOT optimal")
    assert describe(replace(row, truly_optimal=None)).endswith("not compared")
    assert describe(replace(row, status="licence", note="too large")).endswith("enumeration: licence (too large)")
