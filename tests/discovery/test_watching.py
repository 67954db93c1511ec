"""What one pass over data in pieces sees beside the rows, and says in the words used for data in memory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import exactsindy as es
from exactsindy.chunked import parquet
from exactsindy.discovery.watching import Far, Run, Seen
from exactsindy.errors import DataError

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

ROWS = 6000


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(parquet, "PIECE_BYTES", 24 * 1000)


def oscillation(n=ROWS, noise=0.005):
    t = 0.02 * np.arange(n)
    x = np.column_stack([np.cos(t), -np.sin(t)]) + noise * np.random.default_rng(0).normal(size=(n, 2))
    return t, x


def stored(folder, t, x, **more):
    columns = {"t": t, "x": x[:, 0], "v": x[:, 1], **more}
    pq.write_table(pa.table(columns), folder / "run.parquet", row_group_size=500)
    return es.scan_parquet(folder, controls=tuple(more))


def notices(found, kind):
    return [note.message for note in found.warnings if note.kind == kind]


LIBRARY = es.Polynomials(2)


def test_plain_data_get_no_notice(tmp_path):
    found = es.discover(stored(tmp_path, *oscillation()), library=LIBRARY, seconds=None)
    assert [set(terms) for terms in found.solution.terms.values()] == [{"v"}, {"x"}]
    assert not {"gap", "jump", "sentinel", "outlier", "steady"} & {note.kind for note in found.warnings}


@pytest.mark.parametrize("form", ["auto", "strong"])
def test_rows_with_a_number_for_missing_are_left_out(form, tmp_path):
    t, x = oscillation()
    bad = [40, 1999, 2000, 5500]  # also on both sides of the border of a piece
    x[bad, 0] = 999.0
    found = es.discover(stored(tmp_path, t, x), library=LIBRARY, form=form, seconds=None)
    (text,) = notices(found, "sentinel")
    where = ", ".join(f"{t[i]:g}" for i in bad)
    assert text == (
        f"Samples at t = {where} hold 999 in 'x', far outside its other values: left out, as missing values are with "
        "gaps='split'."
    )
    kept = es.Trajectories.from_arrays(np.where(x == 999.0, np.nan, x), time=t, states=("x", "v"), gaps="split")
    if form == "strong":
        expected = es.StrongForm().problem(kept, LIBRARY)
        assert found.problem.n_samples == expected.n_samples
        np.testing.assert_allclose(found.problem.rss(found.solution.coef), expected.rss(found.solution.coef), rtol=1e-9)
    assert [set(terms) for terms in found.solution.terms.values()] == [{"v"}, {"x"}]


def test_gaps_are_named_inside_and_between_pieces(tmp_path):
    t, x = oscillation()
    t[1500:] += 5.0
    t[3000:] += 7.0  # where a piece begins
    found = es.discover(stored(tmp_path, t, x), library=LIBRARY, form="strong", seconds=None)
    (text,) = notices(found, "gap")
    assert text.startswith("t: no samples between 64.98 and 72, 351 times the usual step.")
    again = tmp_path / "again"
    again.mkdir()
    t, x = oscillation()
    t[1500:] += 5.0
    found = es.discover(stored(again, t, x), library=LIBRARY, form="strong", seconds=None)
    assert notices(found, "gap")[0].startswith("t: no samples between 29.98 and 35, 251 times the usual step.")


def test_time_that_goes_back_between_pieces_is_refused(tmp_path):
    t, x = oscillation()
    t[3000:] -= 20.0
    with pytest.raises(DataError, match=r"rows \d+ to \d+: "):
        es.discover(stored(tmp_path, t, x), library=LIBRARY, form="strong", seconds=None)


def test_inputs_that_jump_are_named(tmp_path):
    t = 0.02 * np.arange(ROWS)
    u = np.where(np.arange(ROWS) % 2000 < 1000, 1.0, -0.5)
    run = solve_ivp(
        lambda s, x: [x[1], -x[0] - 0.3 * x[1] + u[min(int(s / 0.02), ROWS - 1)]],
        (0, t[-1]),
        [1.0, 0.0],
        t_eval=t,
        max_step=0.02,
    )
    x = run.y.T + 0.002 * np.random.default_rng(0).normal(size=(ROWS, 2))
    found = es.discover(stored(tmp_path, t, x, u=u), library=LIBRARY, seconds=None)
    (text,) = notices(found, "jump")
    assert text.startswith("u jumps 5 times: rates jump, too.")


def test_a_steady_tail_over_many_pieces_is_named(tmp_path):
    t, x = oscillation()
    moves = np.exp(-0.6 * t)[:, None]
    x = moves * np.column_stack([np.cos(t), -np.sin(t)]) + 0.005 * np.random.default_rng(0).normal(size=x.shape)
    found = es.discover(stored(tmp_path, t, x), library=LIBRARY, seconds=None)
    (text,) = notices(found, "steady")
    assert 4000 < int(text.split()[0]) < ROWS
    assert "samples at the end of trajectories are steady, within their noise." in text


def test_what_is_seen_does_not_depend_on_how_it_is_added():
    rng, parts = np.random.default_rng(0), []
    for i in range(20):
        run = Run(100, int(rng.choice([0, 30, 100])), (float(rng.normal() * 0.1),))
        far = Far(1, (float(rng.integers(5)),), (float(i),))
        parts.append(Seen((float(rng.uniform(2, 9)), 0.0, 1.0), (i,), (far,), (run,), bool(rng.integers(2)) and i > 0))

    def added(some):
        if len(some) == 1:
            return some[0]
        at = int(rng.integers(1, len(some)))
        return added(some[:at]) + added(some[at:])

    first = added(parts)
    for _ in range(20):
        other = added(parts)
        assert (other.gap, other.jumps, other.far) == (first.gap, first.jumps, first.far)
        assert other.tails + sum(r.tail for r in other.runs) == first.tails + sum(r.tail for r in first.runs)


def test_pieces_without_samples_of_their_own_add_nothing():
    nothing = Seen(None, (0,), (Far(),), (), goes_on=False)
    part = Seen(None, (1,), (Far(),), (Run(100, 30, (0.0,)),), goes_on=True)
    for whole in (nothing + part, part + nothing, nothing + nothing + part):
        assert (whole.runs, whole.jumps) == (part.runs, part.jumps)
