"""One table in every kind of file, packed and not; and files that only look like one."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zipfile

import numpy as np
import pytest

import exactsindy as es
from exactsindy import _files
from exactsindy.errors import DataError
from files_hostile import packed

T = np.arange(0.0, 2.0, 0.1)
X = np.column_stack([np.cos(T), np.sin(T)])
CSV = "t,a,b\n" + "".join(f"{t},{a},{b}\n" for t, (a, b) in zip(T, X, strict=True))


def check(data, names=("a", "b")):
    assert data.state_names == names
    np.testing.assert_allclose(data[0].times, T, atol=1e-12)
    np.testing.assert_allclose(data[0].states, X, atol=1e-12)


@pytest.mark.parametrize(
    ("ending", "pack"),
    [
        ("csv.gz", gzip.compress),
        ("csv.xz", lzma.compress),
        ("csv.bz2", bz2.compress),
        ("zip", lambda content: packed({"folder/data.csv": content, "__MACOSX/._data.csv": b"x"})),
    ],
)
def test_packed_tables(ending, pack, tmp_path):
    file = tmp_path / f"data.{ending}"
    file.write_bytes(pack(CSV.encode()))
    check(es.load(file))
    check(es.load(file, time="t"))


def test_json(tmp_path):
    records = [{"t": t, "a": a, "b": b} for t, (a, b) in zip(T, X.tolist(), strict=True)]
    for name, text in {
        "a.json": json.dumps(records),
        "b.json": json.dumps({"t": T.tolist(), "a": X[:, 0].tolist(), "b": X[:, 1].tolist()}),
        "c.json": json.dumps({"data": records}),
        "d.jsonl": "\n".join(map(json.dumps, records)),
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        check(es.load(tmp_path / name))
    (tmp_path / "e.json").write_text('[1, 2, {"t": 3}]')
    with pytest.raises(DataError, match=r"e\.json: this JSON is no table; expected a list of records"):
        es.load(tmp_path / "e.json")
    (tmp_path / "f.jsonl").write_text('{"t": 1}\n{"t": \n')
    with pytest.raises(DataError, match=r"f\.jsonl line 2: this is not one JSON record per line"):
        es.load(tmp_path / "f.jsonl")


def test_npy(tmp_path):
    np.save(tmp_path / "x.npy", X)
    check(es.load(tmp_path / "x.npy", time=0.1), ("x0", "x1"))
    (tmp_path / "y.npy").write_bytes((tmp_path / "x.npy").read_bytes()[:-8])
    with pytest.raises(DataError, match="says it has 320 bytes, and 312 bytes are there"):
        es.load(tmp_path / "y.npy", time=0.1)
    np.save(tmp_path / "o.npy", np.array([{}, []], dtype=object))
    with pytest.raises(DataError, match="Python objects, which are not read for safety"):
        es.load(tmp_path / "o.npy", time=0.1)


def test_matlab(tmp_path):
    from scipy.io import savemat

    savemat(tmp_path / "a.mat", {"t": T, "a": X[:, 0], "b": X[:, 1:], "dt": 0.1, "note": {"who": 1}})
    check(es.load(tmp_path / "a.mat"))
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "b.mat", "w", userblock_size=512) as file:
        file["t"], file["a"], file["b"] = T[None], X[:, :1].T, X[:, 1:].T  # axes in reverse, as MATLAB writes them
        file["outside"] = h5py.ExternalLink("other.h5", "/x")
    check(es.load(tmp_path / "b.mat"))
    with h5py.File(tmp_path / "c.h5", "w") as file:
        file["t"], file["a"], file["b"] = T, X[:, 0], X[:, 1]
    check(es.load(tmp_path / "c.h5"))
    (tmp_path / "d.mat").write_bytes(b"nothing of the kind" * 40)
    with pytest.raises(DataError, match=r"d\.mat: this is not a MATLAB file that can be read"):
        es.load(tmp_path / "d.mat")


def test_fields_in_matlab_files(tmp_path):
    from scipy.io import savemat

    x, t = np.linspace(0, 3, 12), np.linspace(0, 1, 7)
    savemat(tmp_path / "u.mat", {"u": np.sin(x[:, None] - t), "x": x, "t": t})
    field = es.load(tmp_path / "u.mat", dims=("x", "t"))
    assert (field.names, field.shape) == (("u",), (12, 7))


def test_feather(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather

    feather.write_feather(pa.table({"t": T, "a": X[:, 0], "b": X[:, 1]}), str(tmp_path / "a.feather"))
    check(es.load(tmp_path / "a.feather"))
    (tmp_path / "b.feather").write_bytes(b"ARROW1" * 9)
    with pytest.raises(DataError, match="not a Feather file that can be read"):
        es.load(tmp_path / "b.feather")


def test_spreadsheets(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    book.active.title = "read me"
    sheet = book.create_sheet("run 7")
    for row in [("Pendulum of Monday",), (), ("t", "a", None, "b"), ("s", "m", None, "m")]:
        sheet.append(row)
    for t, (a, b) in zip(T, X.tolist(), strict=True):
        sheet.append((t, a, None, b))
    book.save(tmp_path / "a.xlsx")
    data = es.load(tmp_path / "a.xlsx")
    check(data)
    kinds = {notice.kind: notice.message for notice in data.warnings}
    assert kinds["sheet"] == "a.xlsx has 2 sheets; 'run 7' was read."
    assert kinds["units"] == "a.xlsx row 4 was taken for units (s, m, m) and left out."
    (tmp_path / "b.xlsx").write_bytes(packed({"nothing.xml": b"<a/>"}))
    with pytest.raises(DataError, match=r"b\.xlsx: this is not a spreadsheet that can be read"):
        es.load(tmp_path / "b.xlsx")


def test_open_document_spreadsheets(tmp_path):
    pytest.importorskip("python_calamine")
    rows = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="float" office:value="{value!r}"/>'
            if isinstance(value, float)
            else f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'
            for value in row
        )
        + "</table:table-row>"
        for row in [("t", "a", "b"), *np.column_stack([T, X]).tolist()]
    )
    names = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    content = (
        f'<office:document-content {names}><office:body><office:spreadsheet><table:table table:name="one">{rows}'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    parts = {"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": manifest}
    (tmp_path / "a.ods").write_bytes(packed(parts, zipfile.ZIP_STORED))
    check(es.load(tmp_path / "a.ods"))


def test_archives_hold_one_table(tmp_path):
    file = tmp_path / "a.zip"
    for members, said in [
        ({}, "the archive holds no file; expected one table"),
        ({"a.csv": b"1", "b.csv": b"2"}, r"the archive holds 2 files \(a\.csv, b\.csv\); expected one table"),
    ]:
        file.write_bytes(packed(members))
        with pytest.raises(DataError, match=said):
            es.load(file)


def test_members_cannot_leave_the_folder(tmp_path):
    file = tmp_path / "a.zip"
    file.write_bytes(packed({"../../../outside.csv": CSV.encode()}))
    check(es.load(file))
    assert not list(tmp_path.parent.glob("outside.csv"))


@pytest.mark.parametrize("ending", ["gz", "xz", "bz2", "zip", "xlsx"])
def test_bombs_are_not_unpacked(ending, tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "MUCH", 1 << 20)
    zeros = bytes(1 << 24)
    pack = {
        "gz": gzip.compress,
        "xz": lzma.compress,
        "bz2": bz2.compress,
        "zip": lambda content: packed({"a.csv": content}),
        "xlsx": lambda content: packed({"xl/worksheets/sheet1.xml": content}),
    }[ending]
    file = tmp_path / (f"a.csv.{ending}" if ending not in ("zip", "xlsx") else f"a.{ending}")
    file.write_bytes(pack(zeros))
    if ending == "xlsx":
        pytest.importorskip("python_calamine")
    with pytest.raises(DataError, match="more than 200 times as much"):
        es.load(file)


def test_damaged_archives_are_one_sentence(tmp_path):
    for name, content in {
        "a.csv.gz": gzip.compress(CSV.encode())[:-20],
        "b.csv.xz": lzma.compress(CSV.encode())[:-20],
        "c.csv.bz2": bz2.compress(CSV.encode())[:-20],
        "d.zip": packed({"a.csv": CSV.encode()})[:-20],
    }.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match="the file is damaged and cannot be unpacked"):
            es.load(tmp_path / name)


def test_a_packed_file_of_unknown_kind(tmp_path):
    (tmp_path / "data.gz").write_bytes(gzip.compress(CSV.encode()))
    with pytest.raises(DataError, match=r"load\('data'\): it has no ending; expected one of \.csv"):
        es.load(tmp_path / "data.gz")


def test_pandas_index_columns_are_left_out(tmp_path):
    buffer = io.StringIO(CSV)
    lines = buffer.read().splitlines()
    text = "\n".join([f",{lines[0]}", *(f"{i},{line}" for i, line in enumerate(lines[1:]))])
    (tmp_path / "a.csv").write_text(text)
    data = es.load(tmp_path / "a.csv")
    check(data)
    assert "counts the rows" in data.warnings[0].message
