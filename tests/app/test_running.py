import io
import json
import time

import numpy as np
import pytest

from exactsindy.app.examples import EXAMPLES
from exactsindy.app.question import Question
from exactsindy.app.running import RunView, advanced
from exactsindy.app.session import Session
from exactsindy.app.what_if import Changes
from exactsindy.app.worker import Reporter
from exactsindy.errors import DataError, SolverError
from exactsindy.solver import Progress

TABLE = "t,x,v\n" + "".join(f"{t:.2f},{np.cos(t):.4f},{-np.sin(t):.4f}\n" for t in np.arange(0.0, 12.0, 0.05))


@pytest.fixture
def session(tmp_path):
    session = Session.within(tmp_path)
    yield session
    session.close()
    assert not session.folder.exists()


def finished(session, seconds=120):
    end = time.monotonic() + seconds
    while session.is_running:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_the_way_from_a_table_to_a_changed_answer(session):
    session.take_text(TABLE)
    assert session.can_start
    assert session.candidates().count == 10
    session.question = Question(degree=2, seconds=30.0)
    session.start()
    assert session.is_running
    assert not session.can_start
    finished(session)
    assert session.run.view.problem == ""
    assert session.run.view.phases
    assert session.finish()
    assert not session.finish()
    answer = session.answer()
    assert [[term.name for term in equation.terms] for equation in answer.equations] == [["v"], ["x"]]
    session.change(Changes().forbid("x'", "v"))
    assert "v" not in [term.name for term in session.answer().equations[0].terms]
    assert "Forbid" in session.lines()[0]
    with pytest.raises(SolverError):
        session.change(Changes().take_rival("x'", 1000))
    assert session.changes == Changes().forbid("x'", "v")  # what failed changed nothing
    session.take_text(TABLE)
    assert session.answer() is None


def test_stop_keeps_the_best_answer_or_says_there_is_none(session):
    session.take_example(EXAMPLES[0])
    session.question = Question(degree=5, seconds=60.0)
    session.start()
    end = time.monotonic() + 60
    while not session.run.view.phases and time.monotonic() < end:
        time.sleep(0.02)
    session.run.stop()
    assert session.run.view.stopping
    finished(session)
    if session.finish():
        assert any(notice.kind == "interrupted" for notice in session.selected.warnings)
    else:
        assert session.run.view.problem.startswith("Interrupted while ")


def test_stop_keeps_what_the_page_shows(session):
    """Once terms of every equation stand on the page, a stop ends with an answer and says what it cut short."""
    session.take_example(EXAMPLES[0])
    session.question = Question(degree=5, seconds=300.0)
    session.start()
    end = time.monotonic() + 120
    while len(session.run.view.equations) < 3 and not session.run.view.finished and time.monotonic() < end:
        time.sleep(0.02)
    session.run.stop()
    finished(session)
    assert session.finish(), session.run.view.problem
    assert all(row.terms for row in session.selected.model.rows)


def test_a_search_that_cannot_be_done_ends_in_a_sentence(session):
    with pytest.raises(DataError, match="nothing to search yet"):
        session.start()
    session.take_text(TABLE)
    session.question = Question(constraints=("x': nothing == 1",))
    session.start()
    finished(session)
    assert "nothing" in session.run.view.problem
    assert not session.finish()


def test_sessions_have_folders_of_their_own(tmp_path):
    one, two = Session.within(tmp_path), Session.within(tmp_path)
    one.take_text(TABLE)
    assert one.folder != two.folder
    assert two.preview is None
    assert one.source.path.is_relative_to(one.folder)
    one.close()
    assert two.folder.exists()
    two.close()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.title)
def test_every_example_is_ready_to_start(example, session):
    session.take_example(example)
    assert session.preview.problem == ""
    assert session.can_start
    assert 3 <= session.candidates().count <= 60


def test_reports_of_a_search_become_a_view():
    out = io.StringIO()
    report = Reporter(out)
    report.tick(Progress({}, {}, 0, 0.5, phase="smoothing the states"))
    report.tick(Progress({}, {}, 0, 1.0, phase="searching the best supports of every size"))
    report._last = 0.0
    report.tick(Progress({"x'": 2.0, "y'": np.inf}, {"x'": 1.0}, 70, 1.5, terms={"x'": ("x", "y")}))
    view = RunView()
    for line in out.getvalue().splitlines():
        view = advanced(view, json.loads(line))
    assert view.phases == ("smoothing the states", "searching the best supports of every size")
    assert (view.nodes, view.seconds) == (70, 1.5)
    first, second = view.equations
    assert (first.terms, first.gap) == (("x", "y"), 0.5)
    assert second.gap is None
