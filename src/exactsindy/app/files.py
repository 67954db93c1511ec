"""What comes from the page as a file: bytes under a name that is never used as a path."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from exactsindy.data import ENDINGS, PACKED
from exactsindy.errors import DataError

#: Largest file that the page takes, in bytes (200 MB): larger ones belong on the command line, which reads in place.
MOST_BYTES = 200_000_000
# Letters of a name that is shown.
_LONGEST_NAME = 80


@dataclass(frozen=True)
class Source:
    """A data file in the private folder of a session; ``title`` is the name that people see."""

    title: str
    path: Path

    def named(self, text: str) -> str:
        """Return a message with the name that people know instead of that in the private folder."""
        return text.replace(str(self.path), self.title).replace(self.path.name, self.title)


def keep(folder: Path, name: str, content: bytes) -> Source:
    """Write the content of a file into a folder under a random name, and return it.

    Raises
    ------
    DataError
        If it is empty, too large, or of a kind that is not read.
    """
    if len(content) > MOST_BYTES:
        most = f"at most {MOST_BYTES // 1_000_000} MB are taken here"
        raise DataError(
            f"The file has {len(content) / 1e6:.0f} MB; {most}. Use `exactsindy discover` on the command line."
        )
    title = shown_name(name)
    if not content.strip():
        raise DataError(f"{title}: the file is empty.")
    ending = ending_of(title)
    if not ending:
        known = f"{', '.join(ENDINGS)}, or one of them packed ({', '.join(PACKED)})"
        raise DataError(f"{title}: files of this kind are not read; expected {known}.")
    path = folder / (secrets.token_hex(8) + ending)
    path.write_bytes(content)
    return Source(title, path)


def keep_text(folder: Path, text: str) -> Source:
    """Keep a table that was pasted as text: columns with commas, semicolons, tabs or blanks between them."""
    return keep(folder, "pasted.csv", text.encode("utf-8"))


def ending_of(name: str) -> str:
    """Return the ending of a file that is read, such as ``.csv`` or ``.csv.gz``; empty if it is of another kind.

    Examples
    --------
    >>> ending_of("Run.CSV.gz"), ending_of("table.zip"), ending_of("photo.png")
    ('.csv.gz', '.zip', '')
    """
    parts = [part.lower() for part in Path(name).suffixes]
    if not parts:
        return ""
    if parts[-1] in PACKED:
        inside = parts[-2] if len(parts) > 1 and parts[-2] in ENDINGS else ""
        return inside + parts[-1]
    return parts[-1] if parts[-1] in ENDINGS else ""


def shown_name(name: str) -> str:
    """Return the last part of a file name, without control characters, short enough to be shown.

    Examples
    --------
    >>> shown_name("../../etc/my data.csv")
    'my data.csv'
    """
    last = re.split(r"[/\\]", name)[-1]
    clean = "".join(letter for letter in last if letter.isprintable()).strip()
    if len(clean) > _LONGEST_NAME:
        clean = clean[: _LONGEST_NAME - 20] + "..." + clean[-17:]
    return clean or "table.csv"
