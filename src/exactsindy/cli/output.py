"""Shared by all commands: exit codes, errors as one sentence, JSON, notes to the user."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from exactsindy._atomic import check_target
from exactsindy._files import reason, shown
from exactsindy.errors import ExactSindyError

#: Done, and everything claimed is proved.
OK = 0
#: Something was wrong with the input; one sentence on standard error says what.
FAILED = 1
#: (2 is typer's: wrong usage.) Done, but a limit was reached before everything was proved.
NOT_PROVED = 3
#: `verify`: a claim does not hold.
REFUTED = 4
#: `verify`: what was checked holds, but something that is claimed to be proved could not be checked.
NOT_CHECKED = 5
#: Ctrl-C; the best answer so far was shown where there was one.
INTERRUPTED = 130
# From so many options on they are grouped in the help: by parameter, under these titles.
_MANY = 20
_PANELS = {
    "The data": "time states controls parameters trajectory split_gaps dims periodic decimal scheduler",
    "The law: equations, candidate terms, what is known": (
        "targets second_order steps lags degree library order constraint"
    ),
    "The search": "k_max total rule weak ridge seconds threads",
    "What comes out": "report save run proof json quiet",
}
#: Rows of a table that a command writes.
MOST_ROWS = 10_000_000
#: Letters of an error; the middle of a longer one is left out.
_LONGEST = 1000


class Commands(TyperGroup):
    """Commands whose errors end in one sentence, not in a traceback."""

    def make_context(self, *args: Any, **more: Any) -> Any:
        """Read the command line."""
        try:
            return super().make_context(*args, **more)
        except KeyboardInterrupt:
            note("Interrupted before there was an answer.")
            raise typer.Exit(INTERRUPTED) from None

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command whose help has no marks that only its source needs."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            for text in ("help", "epilog"):  # (a raw docstring holds a backslash and a b)
                setattr(command, text, (getattr(command, text) or "").replace("\\b\n", "\b\n") or None)
            _without_types_of_flags(command, ctx)
            _in_panels(command)
        return command

    def get_help(self, ctx: Any) -> str:
        """Return the help of all commands, without marks."""
        _without_types_of_flags(self, ctx)
        return super().get_help(ctx)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except ExactSindyError as error:
            from exactsindy.cli.words import in_options

            fail(in_options(str(error)))
        except KeyboardInterrupt as error:
            note(str(error) or "Interrupted before there was an answer.")
            raise typer.Exit(INTERRUPTED) from None
        except MemoryError:
            fail("There is not enough memory for this; take fewer data, a smaller library or fewer threads.")
        except BrokenPipeError:  # the reader of a pipe went away
            sys.stderr.close()
            raise typer.Exit(OK) from None
        except OSError as error:  # standard output: files have their own sentences
            fail(f"The output cannot be written: {reason(error)}.")


def _without_types_of_flags(command: Any, ctx: Any) -> None:
    """Keep the help from writing <bool> after options that take no value."""
    for parameter in (*command.params, command.get_help_option(ctx)):
        if parameter is not None and getattr(parameter, "is_flag", False):
            parameter.metavar = ""


def _in_panels(command: Any) -> None:
    """Group the options in the help of a command that has many of them."""
    if len(command.params) < _MANY:
        return
    for parameter in command.params:
        title = next((title for title, names in _PANELS.items() if parameter.name in names.split()), None)
        if title is not None:
            parameter.rich_help_panel = title


def fail(sentence: str) -> NoReturn:
    """End with a sentence on standard error."""
    typer.secho(f"Error: {shown(sentence, _LONGEST)}", fg="red", err=True)
    raise typer.Exit(FAILED)


def check_folders(*paths: Path | None, run: Path | None = None) -> None:
    """End with a sentence if a file or run folder could not be written, before an hour of work is lost."""
    for path in paths:
        if path is not None:
            if not path.absolute().parent.is_dir():
                fail(f"{str(path)!r}: there is no folder {str(path.absolute().parent)!r}; make it first.")
            check_target(path, repr(str(path)))
    if run is not None and run.exists() and not run.is_dir():
        fail(f"{str(run)!r}: this is a file; expected the name of a folder.")


def note(sentence: str) -> None:
    """Say something that is not the result: standard error, so that pipes stay clean."""
    typer.echo(sentence, err=True)


def show(value: Any, as_json: bool, text: Callable[[], str]) -> None:
    """Print the result: for machines one JSON document, else text."""
    typer.echo(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) if as_json else text())


def ending(statuses: tuple[Any, ...]) -> int:
    """Return the exit code of a search with these statuses."""
    names = {status.name for status in statuses}
    if "INTERRUPTED" in names:
        return INTERRUPTED
    return OK if names <= {"OPTIMAL"} else NOT_PROVED


def finish(code: int) -> None:
    """End with an exit code; 0 just returns."""
    if code:
        raise typer.Exit(code)
