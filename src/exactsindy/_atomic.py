"""Files written so that a reader sees all of the old content or all of the new, whatever happens meanwhile.

Everything is written under a name that ends in ``.part`` first. A writer holds a lock on what it writes, so that the
next writer can tell what a killed one left behind, and remove it.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from exactsindy._files import reason
from exactsindy.errors import DataError

if sys.platform != "win32":  # there, a file that is open cannot be removed, which says the same as a lock
    import fcntl

#: Inside a folder: its next content, complete; it counts as the content from the moment that it has this name.
NEXT = ".next"
#: How often a folder is looked at again because another process was writing to it just then.
_ATTEMPTS = 100


def write_atomically(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file under a temporary name and move it into place.

    Raises
    ------
    DataError
        If it cannot be written: no such folder, a folder or device of that name, no permission, no space.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> write_atomically(Path(folder) / "note.txt", "done")
    >>> os.listdir(folder)
    ['note.txt']
    """
    target = _path(path, "save")
    # In JSON, bytes of a file name that are no text come back from the escape that this makes of them.
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    check_target(target)
    try:
        remove_leftovers(target)
        handle, temporary = temporary_file(target)
    except (OSError, ValueError) as error:
        raise DataError(f"save({str(path)!r}): the folder cannot be written to: {reason(error)}.") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if sys.platform != "win32":  # (moved while it is locked; Windows moves closed files only)
                os.replace(temporary, target)
        if sys.platform == "win32":
            os.replace(temporary, target)
        sync(target.parent)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise DataError(f"save({str(path)!r}): the file cannot be written: {reason(error)}.") from error
        raise


def _path(path: object, speaker: str) -> Path:
    if not isinstance(path, (str, os.PathLike)):
        raise DataError(f"{speaker}: got {type(path).__name__}; expected a path.")
    return Path(path)


def check_target(target: Path, speaker: str = "") -> None:
    """Refuse to write where a folder, a pipe or a device stands."""
    try:
        mode = target.stat().st_mode
    except (OSError, ValueError):  # not there yet, or what stands in the way is said when it is written
        return
    speaker = speaker or f"save({str(target)!r})"
    if stat.S_ISDIR(mode):
        raise DataError(f"{speaker}: this is a folder; expected the name of a file.")
    if not stat.S_ISREG(mode):
        raise DataError(f"{speaker}: this is a pipe, a device or a socket; expected the name of a file.")


