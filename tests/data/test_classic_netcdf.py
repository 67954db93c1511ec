"""Classic NetCDF: every count in the header is compared with the bytes of the file before a reader believes it."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

import exactsindy as es
from exactsindy.data.classic_netcdf import check_classic
from exactsindy.errors import DataError, ExactSindyError

xarray = pytest.importorskip("xarray")

FORMATS = ["NETCDF3_CLASSIC", "NETCDF3_64BIT", "NETCDF3_64BIT_DATA"]


def written(folder, kind, unlimited=()):
    axes = {"x": np.linspace(0.0, 1.0, 9), "t": np.arange(12.0)}
    grid = xarray.Dataset({"u": (("t", "x"), np.outer(*axes.values()).T + 1.0)}, axes, attrs={"title": "a"})
    grid["u"].attrs["units"] = "m"
    file = folder / "a.nc"
    engine = "netcdf4" if kind == "NETCDF3_64BIT_DATA" else "scipy"
    if engine == "netcdf4":
        pytest.importorskip("netCDF4")
    grid.to_netcdf(file, format=kind, engine=engine, unlimited_dims=unlimited)
    return file


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("unlimited", [(), ("t",)])
def test_true_files_are_read(kind, unlimited, tmp_path):
    file = written(tmp_path, kind, unlimited)
    check_classic(file)
    assert isinstance(es.load(file), es.Field)


@pytest.mark.parametrize("kind", FORMATS)
def test_damaged_headers_end_at_once(kind, tmp_path):
    """Found by the fuzzer: the reader spent minutes on 2^31 attributes in a file of a kilobyte."""
    file = written(tmp_path, kind)
    good, rng = file.read_bytes(), random.Random(0)
    refused = 0
    for _ in range(150):
        data = bytearray(good)
        place = rng.randrange(4, 500)
        change = rng.randrange(3)
        if change == 0:
            data[place] ^= 1 << rng.randrange(8)
        elif change == 1:
            del data[place : place + rng.randrange(1, 30)]
        else:
            data[place:place] = data[place : place + 60] * 3
        file.write_bytes(data)
        begin = time.monotonic()
        try:
            es.load(file)
        except ExactSindyError:
            refused += 1
        assert time.monotonic() - begin < 30
    assert refused > 30


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"CDF\x01", "the file ends within its header"),
        (
            b"CDF\x01" + bytes(4) + b"\0\0\0\x0a\xff\xff\xff\xff",
            "its header counts 4294967295 bytes, and the file has 16",
        ),
        (b"CDF\x02" + bytes(4) + b"\0\0\0\x07\0\0\0\0", "its header is damaged"),
        (b"CDF\x05" + bytes(8) + b"\0\0\0\x0a" + b"\x7f" * 8, "and the file has 24"),
        (b"CDF\x01" + bytes(12) + b"\0\0\0\x0c\0\0\0\x01\0\0\0\0\0\0\0\x63", "numbers of an unknown kind, 99"),
    ],
)
def test_what_is_said(content, words, tmp_path):
    file = tmp_path / "a.nc"
    file.write_bytes(content)
    with pytest.raises(DataError, match=r"a\.nc: this is not a NetCDF file that can be read") as caught:
        es.load(file)
    assert words in str(caught.value)
