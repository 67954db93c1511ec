"""Forms on data in pieces: the regression is that of the same data in memory."""

from __future__ import annotations

import numpy as np
import pytest

import exactsindy as es
from exactsindy.chunked import fields, parquet, pieces_of, reading
from exactsindy.differentiation import FiniteDifference, PenalisedSpline
from exactsindy.errors import DataError, ProblemError
from exactsindy.forms import smooth
from pieced_data import as_field, assert_same, trajectories, waves, write_parquet

pytest.importorskip("dask.array")
pytest.importorskip("pyarrow")

CUBIC = es.Polynomials(3)
PDE = es.Polynomials(2) * es.Derivatives(2)


@pytest.fixture(scope="module")
def runs():
    return trajectories()


@pytest.fixture
def scanned(runs, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "PIECE_BYTES", 24 * 400)
    write_parquet(runs, tmp_path)
    pieces = es.scan_parquet(tmp_path, time="time", trajectory="run")
    assert pieces.count == 13
    return pieces


@pytest.fixture(scope="module")
def dataset():
    return waves()


@pytest.fixture
def lazy(dataset, monkeypatch):
    monkeypatch.setattr(fields, "PIECE_BYTES", 8 * 2 * 32 * 24 * 14)
    field = as_field(dataset.chunk({"t": 7, "x": 16}))
    assert field.lazy
    assert pieces_of(field).count == 4
    return field


@pytest.mark.parametrize(
    "form",
    [
        es.StrongForm(),
        es.StrongForm(FiniteDifference(4)),
        es.StrongForm(smooth_states=True),
    ],
)
def test_strong_rows_of_trajectories(form, runs, scanned):
    assert_same(form.problem(runs, CUBIC), form.problem(scanned, CUBIC))
    assert_same(form.problem(runs, CUBIC), sum(form.folds(scanned, CUBIC, 3)))


def test_second_derivatives_and_time_in_the_library(runs, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "PIECE_BYTES", 24 * 400)
    write_parquet(runs, tmp_path)
    pieces = es.scan_parquet(tmp_path, time="time", trajectory="run", targets=("x", "y"))
    library = es.Polynomials(2) + es.Terms(["cos(time)"])
    named = es.Trajectories(runs.members, time_name="time")
    assert_same(es.StrongForm().problem(named, library), es.StrongForm().problem(pieces, library))


def test_times_from_a_step_go_on_over_pieces(runs, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "PIECE_BYTES", 16 * 400)
    write_parquet(runs, tmp_path)
    pieces = es.scan_parquet(tmp_path, time=0.01, states=("x", "y"), trajectory="run")
    library = es.Polynomials(1) + es.Terms(["cos(t)"])
    assert_same(es.StrongForm().problem(runs, library), es.StrongForm().problem(pieces, library))


@pytest.mark.parametrize("model", [None, [[0.0, 0.0, -1.0, *[0.0] * 7], [0.0, 1.1, *[0.0] * 8]]])
def test_whitening_of_increments_goes_on_over_pieces(model, runs, scanned):
    form = es.IncrementForm(model=model, smoothed=smooth(runs))
    assert_same(form.problem(runs, CUBIC), form.problem(scanned, CUBIC))
    assert_same(form.problem(runs, CUBIC), sum(form.folds(scanned, CUBIC, 3)))


def test_increments_estimate_the_noise_from_the_pieces(runs, scanned):
    form = es.IncrementForm("guided", model=[[0.0, 0.0, -1.0, *[0.0] * 7], [0.0, 1.1, *[0.0] * 8]])
    # Smoothed piece by piece: close to the smooth of the whole, not equal.
    assert_same(form.problem(runs, CUBIC), form.problem(scanned, CUBIC), 0.03)


def test_increments_of_whole_trajectories_are_those_in_memory(runs):
    form = es.IncrementForm()
    assert_same(form.problem(runs, CUBIC), form.problem(list(runs), CUBIC))


def test_gaps_part_increments_in_pieces_too(monkeypatch, tmp_path):
    monkeypatch.setattr(parquet, "PIECE_BYTES", 24 * 400)
    (member,) = trajectories((2000,))
    times = member.times + 5.0 * (np.arange(2000) >= 333) + 3.0 * (np.arange(2000) >= 1500)
    data = es.Trajectories.from_arrays(member.states, time=times, states=("x", "y"))
    write_parquet(data, tmp_path)
    form = es.IncrementForm(smoothed=smooth(data))
    assert form.problem(data, CUBIC).n_samples == 1997
    assert_same(form.problem(data, CUBIC), form.problem(es.scan_parquet(tmp_path, states=("x", "y")), CUBIC))


@pytest.mark.parametrize("form", [es.StrongForm(), es.StrongForm(spectral=False)])
def test_strong_rows_of_fields(form, dataset, lazy):
    assert_same(form.problem(as_field(dataset), PDE), form.problem(lazy, PDE))


