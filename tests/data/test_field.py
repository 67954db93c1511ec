"""Fields from arrays and xarray objects, and their checks."""

from __future__ import annotations

import re

import numpy as np
import pytest
import xarray

from exactsindy.data import Field, pod
from exactsindy.errors import DataError

x, y, t = np.linspace(0, 1, 6), np.linspace(0, 2, 7), np.linspace(0, 3, 8)
U = np.random.default_rng(0).normal(size=(6, 8))
UV = np.random.default_rng(1).normal(size=(2, 6, 7, 8))
COORDS = {"x": x, "t": t}


def test_dimensions_come_out_space_first_time_last_without_copying():
    data = Field.from_arrays(U.T, dims=("t", "x"), coords=COORDS)
    assert (data.dims, data.axes, data.time_name, data.shape) == (("x", "t"), ("x",), "t", (6, 8))
    assert np.shares_memory(data["u"], U)
    np.testing.assert_array_equal(data["u"], U)
    np.testing.assert_array_equal(data.times, t)
    np.testing.assert_array_equal(data.coordinate("x"), x)
    assert [target.name for target in data.targets] == ["u_t"]
    assert repr(data) == "Field(u; x 6 x t 8)"
    with pytest.raises(ValueError, match="read-only"):
        data["u"][0, 0] = 1
    assert U.flags.writeable


def test_several_fields_in_two_and_three_dimensions():
    plane = Field.from_arrays(
        {"u": UV[0], "v": UV[1]}, dims=("x", "y", "t"), coords={**COORDS, "y": y}, targets=("v_tt",)
    )
    assert (plane.names, plane.n_samples, plane.targets[0].order) == (("u", "v"), 6 * 7 * 8, 2)
    listed = Field.from_arrays(list(UV), names=("a", "b"), dims=("x", "y", "t"), coords={"x": 0.1, "y": y, "t": t})
    assert listed.state_names == ("a", "b")
    np.testing.assert_allclose(listed.coordinate("x"), 0.1 * np.arange(6))
    solid = Field.from_arrays(np.ones((3, 4, 5, 6)), dims=("x", "y", "z", "t"), coords=dict.fromkeys("xyzt", 1.0))
    assert solid.axes == ("x", "y", "z")
    assert [notice.kind for notice in solid.warnings] == ["constant"]


def test_xarray_brings_names_dimensions_and_coordinates():
    array = xarray.DataArray(U, dims=("x", "time"), coords={"x": x, "time": t}, name="h")
    data = Field.from_arrays(array)
    assert (data.names, data.dims) == (("h",), ("x", "time"))
    both = xarray.Dataset({"u": (("time", "x"), U.T), "v": (("x", "time"), U + 1)}, coords={"x": x, "time": t})
    data = Field.from_arrays(both)
    np.testing.assert_array_equal(data["u"], U)
    np.testing.assert_array_equal(data["v"], U + 1)
    days = np.datetime64("2021-01-01") + np.arange(8)
    dated = Field.from_arrays(xarray.DataArray(U, dims=("x", "time"), coords={"x": x, "time": days}))
    np.testing.assert_array_equal(dated.times, 86400.0 * np.arange(8))
    assert [notice.kind for notice in dated.warnings] == ["dates"]


def test_periodic_axes():
    data = Field.from_arrays(U, dims=("x", "t"), coords={"x": 0.25, "t": t}, periodic=("x",))
    assert data.periods == (1.5,)
    assert Field.from_arrays(U, dims=("x", "t"), coords={"x": 0.25, "t": t}, periodic={"x": 1.5}).periods == (1.5,)
    assert Field.from_arrays(U, dims=("x", "t"), coords=COORDS).periods == (None,)
    closed = Field.from_arrays(np.vstack((U, U[:1])), dims=("x", "t"), coords={"x": 0.25, "t": t}, periodic="x")
    assert [n.kind for n in closed.warnings] == ["repeated end"]
    assert "same values at both ends of the periodic dimension 'x'" in closed.warnings[0].message


def test_missing_cells_may_be_kept():
    holes = U.copy()
    holes[2, 3] = holes[4, 7] = np.nan
    data = Field.from_arrays(holes, dims=("x", "t"), coords=COORDS, missing="keep")
    assert data.missing == 2
    assert [part.missing for part in data.split(0.5)] == [1, 1]


def test_splits_and_folds_are_views():
    data = Field.from_arrays(U, dims=("x", "t"), coords=COORDS)
    train, rest = data.split(0.5)
    assert (len(train.times), len(rest.times), rest.times[0]) == (4, 4, t[4])
    assert np.shares_memory(rest["u"], U)
    folds = data.folds(2)
    np.testing.assert_array_equal(np.hstack([fold["u"] for fold in folds]), U)


def test_fingerprint():
    marks = {
        Field.from_arrays(U, dims=("x", "t"), coords=COORDS).fingerprint,
        Field.from_arrays(U + 1e-14, dims=("x", "t"), coords=COORDS).fingerprint,
        Field.from_arrays(U, names=("w",), dims=("x", "t"), coords=COORDS).fingerprint,
        Field.from_arrays(U, dims=("x", "t"), coords={"x": 0.3, "t": t}, periodic="x").fingerprint,
        Field.from_arrays(U, dims=("x", "t"), coords={"x": 0.3, "t": t}).fingerprint,
    }
    assert len(marks) == 5
    assert Field.from_arrays(U.T.copy(), dims=("t", "x"), coords=COORDS).fingerprint in marks


