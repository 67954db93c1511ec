"""Files written so that no reader ever sees half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from exactsindy.errors import DataError


def write_atomically(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file under a temporary name and move it into place.

    Raises
    ------
    DataError
        If the folder cannot be written to.

    Examples
    --------
    >>> folder = tempfile.mkdtemp()
    >>> write_atomically(Path(folder) / "note.txt", "done")
    >>> os.listdir(folder)
    ['note.txt']
    """
    target = Path(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    except OSError as error:
        raise DataError(f"save({str(path)!r}): the folder cannot be written to: {error.strerror}.") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~umask())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def umask() -> int:
    """Return the user's mask: mkstemp makes files only the owner can read; what people save are ordinary files."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
