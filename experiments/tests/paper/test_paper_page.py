"""The page in the documentation is what the stored rows print."""

from pathlib import Path

from exactsindy_experiments.paper.findings import goals
from exactsindy_experiments.paper.records import Result
from exactsindy_experiments.paper.reporting import ROWS, _curves, _section
from exactsindy_experiments.paper.studies import STUDIES
from exactsindy_experiments.paper.summary import cells
from exactsindy_experiments.results import read_rows

FOLDER = Path(__file__).parents[3] / "docs" / "benchmarks" / "paper"


def test_the_stored_page_is_printed_from_the_stored_rows():
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = read_rows(FOLDER / ROWS, Result)
    every = cells(rows)
    assert goals(rows, every) in page
    for study in STUDIES.values():
        members = [cell for cell in every if cell.case.experiment == study.name]
        assert _section(study, members) + _curves(study, members) in page
    assert f"{len(rows)} rows, {sum(bool(outcome.error) for _, outcome in rows)} of cases that failed." in page


def test_the_page_and_its_rows_stay_small():
    assert len((FOLDER / "README.md").read_text(encoding="utf-8").splitlines()) <= 250
    assert (FOLDER / ROWS).stat().st_size < 3e6
