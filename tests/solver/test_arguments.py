"""Every refusal names the argument, what came, what was expected and the cure."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from exactsindy.errors import ConstraintError, ExactSindyError, ProblemError, SolverError
from exactsindy.problem import Problem
from exactsindy.solver import Settings, Total, refit, solve, solve_path, solve_pool

COUNT = "expected a number of terms (an integer >= 0)."
CALLS = {
    "solve": solve,
    "path": solve_path,
    "pool": lambda *args, **options: solve_pool(*args, count=1, **options),
}


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    return Problem.from_arrays(
        rng.standard_normal((30, 4)),
        rng.standard_normal((30, 2)),
        names=["x", "y", "xy", "z"],
        target_names=["x'", "y'"],
    )


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    return Problem.from_arrays(rng.standard_normal((90, 80)), rng.standard_normal(90))


def refused(error, text):
    """The whole message is ``text``."""
    return pytest.raises(error, match=f"^{re.escape(text)}$")


# k


@pytest.mark.parametrize("k", [-1, 1.5, 2.0, "2", None, True, math.nan])
@pytest.mark.parametrize("call", ["solve", "pool"])
def test_number_of_terms_must_be_a_count(problem, call, k):
    with refused(SolverError, f"k={k!r}: {COUNT}"):
        CALLS[call](problem, k)


@pytest.mark.parametrize("k", [-1, 1.5, "2", None, True])
def test_largest_number_of_terms_must_be_a_count(problem, k):
    with refused(SolverError, f"k_max={k!r}: {COUNT}"):
        solve_path(problem, k)


@pytest.mark.parametrize("k", [[3, 1], {"x": 3, "y": 1}])
def test_path_takes_one_largest_size(problem, k):
    """Silently using the first one for all equations would answer another question."""
    with pytest.raises(SolverError, match="k_max"):
        solve_path(problem, k)


def test_zero_dimensional_array_is_a_number(problem):
    assert solve(problem, np.array(2)).k == (2, 2)


@pytest.mark.parametrize("call", ["solve", "pool"])
def test_sequence_must_have_one_entry_per_equation(problem, call):
    with refused(SolverError, "k has 3 entries, but the problem has 2 equations (x', y')."):
        CALLS[call](problem, [1, 2, 3])
    with refused(SolverError, "k has 0 entries, but the problem has 2 equations (x', y')."):
        CALLS[call](problem, [])
    with refused(SolverError, f"k[1]=-2: {COUNT}"):
        CALLS[call](problem, [1, -2])
    with refused(SolverError, f"k[0]='a': {COUNT}"):
        CALLS[call](problem, ["a", "b"])


def test_mapping_must_name_every_equation(problem):
    with refused(SolverError, "k gives no number of terms for y': name every equation, or pass one int for all."):
        solve(problem, {"x": 1})
    with refused(SolverError, f"k['y']=1.5: {COUNT}"):
        solve(problem, {"x": 1, "y": 1.5})
    with pytest.raises(ProblemError, match=r"^there is no target 'w'\. Known are x', y'\.$"):
        solve(problem, {"w": 1})


@pytest.mark.parametrize(
    "call",
    [
        lambda problem: solve(problem, {"x": 1, "x'": 2, "y": 1}),
        lambda problem: refit(problem, {"x": ["x"], "x'": ["y"]}),
        lambda problem: solve(problem, Total(2, {"x": 1.0, "x'": 2.0})),
    ],
    ids=["k", "support", "weights"],
)
def test_equation_named_twice_is_refused(problem, call):
    with pytest.raises(ExactSindyError, match="x'"):
        call(problem)


@pytest.mark.parametrize("call", ["solve", "path", "pool"])
def test_too_many_terms(wide, call):
    with refused(
        SolverError,
        "y0': 65 terms asked for, the solver takes at most 64. An exact search for larger models has no "
        "prospect: use a smaller k.",
    ):
        CALLS[call](wide, 65)


def test_too_many_terms_for_other_entries(wide):
    with pytest.raises(SolverError, match="65 terms asked for, the solver takes at most 64"):
        solve(wide, Total(65))
    with pytest.raises(SolverError, match="65 terms asked for, the solver takes at most 64"):
        refit(wide, [list(range(65))])


# ridge


@pytest.mark.parametrize("call", ["solve", "path", "pool"])
@pytest.mark.parametrize(
    "ridge, text",
    [
        ("much", "ridge='much': expected a number >= 0 or an array of them."),
        (1j, "ridge=1j: expected a number >= 0 or an array of them."),
        (-1.0, "ridge holds a negative or non-finite number: expected numbers >= 0."),
        (math.nan, "ridge holds a negative or non-finite number: expected numbers >= 0."),
        (math.inf, "ridge holds a negative or non-finite number: expected numbers >= 0."),
        ([1, 2, 3, -4], "ridge holds a negative or non-finite number: expected numbers >= 0."),
        (
            [1, 2],
            "ridge has shape (2,): expected a number, 4 weights (one per term) or a 2 x 4 array (equations x terms).",
        ),
        (
            np.ones((4, 2)),
            "ridge has shape (4, 2): expected a number, 4 weights (one per term) or a 2 x 4 array (equations x terms).",
        ),
    ],
)
def test_ridge(problem, call, ridge, text):
    with refused(SolverError, text):
        CALLS[call](problem, 1, ridge=ridge)


def test_ridge_of_a_refit(problem):
    with pytest.raises(SolverError, match="ridge holds a negative"):
        refit(problem, [[], []], ridge=-1)


# start and support


STARTS = {
    "start": lambda problem, value: solve(problem, 1, start=value),
    "start of a path": lambda problem, value: solve_path(problem, 1, start=value),
    "start of a pool": lambda problem, value: solve_pool(problem, 1, count=1, start=value),
    "support": refit,
}


@pytest.mark.parametrize("given", STARTS)
def test_supports(problem, given):
    call, name = STARTS[given], given.split()[0]
    with refused(SolverError, f"{name}[\"x'\"]: no term 'w' in the library of x'; it has x, y, xy, z."):
        call(problem, {"x": ["w"]})
    with refused(SolverError, f"{name}[\"y'\"]: term index 4 is not in the library of y'."):
        call(problem, [[0], [4]])
    with refused(
        SolverError,
        f"{name} has 1 entries, but the problem has 2 equations (x', y'): give one list of terms per equation.",
    ):
        call(problem, [["x"]])
    with refused(SolverError, f"{name}=3: expected a mapping from target to terms, or one list per equation."):
        call(problem, 3)
    with pytest.raises(ProblemError, match="there is no target 'w'"):
        call(problem, {"w": ["x"]})


@pytest.mark.parametrize("given", ["start", "support"])
@pytest.mark.parametrize("index", [-1, 1.5])
def test_index_of_a_term(problem, given, index):
    """An index is not a number of terms: the message must speak of what was given."""
    with pytest.raises(SolverError, match=r"x'") as error:
        STARTS[given](problem, {"x": [index]})
    assert repr(index) in str(error.value)
    assert "number of terms" not in str(error.value)


@pytest.mark.parametrize("value", [{"x": "xy"}, ["xy", "z"]])
def test_name_of_one_term_is_not_a_list_of_letters(problem, value):
    """The term "xy" must never silently become x and y."""
    with pytest.raises(SolverError, match="list"):
        refit(problem, value)


@pytest.mark.parametrize("given", ["start", "support"])
@pytest.mark.parametrize("value", [{"x": 3}, [1, 2]])
def test_one_index_where_a_list_is_expected(problem, given, value):
    with pytest.raises(SolverError, match="list"):
        STARTS[given](problem, value)


def test_support_of_another_library():
    rng = np.random.default_rng(0)
    p = Problem.from_arrays(rng.standard_normal((9, 2)), rng.standard_normal(9), names=["a", "b"], target_names=["x'"])
    q = Problem.from_arrays(rng.standard_normal((9, 2)), rng.standard_normal(9), names=["b", "c"], target_names=["y'"])
    problem = Problem.from_blocks([p, q])
    with refused(SolverError, "support[\"x'\"]: no term 'c' in the library of x'; it has a, b."):
        refit(problem, {"x": ["c"]})
    with refused(SolverError, "support[\"y'\"]: term index 0 is not in the library of y'."):
        refit(problem, {"y": [0]})


# constraints, backend, problem


@pytest.mark.parametrize("call", ["solve", "path", "pool"])
def test_constraints_must_be_a_list(problem, call):
    with refused(ConstraintError, 'constraints="x\': x == 0": expected a list of constraints, e.g. ["x\': y >= 0"].'):
        CALLS[call](problem, 1, constraints="x': x == 0")


def test_constraints_of_a_refit_must_be_a_list(problem):
    with pytest.raises(ConstraintError, match="expected a list of constraints"):
        refit(problem, [[], []], constraints=3)


def test_unknown_backend(problem):
    with refused(
        SolverError,
        "backend='cplex': expected one of native, enumerate, scip, gurobi, gurobi-bigm.",
    ):
        solve(problem, 1, backend="cplex")


@pytest.mark.parametrize("call", ["solve", "path", "pool", "refit"])
def test_problem_must_be_a_problem(call):
    """The first thing a newcomer gets wrong: passing the arrays themselves."""
    with pytest.raises(ExactSindyError, match="Problem"):
        refit(np.eye(3), [[0]]) if call == "refit" else CALLS[call](np.eye(3), 1)


# Path


def test_sizes_of_a_path(problem):
    path = solve_path(problem, 2)
    for k in (3, -1):
        with pytest.raises(IndexError, match=re.escape(f"path[{k}]: this path goes from 0 to 2 terms")):
            path[k]
    with refused(SolverError, "at(k=[1, 3]): this path goes from 0 to 2 terms."):
        path.at([1, 3])
    with refused(SolverError, "k has 1 entries, but the problem has 2 equations (x', y')."):
        path.at([1])
    for lam in (-1.0, math.nan):
        with refused(SolverError, f"penalised(lam={lam!r}): expected a number >= 0."):
            path.penalised(lam)


# Settings


POSITIVE = "expected a positive number, or None for no limit."
NODES = "expected a positive integer below 2**63, or None for no limit."
THREADS = "expected a positive integer, at most 1024, or None for no limit."


@pytest.mark.parametrize(
    "options, text",
    [
        ({"gap": -1e-9}, "Settings(gap=-1e-09): expected a number >= 0, e.g. 1e-9."),
        ({"gap": math.nan}, "Settings(gap=nan): expected a number >= 0, e.g. 1e-9."),
        ({"seconds": 0}, f"Settings(seconds=0): {POSITIVE}"),
        ({"seconds": -1.0}, f"Settings(seconds=-1.0): {POSITIVE}"),
        ({"seconds": math.nan}, f"Settings(seconds=nan): {POSITIVE}"),
        ({"nodes": 0}, f"Settings(nodes=0): {NODES}"),
        ({"threads": 0}, f"Settings(threads=0): {THREADS}"),
        ({"threads": -2}, f"Settings(threads=-2): {THREADS}"),
        ({"nodes": 2**70}, f"Settings(nodes={2**70}): {NODES}"),
        ({"threads": 2**40}, f"Settings(threads={2**40}): {THREADS}"),
    ],
)
def test_settings(options, text):
    with refused(SolverError, text):
        Settings(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"gap": "small"},
        {"gap": None},
        {"seconds": "ten"},
        {"nodes": 1.5},
        {"nodes": "many"},
        {"threads": 1.5},
        {"progress": 3},
    ],
)
def test_settings_of_the_wrong_type(problem, options):
    """Refused at once by name, not later by the native module."""
    ((name, value),) = options.items()
    with pytest.raises(SolverError, match=re.escape(f"Settings({name}={value!r})")):
        Settings(**options)


def test_infinite_time_is_no_limit(problem):
    assert solve(problem, 1, settings=Settings(seconds=math.inf)).optimal


def test_settings_are_frozen_and_have_the_documented_defaults():
    defaults = Settings()
    assert (defaults.gap, defaults.seconds, defaults.nodes, defaults.threads, defaults.progress) == (
        1e-9,
        None,
        None,
        None,
        None,
    )
    with pytest.raises(AttributeError):
        defaults.gap = 0.1
