"""CSV files: separators, headers, missing cells, and the encodings that spreadsheets write."""

from __future__ import annotations

import codecs
import re
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from exactsindy.cli import app
from exactsindy.data import Trajectories, load
from exactsindy.data.csv_file import read_csv
from exactsindy.errors import DataError

TABLE = {"year": [1900.0, 1901.0, 1902.0], "lynx": [4.0, 6.1, 9.8], "hare": [30.0, 47.2, 70.2]}
CSV = "year,lynx,hare\n1900,4.0,30\n1901,6.1,47.2\n1902,9.8,70.2\n"
TEXT = "t,größe °,y\r\n0.0,1.0,2.0\r\n0.1,1.5,\r\n0.2,2.5,3.0\r\n0.3,3.0,3.5\r\n"
LATIN = "table.csv is not UTF-8: it was read as Latin-1 (Windows-1252). Check its names."


@pytest.fixture
def write(tmp_path):
    def write(text, name="data.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def write_bytes(tmp_path):
    def write_bytes(content, name="table.csv"):
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    return write_bytes


def check(data):
    assert isinstance(data, Trajectories)
    assert (data.state_names, data.time_name) == (("lynx", "hare"), "year")
    np.testing.assert_array_equal(data[0].times, TABLE["year"])
    np.testing.assert_array_equal(data[0].states, np.column_stack((TABLE["lynx"], TABLE["hare"])))


@pytest.mark.parametrize(
    "text",
    [
        CSV,
        "\ufeff# lynx and hare pelts\n" + CSV,
        CSV.replace(",", ";"),
        CSV.replace(",", "\t"),
        CSV.replace(",", "   "),
        CSV.replace(",", ", "),
        CSV.replace("\n", "\r\n"),
        CSV.replace("4.0", '"4.0"'),
    ],
    ids=["comma", "comment", "semicolon", "tab", "blanks", "comma blank", "windows", "quoted"],
)
def test_csv(write, text):
    check(load(write(text), time="year"))


def test_csv_with_decimal_commas(write):
    path = write(CSV.replace(",", ";").replace(".", ","))
    check(load(path, time="year", decimal=","))
    guessed = load(path, time="year")
    check(guessed)
    (notice,) = [notice for notice in guessed.warnings if notice.kind == "decimal"]
    assert "was read as a number with a decimal comma" in notice.message
    mixed = write("year;lynx\n1900;4,0\n1901;6.5\n1902;7\n")
    text = "line 2: column 'lynx' holds '4,0' among numbers. It looks like a decimal comma: pass decimal=','."
    with pytest.raises(DataError, match=re.escape(text)):
        load(mixed, time="year")


def test_csv_without_header_with_dates_and_with_groups(write):
    assert load(write("0 1 2\n1 2 3\n2 5 4\n", "a.txt"), time="c0").state_names == ("c1", "c2")
    dated = load(write("date,x\n2020-01-01,1\n2020-01-03,2\n2020-01-04,5\n"), time="date")
    np.testing.assert_array_equal(dated[0].times, [0, 172800, 259200])
    assert [notice.kind for notice in dated.warnings] == ["dates"]
    rows = "".join(f"{name},{i},{i * k},{k}\n" for k, name in enumerate("ab", 1) for i in range(4))
    groups = load(write("who,t,x,f\n" + rows), trajectory="who", controls=("f",))
    assert [member.label for member in groups] == ["a", "b"]
    assert (groups.state_names, groups.control_names) == (("x",), ("f",))
    np.testing.assert_array_equal(groups[1].states[:, 0], [0, 2, 4, 6])


def test_csv_missing_cells_are_refused_or_split(write):
    path = write("t,x\n" + "".join(f"{i},{'' if i == 4 else i}\n" for i in range(10)))
    with pytest.raises(DataError, match="1 value is missing or infinite, the first in 'x' at row 4"):
        load(path)
    assert [len(member) for member in load(path, gaps="split")] == [4, 5]


def test_chosen_columns_leave_text_alone(write):
    path = write("t,x,who\n0,1,tom\n1,2,ann\n2,3,joe\n")
    assert load(path, states=("x",)).state_names == ("x",)
    with pytest.raises(DataError, match=r"column 'who' holds .*tom.* at row 0; expected numbers. Correct or remove"):
        load(path)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "data.csv holds no rows."),
        ("t,x\n", {}, "data.csv has a header but no rows."),
        ("t,x,x\n0,1,2\n", {}, "data.csv: two columns are named 'x'; rename one of them."),
        ("t,x\n0,1\n1,2,3\n2,3\n", {}, "data.csv line 3 has 3 cells, the header has 2 (t, x)."),
        (
            "t,x\n0,1\n1,oops\n2,3\n",
            {},
            "data.csv line 3: column 'x' holds 'oops' among numbers. Correct or empty the cell.",
        ),
        (
            "a,b\n0,1\n2,2\n1,0\n",
            {},
            "time is missing: name the time column, time='...'. The columns are a, b. Or pass the step",
        ),
        ("a,b\n0,1\n1,2\n2,3\n", {"time": "q"}, "time: there is no column 'q'. Known are a, b."),
        ("t,x\n0,1\n1,2\n2,3\n", {"states": "q"}, "states: there is no column 'q'. Known are t, x."),
        ("t,x\n0,1\n1,2\n2,3\n", {"states": ("q",)}, "states: there is no column 'q'. Known are t, x."),
        ("t\n0\n1\n2\n", {}, "No column is left for the states; the columns are t."),
        ("t,x\n0,1\n1,2\n0,3\n", {}, "time is not sorted: it goes from 1 to 0 at row 2."),
    ],
)
def test_csv_errors(write, text, options, message):
    path = write(text)
    with pytest.raises(DataError, match=re.escape(message)):
        load(path, **options)


