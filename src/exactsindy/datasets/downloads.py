"""Measurements that are not bundled: you download the file, and it is checked before it is read."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from exactsindy._types import Array
from exactsindy.errors import DataError

if TYPE_CHECKING:
    from exactsindy.data import Notice, Trajectories

# Samples per second of the Silverbox: 10 MHz / 2^14.
SILVERBOX_RATE = 1e7 / 2**14
# SHA-256 of files that were read and looked at. Of SNLS80mV.csv two independent copies were equal; of the others one
# copy was seen.
KNOWN_SUMS = {
    "ae62d5a91230c10f76e6dd02c8a4fac3c9d4d8a95fbf50e87cb0c4885003e0f1": "SNLS80mV.csv",
    "b22cbcba9c59d9b4b1b379967b669dc32959e515b24784da3254505f8563e36c": "Schroeder80mV.csv",
    "bf11e50703376b82566b635771de23845a2546e4b733beb49588c7af4eec26cc": "real_linear_h_1.txt",
    "b258df76a9a6f3dda294feb344160e39ecd3158d8e44b8bfe4ae4aa842c026aa": "real_double_linear_h_1.txt",
    "45d92988198b89a5933f5a53e67aa819d06937516f71a462ac09e1307d8b3411": "real_pend_h_1.txt",
    "9ea97ad3b1c6b83b2762f1c84760bfd55638809436a8ece0c2dfffb96ddaec37": "real_double_pend_h_1.txt",
}
# Files of both collections are far smaller; more is refused before memory is taken.
_MOST_BYTES = 50_000_000


@dataclass(frozen=True)
class _Download:
    """A file that was read: its lines, and its SHA-256."""

    path: Path
    lines: tuple[str, ...]
    sum: str

    @staticmethod
    def of(path: str | os.PathLike[str]) -> _Download:
        where = Path(path)
        if not where.is_file():
            raise DataError(f"{str(where)!r}: there is no such file. Download it first; nothing is fetched for you.")
        size = where.stat().st_size
        if size > _MOST_BYTES:
            raise DataError(f"{where.name}: it has {size:,} bytes; files of this collection have less than 50 million.")
        content = where.read_bytes()
        text = content.decode("utf-8", errors="replace")
        return _Download(where, tuple(text.splitlines()), hashlib.sha256(content).hexdigest())

    def table(self, first: int, columns: int, comma: str | None) -> Array:
        """Return the leading columns of numbers of all rows from a line on."""
        try:
            rows = np.loadtxt(self.lines[first:], delimiter=comma, usecols=range(columns), ndmin=2)
        except (ValueError, IndexError) as error:
            raise DataError(f"{self.path.name}: expected {columns} columns of numbers in every row: {error}.") from None
        if len(rows) < 20 or not np.isfinite(rows).all():
            raise DataError(f"{self.path.name}: expected at least 20 rows of finite numbers; got {len(rows)} rows.")
        return np.asarray(rows, dtype=float)

    def notices(self, checked: str) -> tuple[Notice, ...]:
        """Return a notice if the sum of the file is not known."""
        from exactsindy.data import Notice

        if self.sum in KNOWN_SUMS:
            return ()
        text = f"{self.path.name}: its SHA-256, {self.sum[:12]}..., is not that of a file known here"
        return (Notice("file", f"{text}. Checked: {checked}; not checked: that these are the published numbers."),)


def silverbox(path: str | os.PathLike[str], rows: slice = slice(None)) -> Trajectories:
    """Return the Silverbox: an electronic circuit that behaves like a spring that gets harder, driven by a voltage u.

    ``path`` is SNLS80mV.csv or Schroeder80mV.csv of the Silverbox benchmark (T. Wigren and J. Schoukens, "Three free
    data sets for development and benchmarking in nonlinear system identification", 2013; nonlinearbenchmark.org), whose
    columns V1 and V2 are u and the answer y in volts, 610.35 samples per second; ``rows`` takes a part of the record.
    The equation wanted is that for y''. A file whose SHA-256 is not known is read as well, with a warning.

    Examples
    --------
    >>> from exactsindy.datasets import silverbox
    >>> silverbox("SNLS80mV.csv")
    Traceback (most recent call last):
        ...
    exactsindy.errors.DataError: 'SNLS80mV.csv': there is no such file. Download it first; nothing is fetched for you.
    """
    from exactsindy.data import Trajectories, Trajectory

    file = _Download.of(path)
    names = [cell.strip().strip('"') for cell in (file.lines or ("",))[0].split(",")][:2]
    if names != ["V1", "V2"]:
        raise DataError(
            f"{file.path.name}: its first line names {names}; expected V1 and V2, the columns of the Silverbox."
        )
    volts = file.table(1, 2, ",")
    if not isinstance(rows, slice) or len(volts[rows]) < 20:
        raise DataError(
            f"rows={rows!r}: expected a slice with at least 20 of the {len(volts)} rows, e.g. slice(0, 20000)."
        )
    part = volts[rows]
    step = (rows.step or 1) / SILVERBOX_RATE
    record = Trajectory(step, part[:, 1:], ("y",), controls=part[:, :1], control_names=("u",), label=file.path.stem)
    checked = f"two columns V1 and V2, {len(volts)} rows; 610.35 samples per second are taken for granted"
    return Trajectories([record], ("y''",), notices=file.notices(checked))


def schmidt_lipson(path: str | os.PathLike[str]) -> Trajectories:
    """Return positions filmed by M. Schmidt and H. Lipson: an air track with springs, a pendulum, and pairs of them.

    ``path`` is one of the files real_*.txt that were published with "Distilling free-form natural laws from
    experimental data" (Science 324, 81-85, 2009). Their columns are the number of the trial, the time, and those that
    the first line names: positions x or angles o, then velocities and accelerations. Only the positions are taken: the
    others were computed from them. The equations wanted are those for the accelerations. A file whose SHA-256 is not
    known is read as well, with a warning.

    Examples
    --------
    >>> from exactsindy.datasets import schmidt_lipson
    >>> schmidt_lipson("pend.txt")
    Traceback (most recent call last):
        ...
    exactsindy.errors.DataError: 'pend.txt': there is no such file. Download it first; nothing is fetched for you.
    """
    from exactsindy.data import Trajectories, Trajectory

    file = _Download.of(path)
    first = (file.lines or ("",))[0]
    names = first.lstrip("%").split()
    states = [name for name in names if name[:1] in ("x", "o") and name[1:] in ("", "1", "2")]
    if not first.startswith("%") or not states or names[: len(states)] != states:
        expected = "expected '%' and the names of its columns, positions first, e.g. '% x v'"
        raise DataError(f"{file.path.name}: its first line is {first[:40]!r}; {expected}.")
    table = file.table(1, 2 + len(states), None)
    members = []
    for trial in np.unique(table[:, 0]):
        part = table[table[:, 0] == trial]
        members.append(Trajectory(part[:, 1], part[:, 2:], states, label=f"trial {trial:g}"))
    checked = f"columns {', '.join(states)}, {len(table)} rows, times that increase"
    return Trajectories(members, [f"{name}''" for name in states], notices=file.notices(checked))
