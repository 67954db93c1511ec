"""What the commands of `bench` share: options, and how a page is written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from exactsindy.cli import output

Out = Annotated[Path, typer.Option("--out", "--output", help="Folder for the page; a later call goes on there.")]
ReportOnly = Annotated[bool, typer.Option("--report-only", help="Measure nothing, write page and plot again.")]
FOLDER = Path("benchmark")


def seeds_of(text: str) -> list[int]:
    """Return seeds from ``4-9`` or ``1,5,7``, or end with a sentence."""
    try:
        spans = [[int(end) for end in part.split("-")] for part in text.split(",")]
        return [seed for span in spans for seed in range(span[0], span[-1] + 1)]
    except ValueError:
        output.fail(f"--seeds {text!r}: expected numbers and ranges separated by commas, e.g. 1,5 or 300-500.")


def write(path: Path, text: str) -> None:
    """Write a page and say where it is."""
    from exactsindy_experiments.pages import write_page

    write_page(path, text)
    typer.echo(str(path))


def interrupted(folder: Path) -> None:
    """End after Ctrl-C, and say that the same command goes on."""
    output.note(f"Interrupted. What was measured is in {folder}; the same command goes on.")
    raise typer.Exit(output.INTERRUPTED) from None