@contextmanager
def replacing(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Make a place for new files of a folder, and put all of them into it at once when the block ends.

    Other files of the folder stay. `current` names the file that counts at any moment: the old ones until the new
    ones are complete, then the new ones, also if the process is killed while they are moved.

    Raises
    ------
    DataError
        If the folder cannot be made or written to.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with replacing(folder) as place:
    ...     write_atomically(place / "a.txt", "new")
    >>> os.listdir(folder), current(folder, "a.txt").read_text()
    (['a.txt'], 'new')
    """
    target = _path(folder, "folder")
    try:
        target.mkdir(parents=True, exist_ok=True)
        remove_leftovers(target / NEXT)
        part, lock = _temporary_folder(target / NEXT)
    except (OSError, ValueError) as error:
        raise DataError(f"folder {str(folder)!r}: it cannot be made or written to: {reason(error)}.") from error
    try:
        yield part
        try:
            sync(part)
            _move_in(target)  # what an earlier writer completed but did not move
            _commit(part, target / NEXT)
            _move_in(target)
        except OSError as error:
            raise DataError(f"folder {str(folder)!r}: it cannot be written to: {reason(error)}.") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
        if lock is not None:
            os.close(lock)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a temporary folder for this user alone, removed at the end; those of killed processes are removed first.

    Examples
    --------
    >>> with scratch_folder() as place:
    ...     write_atomically(place / "a.txt", "x")
    >>> place.exists()
    False
    """
    base = Path(tempfile.gettempdir()) / "exactsindy"
    with suppress(OSError):
        remove_leftovers(base)
    try:
        part, lock = _temporary_folder(base, mode=0o700)
    except OSError as error:
        raise DataError(f"no temporary folder can be made in {str(base.parent)!r}: {reason(error)}.") from error
    try:
        yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def current(folder: str | os.PathLike[str], name: str) -> Path:
    """Return the file of this name that counts; see `replacing`."""
    complete = Path(folder) / NEXT / name
    with suppress(ValueError):  # (of a name that no file can have)
        return complete if os.path.lexists(complete) else Path(folder) / name
    return Path(folder) / name


def state(folder: str | os.PathLike[str], name: str) -> object:
    """Return what changes whenever the content of a folder does; ``name`` is a file that every content has."""
    waiting: tuple[str, ...] = ()
    with suppress(OSError, ValueError):
        waiting = tuple(sorted(os.listdir(Path(folder) / NEXT)))
    try:
        about = current(folder, name).stat()
    except (OSError, ValueError):
        return waiting, None
    return waiting, (about.st_ino, about.st_mtime_ns, about.st_size)


def _commit(part: Path, complete: Path) -> None:
    for _ in range(_ATTEMPTS):
        try:
            os.rename(part, complete)
        except OSError as error:  # another writer was faster: its files are moved first
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.EACCES) or not complete.is_dir():
                raise
            _move_in(complete.parent)
        else:
            return sync(complete.parent)
    raise OSError(errno.EBUSY, "another process keeps writing to it")


def _move_in(folder: Path) -> None:
    complete = folder / NEXT
    if not complete.is_dir():
        return
    for name in sorted(os.listdir(complete)):
        with suppress(FileNotFoundError):  # another writer moved it
            os.replace(complete / name, folder / name)
    with suppress(OSError):
        os.rmdir(complete)
    sync(folder)


def temporary_file(target: Path) -> tuple[int, Path]:
    """Return a new file beside the target, locked."""
    while True:
        name = _part_name(target)
        handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        if _locked(handle, name):
            return handle, name
        os.close(handle)


def _temporary_folder(target: Path, mode: int = 0o777) -> tuple[Path, int | None]:
    """Return a new folder beside the target and the handle that locks it."""
    while True:
        part = _part_name(target)
        part.mkdir(mode)
        if sys.platform == "win32":
            return part, None
        with suppress(FileNotFoundError):
            handle = os.open(part, os.O_RDONLY)
            if _locked(handle, part):
                return part, handle
            os.close(handle)


def _part_name(target: Path) -> Path:
    return target.with_name(f".{target.name.removeprefix('.')}.{secrets.token_hex(6)}.part")


def _locked(handle: int, name: Path) -> bool:
    """Lock what was just made; False if a cleaning writer took it for a leftover before that."""
    if sys.platform == "win32":
        return True
    with suppress(OSError):  # some network file systems have no locks
        fcntl.flock(handle, fcntl.LOCK_EX)
    return os.path.lexists(name)


def remove_leftovers(target: Path) -> None:
    """Remove what writers of a file left beside it when they were killed: nobody holds its lock any more."""
    ours = re.compile(rf"\.{re.escape(target.name.removeprefix('.'))}\.[0-9a-f]{{12}}\.part")
    with os.scandir(target.parent) as items:
        found = [Path(item.path) for item in items if ours.fullmatch(item.name)]
    for item in found:
        with suppress(OSError):
            _remove_unlocked(item)


def _remove_unlocked(item: Path) -> None:
    if sys.platform == "win32":
        return item.unlink()  # (an OSError if it is open)
    handle = os.open(item, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an OSError if its writer lives
        if item.is_dir():
            shutil.rmtree(item)
        else:
            item.unlink()
    finally:
        os.close(handle)


def sync(folder: Path) -> None:
    """Let what was moved outlast a power failure, where the system can do that for folders."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
