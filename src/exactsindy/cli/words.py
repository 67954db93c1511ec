"""Sentences of the package, which name arguments of Python, in the words of the command line: its options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exactsindy.data import Notice

# Arguments whose options are called otherwise, or that stand for a flag.
_FLAGS = {
    "gaps='split'": "--split-gaps",
    "missing='keep'": "--split-gaps",
    "form='weak'": "--weak",
    "form='strong'": "--strong",
    "library=...": "--library",
}
_OPTIONS = (
    "time|states|controls|targets|trajectory|dims|periodic|decimal|degree|k_max|rule|ridge|seconds|threads|parameters"
)
# name=('a', 'b'), name='a', name=0.1, name=[...] and a bare name=, in this order.
_TUPLE = re.compile(rf"\b({_OPTIONS})=[(\[]((?:\"[^\"]*\"|'[^']*'|[^)\]\"'])*)[)\]]")
_TEXT = re.compile(rf"\b({_OPTIONS})=('[^']*'|\"[^\"]*\")")
_NUMBER = re.compile(rf"\b({_OPTIONS})=(-?\d[\d.e+-]*\d|\d)")
_BARE = re.compile(rf"\b({_OPTIONS})=(?=[\s.,;]|$)")
# What a sentence is about, at its beginning; and which of several constraints.
_SUBJECT = re.compile(r"^(time|states|controls|targets|trajectory|parameters|dims|periodic): ")
_CONSTRAINT = re.compile(r"\bconstraints\[(\d+)\]")
# A call in Python, which stays as it is.
_CALL = re.compile(r"(\b[A-Za-z_][\w.]*\((?:[^()]|\([^()]*\))*\))")
_PYTHON_ALONE = " for discover and load, missing='keep' for Field.from_arrays"
_NAMES = re.compile(r"'([^']*)'|\"([^\"]*)\"")


def option(name: str) -> str:
    """Return the option of an argument: ``--k-max`` for ``k_max``."""
    return f"--{name.replace('_', '-')}"


def in_options(sentence: str) -> str:
    """Return a sentence that speaks of options where it spoke of arguments.

    Examples
    --------
    >>> in_options("Pass gaps='split', or name the time column, time='...'; k_max=3.")
    'Pass --split-gaps, or name the time column, --time NAME; --k-max 3.'
    """
    text = re.sub(r"\b(?:load|discover)\('([^']*)'\): ", r"'\1': ", sentence)
    text = re.sub(r"\bdiscover\(([^()]*)\): ", r"\1: ", text)
    text = text.replace(_PYTHON_ALONE, "").replace("`seconds`", "--seconds")
    text = _SUBJECT.sub(lambda found: f"{option(found[1])}: ", text)
    text = _CONSTRAINT.sub(lambda found: f"--constraint (number {int(found[1]) + 1})", text)
    return "".join(part if i % 2 else _translated(part) for i, part in enumerate(_CALL.split(text)))


def _translated(text: str) -> str:
    for argument, flag in _FLAGS.items():
        text = text.replace(argument, flag)
    text = _TUPLE.sub(_listed, text)
    text = _TEXT.sub(lambda found: f"{option(found[1])} {_value(found[2][1:-1])}", text)
    text = _NUMBER.sub(lambda found: f"{option(found[1])} {found[2]}", text)
    return _BARE.sub(lambda found: option(found[1]), text)


def notices_in_options(notices: Iterable[Notice]) -> tuple[Notice, ...]:
    """Return notices whose messages speak of options."""
    return tuple(replace(notice, message=in_options(notice.message)) for notice in notices)


def _listed(found: re.Match[str]) -> str:
    names = [first or second for first, second in _NAMES.findall(found[2])]
    return f"{option(found[1])} {_value(','.join(names) or '...')}"


def _value(text: str) -> str:
    """Return a value as it is typed: NAME where the sentence leaves it open, quoted where a shell needs it."""
    if text == "...":
        return "NAME"
    if "'" in text:
        return f'"{text}"'
    return text if text == "," else shlex.quote(text)