def test_a_step_in_place_of_a_time_column(write):
    data = load(write("x\n1\n2\n4\n"), time=0.5)
    np.testing.assert_array_equal(data[0].times, [0, 0.5, 1.0])


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
def test_unicode_is_recognised(write_bytes, content):
    data = load(write_bytes(content), states=("größe °",))
    assert data.state_names == ("größe °",)
    np.testing.assert_array_equal(data[0].states[:, 0], [1.0, 1.5, 2.5, 3.0])
    assert data.notices == ()


@pytest.mark.parametrize(("encoding", "name"), [("latin-1", "größe °"), ("cp1252", "größe €")])
def test_latin_1_is_assumed_and_said(write_bytes, encoding, name):
    data = load(write_bytes(TEXT.replace("größe °", name).encode(encoding)), states=(name,))
    assert data.state_names == (name,)
    assert [(note.kind, note.message) for note in data.notices] == [("encoding", LATIN)]
    assert data.notices[0] in data.warnings


def test_a_letter_far_down_in_the_file(write_bytes):
    rows = "".join(f"{i},{i % 7},run\n" for i in range(5000))
    data = load(write_bytes(("t,x,note\n" + rows + "5000,1,café\n").encode("latin-1")), states=("x",))
    assert len(data[0]) == 5001
    assert [note.kind for note in data.notices] == ["encoding"]
    assert load(write_bytes(("t,x,note\n" + rows + "5000,1,café\n").encode()), states=("x",)).notices == ()


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
def test_what_is_no_text_ends_in_a_sentence(write_bytes, content):
    path = write_bytes(content)
    with pytest.raises(DataError, match=r"table\.csv is not text in UTF-8, UTF-16 or Latin-1: save the table as CSV"):
        load(path)
    for command in (["discover", str(path)], ["solve", str(path), "--targets", "y", "--k", "1"]):
        done = CliRunner().invoke(app, command)
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr.startswith("Error: table.csv is not text in UTF-8")


def test_a_cell_that_is_too_long_ends_in_a_sentence(write_bytes):
    with pytest.raises(DataError, match="A line of the table cannot be read"):
        load(write_bytes(b"t,x\n0," + b"1" * 200_000 + b"a\n1,2\n"))


def test_the_command_line_reads_them(write_bytes):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 2))
    text = "größe,b,y\n" + "".join(f"{a},{b},{2 * a}\n" for a, b in x)
    for encoding in ("utf-16", "latin-1"):
        path = write_bytes(text.encode(encoding))
        done = CliRunner().invoke(app, ["solve", str(path), "--targets", "y", "--k", "1"])
        assert done.exit_code == 0, done.output
        assert "größe" in done.stdout
        assert (LATIN in done.stderr) == (encoding == "latin-1")


def test_decimal_commas_without_a_header(write):
    data = load(write("0,0;1,5\n0,1;1,4\n0,2;1,3\n"), time="c0")
    np.testing.assert_array_equal(data[0].states[:, 0], [1.5, 1.4, 1.3])


def test_thousands_are_not_taken_for_decimals(write):
    with pytest.raises(DataError, match="holds '1,500'"):
        load(write("t;x\n0;1,500\n1;2,500\n2;3,500\n"))