@pytest.mark.parametrize("width", [None, {"x": 0.9, "y": 0.8, "t": 0.5}])
def test_windows_of_fields(width, dataset, lazy):
    form = es.WeakForm(domains=200, width=width)
    assert_same(form.problem(as_field(dataset), PDE), form.problem(lazy, PDE))
    assert_same(form.problem(as_field(dataset), PDE), sum(form.folds(lazy, PDE, 2)))


def test_windows_with_missing_cells_are_left_out(dataset, lazy):
    holes = dataset.copy(deep=True)
    holes["u"][3, 4, 20] = np.nan
    form = es.WeakForm(domains=200, width={"x": 0.9, "y": 0.8, "t": 0.5})
    whole = form.problem(as_field(dataset), PDE)
    chunked = holes.chunk({"t": 7})
    with pytest.raises(DataError, match="times 0 to 25: field 'u' has 1 missing cells"):
        form.problem(as_field(chunked), PDE)
    field = es.Field.from_arrays(chunked, periodic=("x", "y"), missing="keep")
    assert 150 < form.problem(field, PDE).n_samples < whole.n_samples


def test_modes_are_the_sum_of_those_of_the_pieces(dataset, monkeypatch):
    monkeypatch.setattr(fields, "PIECE_BYTES", 8 * 2 * 32 * 24 * 28)
    lazy, whole = as_field(dataset.chunk({"t": 7})), as_field(dataset)
    form = es.ModalForm()
    apart = form.problem(whole.slice(0, 29), PDE) + form.problem(whole.slice(28, 60), PDE)
    assert_same(apart, form.problem(lazy, PDE))


def test_single_precision_is_summed_in_double(monkeypatch):
    monkeypatch.setattr(fields, "PIECE_BYTES", 8 * 2 * 32 * 24 * 14)
    small = waves(dtype=np.float32)
    form = es.StrongForm(spectral=False)
    exact = form.problem(as_field(small.astype(float)), PDE)
    assert_same(exact, form.problem(as_field(small.chunk({"t": 7})), PDE), 1e-14)


def test_streams_of_trajectories(runs):
    form = es.StrongForm()
    whole = form.problem(runs, CUBIC)
    assert_same(whole, form.problem(iter(runs), CUBIC))
    assert_same(whole, form.problem([es.Trajectories([member]) for member in runs], CUBIC))
    assert form.problem(list(runs), CUBIC).fingerprint == form.problem(iter(runs), CUBIC).fingerprint


def test_chunked_tables_of_xarray(runs, monkeypatch):
    from exactsindy.chunked import sources

    monkeypatch.setattr(sources, "_ROWS", 500)
    xr = pytest.importorskip("xarray")
    member = runs[1]
    table = xr.Dataset({"x": ("t", member.states[:, 0]), "y": ("t", member.states[:, 1])}, {"t": member.times})
    pieces = pieces_of(table.chunk({"t": 250}))
    assert pieces.count == 6
    assert_same(es.StrongForm().problem(es.Trajectories([member]), CUBIC), es.StrongForm().problem(pieces, CUBIC))


def test_zarr_stores(dataset, lazy, tmp_path):
    xr = pytest.importorskip("xarray")
    zarr = pytest.importorskip("zarr")
    dataset.chunk({"t": 7}).to_zarr(tmp_path / "waves.zarr", zarr_format=2)
    stored = as_field(xr.open_zarr(tmp_path / "waves.zarr", chunks={}))
    assert stored.lazy
    expected = es.StrongForm().problem(lazy, PDE)
    assert es.StrongForm().problem(stored, PDE).fingerprint == expected.fingerprint
    assert_same(es.StrongForm().problem(as_field(dataset), PDE), expected)
    assert_same(es.WeakForm(domains=200).problem(as_field(dataset), PDE), es.WeakForm(domains=200).problem(stored, PDE))
    group = zarr.open_group(tmp_path / "waves.zarr", mode="r")
    coords = {name: dataset[name].values for name in ("x", "y", "t")}
    arrays = {"u": group["u"], "v": group["v"]}
    plain = es.Field.from_arrays(arrays, dims=("x", "y", "t"), coords=coords, periodic=("x", "y"))
    assert plain.lazy
    assert es.StrongForm().problem(plain, PDE).fingerprint == expected.fingerprint


def test_netcdf_opened_lazily(dataset, lazy, tmp_path):
    xr = pytest.importorskip("xarray")
    dataset.to_netcdf(tmp_path / "waves.nc")
    with xr.open_dataset(tmp_path / "waves.nc", chunks={"t": 7}) as stored:
        expected = es.StrongForm().problem(lazy, PDE)
        assert es.StrongForm().problem(as_field(stored), PDE).fingerprint == expected.fingerprint
        for form in (es.StrongForm(), es.WeakForm(domains=200)):
            assert_same(form.problem(as_field(dataset), PDE), form.problem(as_field(stored), PDE))


