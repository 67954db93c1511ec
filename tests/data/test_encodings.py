"""CSV files in the encodings that spreadsheets write."""

from __future__ import annotations

import codecs

import numpy as np
import pytest
from typer.testing import CliRunner

from exactsindy.cli import app
from exactsindy.data import load
from exactsindy.errors import DataError

TEXT = "t,größe °,y\r\n0.0,1.0,2.0\r\n0.1,1.5,\r\n0.2,2.5,3.0\r\n0.3,3.0,3.5\r\n"
LATIN = "table.csv is not UTF-8: it was read as Latin-1 (Windows-1252). Check its names."


@pytest.fixture
def write(tmp_path):
    def write(content, name="table.csv"):
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    return write


@pytest.mark.parametrize(
    "content",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        TEXT.encode("utf-16"),
        codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
        TEXT.encode("utf-16-le"),
        TEXT.encode("utf-16-be"),
        TEXT.encode("utf-32"),
    ],
    ids=["8", "8 mark", "16", "16 LE mark", "16 BE mark", "16 LE", "16 BE", "32"],
)
def test_unicode_is_recognised(write, content):
    data = load(write(content), states=("größe °",))
    assert data.state_names == ("größe °",)
    np.testing.assert_array_equal(data[0].states[:, 0], [1.0, 1.5, 2.5, 3.0])
    assert data.notices == ()


@pytest.mark.parametrize(("encoding", "name"), [("latin-1", "größe °"), ("cp1252", "größe €")])
def test_latin_1_is_assumed_and_said(write, encoding, name):
    data = load(write(TEXT.replace("größe °", name).encode(encoding)), states=(name,))
    assert data.state_names == (name,)
    assert [(note.kind, note.message) for note in data.notices] == [("encoding", LATIN)]
    assert data.notices[0] in data.warnings


def test_a_letter_far_down_in_the_file(write):
    rows = "".join(f"{i},{i % 7},run\n" for i in range(5000))
    data = load(write(("t,x,note\n" + rows + "5000,1,café\n").encode("latin-1")), states=("x",))
    assert len(data[0]) == 5001
    assert [note.kind for note in data.notices] == ["encoding"]
    assert load(write(("t,x,note\n" + rows + "5000,1,café\n").encode()), states=("x",)).notices == ()


@pytest.mark.parametrize(
    "content",
    [
        b"\x1f\x8b\x08\x00\x00\x00\x00\x00" + bytes(range(256)),
        TEXT.encode("utf-16")[:-1],
        codecs.BOM_UTF8 + TEXT.encode("latin-1"),
        bytes(64),
    ],
    ids=["gzip", "cut short", "wrong mark", "zeros"],
)
def test_what_is_no_text_ends_in_a_sentence(write, content):
    path = write(content)
    with pytest.raises(DataError, match=r"table\.csv is not text in UTF-8, UTF-16 or Latin-1: save the table as CSV"):
        load(path)
    for command in (["discover", str(path)], ["solve", str(path), "--targets", "y", "--k", "1"]):
        done = CliRunner().invoke(app, command)
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr.startswith("Error: table.csv is not text in UTF-8")


def test_a_cell_that_is_too_long_ends_in_a_sentence(write):
    with pytest.raises(DataError, match="A line of the table cannot be read"):
        load(write(b"t,x\n0," + b"1" * 200_000 + b"a\n1,2\n"))


def test_the_command_line_reads_them(write):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 2))
    text = "größe,b,y\n" + "".join(f"{a},{b},{2 * a}\n" for a, b in x)
    for encoding in ("utf-16", "latin-1"):
        path = write(text.encode(encoding))
        done = CliRunner().invoke(app, ["solve", str(path), "--targets", "y", "--k", "1"])
        assert done.exit_code == 0, done.output
        assert "größe" in done.stdout
        assert (LATIN in done.stderr) == (encoding == "latin-1")