def test_field_scales_are_noticed():
    data = Field.from_arrays({"u": U, "v": 1e6 * U}, dims=("x", "t"), coords=COORDS)
    assert [notice.kind for notice in data.warnings] == ["scale"]


def call(values=U, **options):
    return lambda: Field.from_arrays(values, **{"dims": ("x", "t"), "coords": COORDS, **options})


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            call(dims=None),
            "dims is missing: name the 2 axes of the array in their order, e.g. dims=('x', 't').",
        ),
        (call(dims=("x",)), "dims=('x',) for an array with 2 axes; expected one different name per axis."),
        (
            call(dims=("x", "x")),
            "dims=('x', 'x') for an array with 2 axes; expected one different name per axis.",
        ),
        (call(values=np.ones(8), dims=("t",)), "dims=('t',): expected 1 to 3 space dimensions and time."),
        (
            call(dims=("x", "s")),
            "No dimension of ('x', 's') is 't' or 'time'; say which is time: time='...'.",
        ),
        (call(time="s"), "No dimension of ('x', 't') is 's'; say which is time: time='...'."),
        (call(coords={"x": x}), "coords has no entry for 't'; pass its coordinates or its step."),
        (
            call(values=U.T),
            "dims=('x', 't'): the array has shape (8, 6) but coords have (6, 8) points. The array looks "
            "transposed: dims=('t', 'x') fits.",
        ),
        (call(coords={"x": x[:5], "t": t}), "the array has shape (6, 8) but coords have (5, 8) points."),
        (
            call(coords={"x": x[::-1], "t": t}),
            "coords['x'] decreases at position 1 (1, 0.8); expected increasing values: sort the array along 'x'",
        ),
        (
            call(coords={"x": np.zeros(6), "t": t}),
            "coords['x'] repeats at position 1 (0, 0); expected increasing",
        ),
        (call(coords={"x": [*x[:5], np.nan], "t": t}), "coords['x'] holds missing or infinite values."),
        (
            call(values=U[:2], coords={"x": x[:2], "t": t}),
            "dimension 'x' has 2 points in shape (2,); expected at least 3.",
        ),
        (
            call(values={"u": U, "v": U[:3]}),
            "field 'v' has shape (3, 8), field 'u' has (6, 8); expected the same.",
        ),
        (call(values=U + 1j), "field 'u' is complex; pass real and imaginary parts as separate states."),
        (
            call(values=np.where(U > 1, np.nan, U)),
            "missing cells (NaN); fill them in, or keep them (gaps='split' for discover and load, missing='keep'",
        ),
        (
            call(values=np.where(U > 1, np.inf, U)),
            "field 'u' holds infinite values; expected numbers, or NaN where a cell is missing.",
        ),
        (call(missing="drop"), "missing='drop': expected 'refuse' or 'keep'."),
        (call(periodic=("t",)), "periodic: 't' is not a space dimension; those are x."),
        (
            call(coords={"x": x**2, "t": t}, periodic="x"),
            "periodic: the points of 'x' are not equally spaced; interpolate to equal steps first.",
        ),
        (
            call(periodic={"x": 1.0}),
            "periodic: 'x' has 6 points at step 0.2, so its period is 1.2, not 1. Do not repeat the first point",
        ),
        (
            call(targets=("u'",)),
            "targets: unknown equation \"u'\"; expected a state (u) or a derivative of one, such as 'u_tt'.",
        ),
        (call(names=("a", "b")), "names: 2 names ('a', 'b') for 1 column; expected one per column."),
        (
            call(values=xarray.DataArray(U, dims=("x", "t")), coords=None, dims=None),
            "coords has no entry for 'x'; pass its",
        ),
        (
            call(values=xarray.DataArray(U, dims=("x", "t")), dims=("a", "t")),
            "dims=('a', 't'): the xarray object has the dimensions ('x', 't').",
        ),
        (
            call(values=xarray.Dataset(), dims=None),
            "The xarray Dataset has no data variables; expected at least one field.",
        ),
        (
            call(values=xarray.Dataset({"u": (("x", "t"), U), "w": (("x",), x)}), dims=None),
            "The variable 'w' has dimensions ('x',); expected all variables over ('x', 't'). Choose some: states=",
        ),
        (
            lambda: call()().split(0.9),
            "split(fraction=0.9): 8 samples give parts of 7 and 1; each needs at least 3.",
        ),
        (lambda: call()().folds(9), "folds(count=9): expected an integer from 2 to 2 for 8 samples in time."),
        (lambda: pod(call()(), 9), "pod(rank=9): expected an integer from 1 to the number of times, 8."),
        (
            lambda: pod(call(values=np.outer(x, t))(), 2),
            "pod(rank=2): the field has only 1 independent modes; ask for at most that many.",
        ),
        (
            lambda: pod(call(values=np.where(U > 1, np.nan, U), missing="keep")(), 1),
            "missing cells; fill them in first.",
        ),
    ],
)
def test_input_errors(build, message):
    with pytest.raises(DataError, match=re.escape(message)):
        build()
