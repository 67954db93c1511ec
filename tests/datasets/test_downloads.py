"""Files that the user downloads: what is checked, what comes out, what is refused."""

import hashlib

import numpy as np
import pytest

from exactsindy.datasets import downloads, schmidt_lipson, silverbox
from exactsindy.errors import DataError
from made_downloads import made_glider, made_silverbox


def test_silverbox_is_voltage_in_voltage_out_at_its_rate(tmp_path):
    data = silverbox(made_silverbox(tmp_path, 60))
    assert (data.state_names, data.control_names, [t.name for t in data.targets]) == (("y",), ("u",), ["y''"])
    assert len(data[0]) == 60
    np.testing.assert_allclose(np.diff(data[0].times), 1 / 610.3515625)
    part = silverbox(tmp_path / "SNLS80mV.csv", slice(10, 50, 2))
    np.testing.assert_array_equal(part[0].states, data[0].states[10:50:2])
    np.testing.assert_array_equal(part[0].controls, data[0].controls[10:50:2])
    np.testing.assert_allclose(np.diff(part[0].times), 2 / 610.3515625)


def test_film_gives_positions_and_asks_for_accelerations(tmp_path):
    data = schmidt_lipson(made_glider(tmp_path, 60))
    assert (data.state_names, [t.name for t in data.targets]) == (("x",), ["x''"])
    assert data[0].times[:3].tolist() == [0.033, 0.067, 0.1]
    assert (data[0].states == np.round(data[0].states)).all()  # positions in pixels, not velocities


def test_film_of_two_gliders_and_several_trials(tmp_path):
    rows = [f"{trial} {0.03 * i:.2f} {i} {i * i} 1 1\n" for trial in (0, 1) for i in range(20)]
    (tmp_path / "two.txt").write_text("% x1 x2 v1 v2\n" + "".join(rows))
    data = schmidt_lipson(tmp_path / "two.txt")
    assert data.state_names == ("x1", "x2")
    assert [(member.label, len(member)) for member in data] == [("trial 0", 20), ("trial 1", 20)]


@pytest.mark.parametrize(("make", "read"), [(made_silverbox, silverbox), (made_glider, schmidt_lipson)])
def test_a_file_of_unknown_sum_is_read_with_a_warning_and_a_known_one_without(make, read, tmp_path, monkeypatch):
    path = make(tmp_path, 60)
    total = hashlib.sha256(path.read_bytes()).hexdigest()
    (notice,) = [notice for notice in read(path).warnings if notice.kind == "file"]
    assert f"its SHA-256, {total[:12]}..., is not that of a file known here. Checked: " in notice.message
    assert "60 rows" in notice.message
    monkeypatch.setitem(downloads.KNOWN_SUMS, total, path.name)
    assert not [notice for notice in read(path).warnings if notice.kind == "file"]


def test_known_sums_are_sha_256():
    assert all(len(total) == 64 and set(total) <= set("0123456789abcdef") for total in downloads.KNOWN_SUMS)


@pytest.mark.parametrize(
    ("read", "text", "says"),
    [
        (silverbox, "", r"expected V1 and V2, the columns of the Silverbox"),
        (silverbox, "u,y\n1,2\n", r"its first line names \['u', 'y'\]; expected V1 and V2"),
        (silverbox, '"V1","V2",\n' + "1,two,\n" * 30, r"expected 2 columns of numbers in every row"),
        (silverbox, '"V1","V2",\n' + "1\n" * 30, r"expected 2 columns of numbers in every row"),
        (silverbox, '"V1","V2",\n' + "1,nan,\n" * 30, r"expected at least 20 rows of finite numbers"),
        (silverbox, '"V1","V2",\n' + "1,2,\n" * 5, r"expected at least 20 rows of finite numbers; got 5 rows"),
        (schmidt_lipson, "t,x\n0,1\n", r"its first line is 't,x'; expected '%' and the names of its columns"),
        (schmidt_lipson, "% v x\n" + "0 0 1 1\n" * 30, r"expected '%' and the names of its columns, positions first"),
        (schmidt_lipson, "% x v\n" + "0 0 1 1\n" * 30, r"time"),
    ],
)
def test_other_files_are_refused_with_a_reason(read, text, says, tmp_path):
    (tmp_path / "file.csv").write_text(text)
    with pytest.raises(DataError, match=says):
        read(tmp_path / "file.csv")


@pytest.mark.parametrize("read", [silverbox, schmidt_lipson])
def test_a_missing_or_huge_file(read, tmp_path, monkeypatch):
    with pytest.raises(DataError, match=r"there is no such file. Download it first"):
        read(tmp_path / "none.csv")
    (tmp_path / "huge.csv").write_text("x" * 100)
    monkeypatch.setattr(downloads, "_MOST_BYTES", 50)
    with pytest.raises(DataError, match="it has 100 bytes"):
        read(tmp_path / "huge.csv")


def test_rows_must_be_a_slice_with_samples(tmp_path):
    path = made_silverbox(tmp_path, 60)
    for rows in (slice(0, 5), 30):
        with pytest.raises(DataError, match="expected a slice with at least 20 of the 60 rows"):
            silverbox(path, rows)
