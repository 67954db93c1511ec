"""Options that several commands share, and their parsers."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from exactsindy.cli.output import fail

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Seconds = Annotated[float, typer.Option(min=0.1, help="Time limit; the best answer so far is kept.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Number of threads; every core by default.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
Ridge = Annotated[float, typer.Option(min=0.0, help="Ridge weight, in the units of the data.")]
Constraints = Annotated[
    list[str] | None,
    typer.Option("--constraint", help='What is known, e.g. "y\': x z == -1" or "x\': x <= 0"; may be repeated.'),
]


def names(text: str | None) -> tuple[str, ...] | None:
    """Return names separated by commas."""
    return None if text is None else tuple(part.strip() for part in text.split(",") if part.strip())


def step_or_name(text: str | None) -> Any:
    """Return the step between samples if it is a number, else the name of the time column."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return text


def numbers(text: str, option: str) -> list[float]:
    """Return numbers separated by commas, or end with a sentence."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        fail(f"{option} {text!r}: expected numbers separated by commas, e.g. 1.0,2.5.")


def values(text: str | None, option: str) -> dict[str, float] | None:
    """Return numbers by name, ``mu=0.1,nu=2``, or end with a sentence."""
    if text is None:
        return None
    try:
        return {key.strip(): float(value) for key, value in (part.split("=") for part in text.split(","))}
    except ValueError:
        fail(f"{option} {text!r}: expected numbers by name, e.g. mu=0.1,nu=2.")


def start(text: str, names: tuple[str, ...]) -> Any:
    """Return initial states, ``1.0,2.0`` or by name ``x=1.0,y=2.0``; with ``names`` there must be one for each."""
    if "=" in text:
        return values(text, "--start")
    begin = numbers(text, "--start")
    if names and len(begin) != len(names):
        example = ",".join(f"{name}=1.0" for name in names)
        fail(f"--start {text}: expected {len(names)} numbers, for {', '.join(names)}, e.g. {example}.")
    return begin


def sizes(text: str) -> Any:
    """Return the number of terms: ``3``, or one per equation as ``x'=2,y'=3``."""
    try:
        if "=" not in text:
            return int(text)
        return {key.strip(): int(value) for key, value in (part.split("=") for part in text.split(","))}
    except ValueError:
        fail(f"--k {text!r}: expected a number of terms such as 3, or one per equation such as \"x'=2,y'=3\".")


def constraints(texts: list[str] | None) -> tuple[Any, ...]:
    """Return constraints from their text."""
    if not texts:
        return ()
    from exactsindy.constraints import parse_constraint

    return tuple(parse_constraint(text) for text in texts)