def test_plain_dask_arrays(dataset, lazy):
    da = pytest.importorskip("dask.array")
    arrays = {name: da.from_array(dataset[name].values, chunks=(32, 8, 7)) for name in ("u", "v")}
    coords = {name: dataset[name].values for name in ("x", "y", "t")}
    field = es.Field.from_arrays(arrays, dims=("x", "y", "t"), coords=coords, periodic=("x", "y"))
    for form in (es.StrongForm(), es.WeakForm(domains=200)):
        assert_same(form.problem(as_field(dataset), PDE), form.problem(field, PDE))


@pytest.mark.parametrize("chunks", [{"x": 8, "y": 6, "t": 7}, {"x": 5, "t": (30, 30)}, {"y": 7, "t": 13}])
def test_chunks_in_space_are_put_together(chunks, dataset, monkeypatch):
    """A piece is whole in space: derivatives and windows see over the borders of chunks, and nothing is rechunked."""
    from dask.array import Array

    monkeypatch.setattr(fields, "PIECE_BYTES", 8 * 2 * 32 * 24 * 14)
    field = as_field(dataset.chunk(chunks))
    monkeypatch.setattr(Array, "rechunk", lambda *arguments, **options: pytest.fail("rechunked"))
    assert pieces_of(field).count > 1
    for form in (es.StrongForm(), es.StrongForm(spectral=False), es.WeakForm(domains=200)):
        assert_same(form.problem(as_field(dataset), PDE), form.problem(field, PDE))


def test_streams_of_fields(dataset):
    whole = as_field(dataset)
    parts = [whole.slice(0, 30), whole.slice(30, 60)]
    form = es.StrongForm()
    assert_same(form.problem(parts[0], PDE) + form.problem(parts[1], PDE), form.problem(iter(parts), PDE))


def test_what_was_read_is_counted(dataset, lazy):
    with reading() as count:
        es.StrongForm(FiniteDifference(2)).problem(lazy, PDE)
    assert (count.passes, count.pieces) == (1, 4)
    times = 60 + 2 * 3 * 3  # three neighbours on each side of three borders
    assert count.size == 8 * 2 * 32 * 24 * times
    assert str(count) == f"read once in 4 pieces, {count.size / 1e6:.3g} MB"


def test_a_lazy_field_is_not_loaded_by_looking_at_it(lazy):
    assert repr(lazy) == "Field(u, v; x 32 x y 24 x t 60)"
    assert lazy.warnings == ()
    assert lazy.slice(10, 20).lazy
    loaded = lazy.load(10, 20)
    assert not loaded.lazy
    assert loaded.shape == (32, 24, 10)
    assert lazy.fingerprint == lazy.fingerprint != lazy.slice(0, 20).fingerprint


def test_chunks_that_are_too_thick_are_refused(dataset, monkeypatch):
    monkeypatch.setattr(fields, "MOST_PIECE_BYTES", 8 * 2 * 32 * 24 * 20)
    monkeypatch.setattr(fields, "PIECE_BYTES", 8 * 2 * 32 * 24 * 10)
    with pytest.raises(DataError, match=r"hold 30 times.*dataset.chunk\(\{'t': 10\}\)"):
        es.StrongForm().problem(as_field(dataset.chunk({"t": 30})), PDE)
    monkeypatch.setattr(fields, "MOST_PIECE_BYTES", 100)
    with pytest.raises(DataError, match=r"one time of the fields holds .*pass a part of it, such as dataset.isel\(x="):
        es.StrongForm().problem(as_field(dataset.chunk({"t": 1})), PDE)


def test_one_chunk_of_all_times_is_said(dataset):
    with pytest.warns(UserWarning, match="All times are in one chunk"):
        pieces_of(as_field(dataset.chunk({"x": 8})))


@pytest.mark.parametrize(
    "form, text",
    [
        (es.StrongForm(PenalisedSpline()), "needs whole trajectories"),
        (es.WeakForm(model=np.zeros((2, 10))), "whitening needs the covariance of all windows"),
        (es.ModalForm(), "ModalForm is for fields"),
    ],
)
def test_what_pieces_cannot_do_is_said(form, text, scanned):
    with pytest.raises((DataError, ProblemError), match=text):
        form.problem(scanned, CUBIC)


def test_fields_have_no_increments(lazy):
    with pytest.raises(DataError, match="IncrementForm is for trajectories"):
        es.IncrementForm().problem(lazy, PDE)


def test_short_pieces_have_no_modes(dataset, monkeypatch):
    monkeypatch.setattr(fields, "PIECE_BYTES", 1)
    with pytest.raises(DataError, match="a piece of 6 times cannot be smoothed"):
        es.ModalForm().problem(as_field(dataset.chunk({"t": 5})), PDE)


def test_more_folds_than_pieces_are_refused(lazy):
    with pytest.raises(DataError, match="these data come in 4 pieces"):
        es.StrongForm().folds(lazy, PDE, 5)
    with pytest.raises(DataError, match="an unknown number of pieces"):
        es.StrongForm().folds(iter(trajectories()), CUBIC, 2)
