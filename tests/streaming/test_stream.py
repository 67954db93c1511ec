"""Streams: rows absorbed and forgotten, optima proved again, changes of law noticed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import exactsindy as es
from exactsindy.errors import DataError, ProblemError
from exactsindy.forms import smooth
from pieced_data import assert_same

LIBRARY = es.Polynomials(2)


def oscillation(n=4000, noise=1e-3, seed=0, change=None):
    """A damped oscillation, stirred by noise; from row ``change`` on with another frequency."""
    rng, dt = np.random.default_rng(seed), 0.01
    x = np.empty((n, 2))
    x[0] = 1.0, 0.0
    for i in range(1, n):
        w = 1.0 if change is None or i < change else 1.7
        c, s = np.cos(w * dt), np.sin(w * dt)
        x[i] = c * x[i - 1, 0] + s * x[i - 1, 1], -s * x[i - 1, 0] + c * x[i - 1, 1]
    return dt * np.arange(n), x + noise * rng.normal(size=x.shape)


def chunks(times, states, size=500):
    for start in range(0, len(times), size):
        part = slice(start, start + size)
        yield es.Trajectories.from_arrays(states[part], time=times[part], states=("x", "v"))


def fed(stream, *data, size=500):
    for chunk in chunks(*data, size):
        stream.update(chunk)
    return stream


def test_the_problem_is_that_of_the_whole_record():
    times, states = oscillation()
    form = es.StrongForm()
    stream = fed(es.Stream(form, LIBRARY, k=1), times, states)
    reach = form.plan(_pieces(times, states), LIBRARY).reach[1]
    whole = es.Trajectories.from_arrays(states, time=times, states=("x", "v"))
    rows = form.folds(whole, LIBRARY, 2)  # (the last rows wait for the next chunk)
    assert stream.problem.n_samples == 4000 - reach
    # A trajectory of its own comes next: the rows that waited are made as at the end of a trajectory.
    stream.update(es.Trajectories.from_arrays(states[:100], time=times[:100] + 1000.0, states=("x", "v")))
    waiting = es.StrongForm().problem(
        es.Trajectories.from_arrays(states[:100], time=times[:100], states=("x", "v")), LIBRARY
    )
    assert stream.problem.n_samples == rows[0].n_samples + rows[1].n_samples + waiting.n_samples - reach
    assert stream.solution.support == ((2,), (1,))


def _pieces(times, states):
    from exactsindy.chunked import pieces_of

    return pieces_of([es.Trajectories.from_arrays(states, time=times, states=("x", "v"))])


def test_rows_of_joined_chunks_are_exact():
    times, states = oscillation(2000)
    whole = es.Trajectories.from_arrays(states, time=times, states=("x", "v"))
    other = es.Trajectories.from_arrays(states, time=times + 100.0, states=("x", "v"))
    stream = fed(es.Stream(es.StrongForm(), LIBRARY, k=1), times, states, size=300)
    stream.update(other)  # ends the first record
    second = es.Stream(es.StrongForm(), LIBRARY, k=1)
    second.update(other)
    assert_same(es.StrongForm().problem(whole, LIBRARY) + second.problem, stream.problem)


def test_whitened_increments_go_on_from_chunk_to_chunk():
    times, states = oscillation(2000)
    whole = es.Trajectories.from_arrays(states, time=times, states=("x", "v"))
    form = es.IncrementForm(smoothed=smooth(whole))
    stream = fed(es.Stream(form, LIBRARY, k=1), times, states, size=300)
    stream.update(es.Trajectories.from_arrays(states, time=times + 100.0, states=("x", "v")))  # ends the first record
    second = es.Stream(form, LIBRARY, k=1)
    second.update(es.Trajectories.from_arrays(states, time=times + 100.0, states=("x", "v")))
    assert_same(form.problem(whole, LIBRARY) + second.problem, stream.problem)


def test_solutions_are_proved_and_those_of_solve():
    times, states = oscillation()
    stream = fed(es.Stream(es.StrongForm(), LIBRARY, k=2), times, states)
    alone = es.solve(stream.problem, 2)
    assert stream.solution.support == alone.support
    np.testing.assert_array_equal(stream.solution.coef, alone.coef)
    assert all(status.name == "OPTIMAL" for status in stream.solution.status)
    assert es.verify(stream.problem, stream.solution).ok


def apart(times, states):
    """Chunks that do not go on from one another."""
    return [
        es.Trajectories.from_arrays(chunk[0].states, time=chunk[0].times + 9.0 * i, states=("x", "v"))
        for i, chunk in enumerate(chunks(times, states))
    ]


def test_a_window_holds_the_sum_of_its_chunks():
    times, states = oscillation()
    far = apart(times, states)
    stream = es.Stream(es.MapForm(), LIBRARY, k=1, window=1200)
    for i, chunk in enumerate(far):
        stream.update(chunk)
        expected = sum(es.MapForm().problem(c, LIBRARY) for c in far[max(i - 2, 0) : i + 1])
        assert_same(expected, stream.problem)


def test_old_rows_count_less():
    times, states = oscillation()
    far = apart(times, states)
    stream = es.Stream(es.MapForm(), LIBRARY, k=1, half_life=499)
    for chunk in far[:3]:
        stream.update(chunk)
    first, second, third = (es.MapForm().problem(chunk, LIBRARY) for chunk in far[:3])
    assert_same(0.25 * first + 0.5 * second + third, stream.problem)


def test_sizes_are_chosen_where_none_are_asked_for():
    stream = fed(es.Stream(es.StrongForm(), LIBRARY), *oscillation())
    assert [list(terms) for terms in stream.solution.terms.values()] == [["v"], ["x"]]


def test_a_change_of_law_is_noticed():
    times, states = oscillation(8000, change=4000)
    stream = fed(es.Stream(es.StrongForm(), LIBRARY, k=1, restart=True), times, states)
    assert {change.equation for change in stream.changes} == {"x'", "v'"}
    assert all(3500 <= change.rows <= 4500 for change in stream.changes)
    assert "changed after" in str(stream.changes[0])
    assert abs(stream.solution.terms["x'"]["v"] - 1.7) < 0.01
    assert stream.problem.n_samples < 4600


def test_no_change_is_noticed_where_there_is_none():
    assert fed(es.Stream(es.StrongForm(), LIBRARY, k=1), *oscillation(20000)).changes == []


@pytest.mark.parametrize("options", [{}, {"window": 1200}, {"half_life": 700.0}])
@pytest.mark.parametrize("form", [es.StrongForm(), es.MapForm(), es.WeakForm()])
def test_a_stream_that_was_stored_goes_on_to_the_same_bits(form, options, tmp_path):
    times, states = oscillation(6000, change=4000)
    *parts, last = chunks(times, states)
    stream = es.Stream(form, LIBRARY, **options)
    for part in parts[:5]:
        stream.update(part)
    (tmp_path / "stream").write_bytes(pickle.dumps(stream))
    again = pickle.loads((tmp_path / "stream").read_bytes())
    for part in [*parts[5:], last]:
        stream.update(part)
        again.update(part)
    assert again.problem.fingerprint == stream.problem.fingerprint
    assert (again.solution.coef == stream.solution.coef).all()
    assert (again.rows, again.changes) == (stream.rows, stream.changes)


def test_a_window_goes_over_to_a_changed_law_by_itself():
    stream = fed(es.Stream(es.StrongForm(), LIBRARY, k=1, window=1000), *oscillation(8000, change=4000))
    assert abs(stream.solution.terms["x'"]["v"] - 1.7) < 0.01
    assert stream.changes
    assert stream.problem.n_samples < 2000


def test_old_rows_that_count_less_go_over_to_a_changed_law():
    stream = fed(es.Stream(es.StrongForm(), LIBRARY, k=1, half_life=250.0), *oscillation(8000, change=4000))
    assert abs(stream.solution.terms["x'"]["v"] - 1.7) < 0.01


def test_fields_are_absorbed_slab_by_slab():
    x, t = 2 * np.pi * np.arange(64) / 64, np.linspace(0, 4, 200)
    u = np.sin(x[:, None] - t) + 0.5 * np.cos(2 * (x[:, None] - t))
    whole = es.Field.from_arrays(u, dims=("x", "t"), coords={"x": x, "t": t}, periodic=("x",))
    stream = es.Stream(es.StrongForm(), es.Derivatives(2), k=1)
    for part in whole.folds(4):
        stream.update(part)
    assert list(stream.solution.terms["u_t"]) == ["u_x"]


def test_what_is_wrong_is_said():
    with pytest.raises(ProblemError, match="two ways to forget"):
        es.Stream(es.StrongForm(), LIBRARY, window=10, half_life=10.0)
    with pytest.raises(ProblemError, match=r"Stream\(window=0\): expected a number of rows"):
        es.Stream(es.StrongForm(), LIBRARY, window=0)
    with pytest.raises(DataError, match="there are no rows yet"):
        es.Stream(es.StrongForm(), LIBRARY).solution  # noqa: B018
