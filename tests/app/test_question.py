import shlex
import subprocess
import sys

import numpy as np
import pytest

import exactsindy as es
from exactsindy.app.question import FUNCTIONS, MAP, Question, candidates, check_constraint
from exactsindy.app.repeat import python_lines, shell_line
from exactsindy.app.what_if import Changes
from exactsindy.cli.library_option import candidates as library_option
from exactsindy.errors import ConstraintError


@pytest.fixture(scope="module")
def data():
    t = np.arange(0.0, 12.0, 0.05)
    return es.Trajectories.from_arrays(np.column_stack([np.cos(t), -np.sin(t)]), time=t, states=("x", "v"))


def test_the_number_of_candidates_is_that_of_the_library(data):
    assert candidates(Question(), data).count == 10
    assert candidates(Question(degree=2), data).count == 6
    assert candidates(Question(degree=2, functions=("sin",)), data).count == 10
    assert (
        candidates(Question(degree=1, functions=tuple(FUNCTIONS)), data).count == 3 + 4 + 4 * 2
    )  # fractions are counted by the search
    assert "too many" in candidates(Question(degree=100), data).problem


def test_targets_are_named_as_load_takes_them(data, burgers):
    assert Question().targets(data) is None
    assert Question(order=1).targets(data) == ("x'", "v'")
    assert Question(order=2).targets(data) == ("x''", "v''")
    assert Question(equations=("v",)).targets(data) == ("v'",)
    assert Question(order=2).targets(burgers.data) == ("u_tt",)


def test_maps_and_second_order(data, tmp_path):
    question = Question(("v",), MAP, seconds=10.0)
    assert question.targets(data) == ("v",)
    assert question.equation_names(data) == ("v[k+1]",)
    assert check_constraint("v[k+1]: x >= 0", question, data) == ""
    assert 'targets=["v"]' in python_lines("a.csv", {}, question, data)
    assert 'es.discover(data, form="map", seconds=10)' in python_lines("a.csv", {}, question, data)
    assert "--targets v --map --seconds 10" in shell_line("a.csv", {}, question, data)
    second = Question(("x",), 2, functions=("sin",))
    names = candidates(second, data).names
    assert "x'" in names
    line = python_lines("a.csv", {}, second, data).splitlines()[3]
    library = eval(line.partition("library=")[2].partition(", seconds")[0], {"es": es})
    assert tuple(term.name for term in library.terms(second.aimed(data))) == names


def test_a_question_survives_its_record():
    question = Question(("x",), 2, 3, ("sin",), ("x': x == 0",), 10.0)
    assert Question.of_record(question.record()) == question


def test_known_physics_is_checked_before_anything_runs(data):
    assert check_constraint("x': v >= 0", Question(), data) == ""
    assert 'no equation "q\'"' in check_constraint("q': v >= 0", Question(), data)
    assert "no term 'q'" in check_constraint("x': q >= 0", Question(), data)
    assert "expected one of ==, <=, >=" in check_constraint("x': v", Question(), data)
    assert Question().with_constraint("x': v == 1").constraints == ("x': v == 1",)
    with pytest.raises(ConstraintError):
        Question().with_constraint("import os")


def test_lines_repeat_the_search(data):
    question = Question(("v",), 1, 2, (), ("v': x <= 0",), 10.0)
    arguments = {"time": "year", "controls": ["u"], "gaps": "split"}
    python = python_lines('a "b".csv', arguments, question, data)
    assert python.splitlines()[2:4] == [
        'data = es.load("a \\"b\\".csv", time="year", controls=["u"], gaps="split", targets=["v\'"])',
        'found = es.discover(data, degree=2, constraints=["v\': x <= 0"], seconds=10)',
    ]
    shell = shell_line("a b.csv", arguments, question, data)
    assert shell.startswith("exactsindy discover 'a b.csv' --time year --controls u --split-gaps --targets ")
    assert shell.endswith("--degree 2 --constraint 'v'\"'\"': x <= 0' --seconds 10 --report report.html")


def test_the_program_on_the_page_runs(tmp_path):
    t = np.arange(0.0, 12.0, 0.05)
    noise = 0.02 * np.random.default_rng(0).normal(size=(len(t), 2))
    table = np.column_stack([t, np.cos(t), -np.sin(t)])
    table[:, 1:] += noise
    np.savetxt(tmp_path / "data.csv", table, delimiter=",", header="t,x,v", comments="")
    question = Question(degree=2, functions=("sin",), seconds=20.0)
    changes = Changes().forbid("x'", "v").require("v'", "x^2")
    program = python_lines("data.csv", {}, question, es.load(tmp_path / "data.csv"), changes)
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    *_, first, second = done.stdout.splitlines()
    assert first.startswith("x' =")
    assert " v" not in first.replace("v^2", "").replace("x v", "").replace("(v)", "")
    assert "x^2" in second
    assert (tmp_path / "report.html").stat().st_size > 100_000


def test_lines_for_fields_and_functions(burgers, data):
    lines = python_lines("b.npz", {"dims": ["x", "t"]}, Question(degree=2), burgers.data)
    assert "degree=2" in lines
    line = shell_line("x.csv", {}, Question(functions=("sin", "abs")), data)
    assert line == "exactsindy discover x.csv --library 'sin,cos,x abs(x)' --seconds 60 --report report.html"
    assert shell_line("x.csv", {}, Question(functions=("rational",), degree=4), data).startswith("#")
    functions = python_lines("x.csv", {}, Question(functions=("exp",)), data)
    assert 'es.Polynomials(3) + es.Terms(["exp(x)", "exp(v)"])' in functions


@pytest.mark.parametrize("functions", [(key,) for key in FUNCTIONS] + [tuple(FUNCTIONS)])
@pytest.mark.parametrize("degree", [None, 2])
def test_the_command_line_has_the_same_library(functions, degree, data):
    question = Question(functions=functions, degree=degree)
    words = shlex.split(shell_line("x.csv", {}, question, data))
    given = int(words[words.index("--degree") + 1]) if "--degree" in words else None
    there = library_option(data, words[words.index("--library") + 1], given, 4)
    here = question.library(data)
    if not here.is_open:
        assert {term.name for term in here.terms(data)} == {term.name for term in there.terms(data)}
        return
    fractions = [[one for one in library.members if isinstance(one, es.Rational)] for library in (here, there)]
    assert fractions[0] == fractions[1]
    rest = [{t.name for one in lib.members if not one.is_open for t in one.terms(data)} for lib in (here, there)]
    assert rest[0] == rest[1]