def test_a_row_of_units_is_left_out(write):
    data = load(write("t,x,y\ns,mg/L,\n0,1,2\n1,2,3\n2,4,4\n"))
    np.testing.assert_array_equal(data[0].states, [[1, 2], [2, 3], [4, 4]])
    (notice,) = [notice for notice in data.warnings if notice.kind == "units"]
    assert "line 2 was taken for units (s, mg/L, -) and left out" in notice.message


def exported(tmp_path, head, rows, end=""):
    file = tmp_path / "export.csv"
    file.write_text(head + "".join(f"{row}\n" for row in rows) + end, encoding="utf-8")
    table, notices = read_csv(file)
    return {name: column.tolist() for name, column in table.items()}, [notice.kind for notice in notices]


ROWS = ("0,1", "1,-2", "2,3.5")
LARGE = [1100125.0, 999.0, -2000.0]


@pytest.mark.parametrize(
    ("head", "rows", "end", "x", "kinds"),
    [
        ("t,x,,\n", [f"{row},," for row in ROWS], ",,,\n,,,\n", [1.0, -2.0, 3.5], []),
        ("t,x,\n", [f"{row}," for row in ROWS], "", [1.0, -2.0, 3.5], []),
        ("t,x\n", ROWS, ",\n\n,\n", [1.0, -2.0, 3.5], []),
        ("run 3\n\nof May\nt,x\n", ROWS, "", [1.0, -2.0, 3.5], ["title"]),
        ("run 3,\nt,x\n", ROWS, "", [1.0, -2.0, 3.5], ["title"]),
        ("t,x\ntime,position\ns,m\n", ROWS, "", [1.0, -2.0, 3.5], ["units"]),
        ("t,x\n", ("0,1", "1,\u22122", "2,3.5D+00"), "", [1.0, -2.0, 3.5], []),
        ("t,x\n", ("0,TRUE", "1,false", "2,True"), "", [1.0, 0.0, 1.0], []),
        ("t,x\n", ('0,"1,100,125.0"', "1,999", '2,"-2,000"'), "", LARGE, ["thousands"]),
        ("t;x\n", ("0;1 100 125", "1;999", "2;-2\u202f000"), "", LARGE, ["thousands"]),
    ],
)
def test_what_programs_export(head, rows, end, x, kinds, tmp_path):
    assert exported(tmp_path, head, rows, end) == ({"t": [0.0, 1.0, 2.0], "x": x}, kinds)


def test_a_spreadsheet_of_empty_rows_takes_no_time(tmp_path):
    begin = time.process_time()
    found = exported(tmp_path, "t,x\n", ROWS, ",\n" * 200_000)
    assert found == ({"t": [0.0, 1.0, 2.0], "x": [1.0, -2.0, 3.5]}, [])
    assert time.process_time() - begin < 5.0


def test_what_may_be_two_things_is_not_guessed(tmp_path):
    # 1,234 may have a decimal comma; one word among numbers is a mistake; a line of one number is no title.
    table, _ = exported(tmp_path, "t,x\n", ('0,"1,234"', '1,"2,345"', '2,"3,456"'))
    assert table["x"] == ["1,234", "2,345", "3,456"]
    with pytest.raises(DataError, match="holds 'TRUE' among numbers"):
        exported(tmp_path, "t,x\n", ("0,1", "1,TRUE", "2,3"))
    with pytest.raises(DataError, match=r"line 3: column .c0. holds .1,-2. among numbers"):
        exported(tmp_path, "5\n", ROWS)


def test_a_column_without_any_value_is_left_out(tmp_path):
    (tmp_path / "table.csv").write_text("t,x,spare\n" + "".join(f"{i},{i % 3},\n" for i in range(20)))
    data = load(tmp_path / "table.csv")
    assert data.state_names == ("x",)
    assert [notice.kind for notice in data.warnings] == ["blank"]


@pytest.mark.parametrize("cell", ["02.03.2026 14:05", "03/02/2026", "14:05:10"])
def test_dates_that_are_not_understood_say_how_to_write_them(cell, tmp_path):
    (tmp_path / "table.csv").write_text("t,x\n" + "".join(f"{cell},{i % 3}\n" for i in range(20)))
    with pytest.raises(DataError, match=r"It looks like a date or a time of day\. Write it as 2026-03-02T14:05:10"):
        load(tmp_path / "table.csv")
