import gzip
import io

import numpy as np
import pytest

from exactsindy.app.columns import Columns, Role, guess
from exactsindy.app.files import MOST_BYTES, keep, keep_text, shown_name
from exactsindy.app.preview import _percent, preview
from exactsindy.app.words import on_page
from exactsindy.errors import DataError


@pytest.mark.parametrize(
    "name, shown",
    [
        ("../../etc/passwd.csv", "passwd.csv"),
        ("C:\\data\\run 1.csv", "run 1.csv"),
        ("x\x00y\n.csv", "xy.csv"),
        ("", "table.csv"),
    ],
)
def test_names_of_files_are_shown_and_never_used_as_paths(name, shown, tmp_path):
    assert shown_name(name) == shown
    source = keep(tmp_path, name, b"t,x\n0,1\n1,2\n")
    assert source.path.parent == tmp_path
    assert source.title == shown
    assert shown.removesuffix(".csv") not in source.path.name


def test_files_of_no_use_are_refused_with_a_sentence(tmp_path):
    with pytest.raises(DataError, match=r"x.csv: the file is empty\."):
        keep(tmp_path, "x.csv", b"  \n")
    with pytest.raises(DataError, match=r"x.exe: files of this kind are not read; expected .csv"):
        keep(tmp_path, "x.exe", b"MZ")
    with pytest.raises(DataError, match=r"at most 200 MB are taken here"):
        keep(tmp_path, "x.csv", b"x" * (MOST_BYTES + 1))


def test_time_and_trajectories_are_guessed(tmp_path):
    rows = "".join(f"{'a' if i < 10 else 'b'},{i},{i * i % 7}\n" for i in range(20))
    columns = guess(keep_text(tmp_path, "run,year,x\n" + rows))
    assert columns.roles == {"run": Role.TRAJECTORY, "year": Role.TIME, "x": Role.STATE}
    assert columns.arguments() == {"time": "year", "trajectory": "run"}
    assert "'year' grows from row to row" in columns.notes[0]


def test_without_a_time_the_step_is_one_and_said(tmp_path):
    source = keep_text(tmp_path, "x,y\n" + "".join(f"{np.sin(i)},{np.cos(i)}\n" for i in range(30)))
    columns = guess(source)
    assert columns.arguments() == {"time": 1.0}
    assert "No column looks like a time" in columns.notes[0]
    assert preview(source, columns).data is not None


def test_roles_change_one_by_one():
    columns = Columns({"t": Role.TIME, "x": Role.STATE, "u": Role.STATE})
    changed = columns.with_role("u", Role.INPUT)
    assert changed.arguments() == {"controls": ["u"]}
    moved = changed.with_role("x", Role.TIME)
    assert (moved.roles["t"], moved.roles["x"]) == (Role.NONE, Role.TIME)
    assert moved.arguments() == {"time": "x", "states": [], "controls": ["u"]}
    assert columns.with_role("unknown", Role.TIME) is columns


def test_axes_of_a_field_are_guessed(tmp_path):
    buffer = io.BytesIO()
    np.savez(buffer, x=np.arange(8.0), t=np.arange(8.0), u=np.zeros((8, 8)))
    columns = guess(keep(tmp_path, "f.npz", buffer.getvalue()))
    assert columns.dims == ("x", "t")


def test_preview_says_steps_noise_and_gaps(tmp_path):
    t = np.delete(np.arange(0, 10, 0.05), slice(80, 120))
    x = np.sin(t) + 0.02 * np.random.default_rng(0).normal(size=len(t))
    source = keep_text(tmp_path, "t,x\n" + "".join(f"{a:.4f},{b:.6f}\n" for a, b in zip(t, x, strict=True)))
    look = preview(source, guess(source))
    facts = dict(look.facts)
    assert facts["samples"] == "160"
    assert "mostly 0.05" in facts["step"]
    assert any("no samples between" in notice for notice in look.notices)
    (share,) = [share for _, share in look.noise]
    assert 0.015 < share < 0.06
    assert len(look.curves[0].smooth) == 160


@pytest.mark.parametrize(
    "said, shown",
    [
        (
            "time 4.95 occurs twice (rows 99 and 100): name the column that tells them apart: trajectory='...'.",
            "time 4.95 occurs twice (rows 99 and 100): name the column that tells them apart, under 'Meaning of the "
            "columns' below.",
        ),
        (
            "u: as missing values are with gaps='split'.",
            "u: as missing values are with 'Cut at missing values and long breaks'.",
        ),
        (
            "If it tells trajectories apart, pass trajectory='run'.",
            "If it tells trajectories apart, say so under 'Meaning of the columns' below.",
        ),
        (
            "x': 7 terms, next to the largest size tried; allow more with k_max=.",
            "x': 7 terms, next to the largest size tried; try 'one more' below.",
        ),
        (
            "The time limit of 60 s came first. Allow more `seconds` for it.",
            "The time limit of 60 s came first. Choose more time above for it.",
        ),
        (
            "no other was tried. Give library=... if you know its terms.",
            "no other was tried. Choose other candidate terms above if you know them.",
        ),
        ("Nothing to say otherwise.", "Nothing to say otherwise."),
    ],
)
def test_sentences_speak_of_the_page(said, shown):
    assert on_page(said) == shown


def test_missing_values_are_answered_with_the_box_to_tick(tmp_path):
    source = keep_text(tmp_path, "t,x\n" + "".join(f"{i},{'' if i == 7 else i % 5}\n" for i in range(40)))
    problem = preview(source, guess(source)).problem
    assert "Tick 'Cut at missing values and long breaks' below" in problem
    assert "gaps=" not in problem


def test_large_noise_is_a_plain_percentage():
    assert [_percent(share) for share in (1e-5, 0.0123, 0.0951, 0.42, 1.02)] == [
        "below 0.01 %",
        "1.2 %",
        "10 %",
        "42 %",
        "102 %",
    ]


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("t,x\n0,1\n1,\n2,3\n3,4\n", "missing"),
        ("t,x\n0,a\n1,b\n2,c\n3,4\n", ""),
        ("just words", ""),
        ("t,x\n3,1\n2,2\n1,3\n0,3\n", "time is not sorted"),
    ],
)
def test_bad_tables_end_in_a_sentence_with_the_name_people_know(text, sentence, tmp_path):
    source = keep_text(tmp_path, text)
    problem = problem_of(source)
    assert problem
    assert sentence in problem
    assert source.path.name not in problem
    assert str(tmp_path) not in problem


def problem_of(source):
    try:
        look = preview(source, guess(source))
    except DataError as error:
        return str(error)
    assert look.data is None
    return look.problem


def test_packed_tables_and_arrays_are_taken(tmp_path):
    table = "t,x\n" + "".join(f"{i / 10},{np.sin(i / 10):.4f}\n" for i in range(50))
    packed = keep(tmp_path, "run.csv.gz", gzip.compress(table.encode()))
    assert guess(packed).roles == {"t": Role.TIME, "x": Role.STATE}
    assert dict(preview(packed, guess(packed)).facts)["samples"] == "50"
    buffer = io.BytesIO()
    np.save(buffer, np.random.default_rng(0).normal(size=(40, 2)))
    array = keep(tmp_path, "x.npy", buffer.getvalue())
    assert guess(array).roles == {"x0": Role.STATE, "x1": Role.STATE}
