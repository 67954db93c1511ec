"""The lines that repeat a search of the page: a Python program, and one line for the command line."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from exactsindy.app.question import FUNCTIONS, OPEN, Question
from exactsindy.app.what_if import Changes
from exactsindy.data import Data
from exactsindy.discovery import default_library
from exactsindy.library import Derivatives, Polynomials, Terms

_NONE = Changes()
# Degree of the monomials beside functions that the command line takes by default, and that of fractions on the page.
_LIBRARY_DEGREE, _FRACTIONS_DEGREE = 3, 2


def python_lines(
    title: str, arguments: Mapping[str, Any], question: Question, data: Data, changes: Changes = _NONE
) -> str:
    """Return a Python program that repeats the search, and the changes made to its answer."""
    load = {**arguments, **_targets(question, data)}
    asked = {}
    if question.functions:
        names = (*data.state_names, *data.control_names)
        parts = [
            _library_code(default_library(question.aimed(data), question.degree)),
            *(FUNCTIONS[key].code(names) for key in question.functions),
        ]
        asked["library"] = " + ".join(parts)
    elif question.degree is not None:
        asked["degree"] = str(question.degree)
    if question.is_map:
        asked["form"] = '"map"'
    if question.constraints:
        asked["constraints"] = _quoted(question.constraints)
    asked["seconds"] = f"{question.seconds:g}"
    given = "".join(f", {name}={_python(value)}" for name, value in load.items())
    searched = "".join(f", {name}={value}" for name, value in asked.items())
    lines = ["import exactsindy as es", "", f"data = es.load({_python(title)}{given})"]
    lines += [f"found = es.discover(data{searched})", "print(found)", 'found.report("report.html")']
    return "\n".join([*lines, *_changed(changes, question.constraints)]) + "\n"


def _changed(changes: Changes, constraints: tuple[str, ...]) -> list[str]:
    """Return lines that solve the regression of the search again with the changes."""
    lines = []
    for name, change in changes.by_equation.items():
        if change.rival is not None:
            lines.append(f"print(found.at(rival={{{_python(name)}: {change.rival}}}))")
            continue
        asked = [("Forbid", term) for term in change.forbidden] + [("Require", term) for term in change.required]
        made = [f"es.constraints.{kind}({_python(name)}, {_python(term)})" for kind, term in asked]
        kept = ", ".join([*map(_python, constraints), *made])
        place = f"found.problem.target_names.index({_python(name)})"
        size = f"len(found.solution.support[{place}])" if change.size is None else str(change.size)
        size = f"max({size}, {len(change.required)})" if change.required else size
        lines.append(f"solution = es.solve(found.problem, {size}, ridge=found.solution.ridge, constraints=[{kept}])")
        lines.append(f"print(es.Model.from_solution(solution, variables=data).equations()[{place}])")
    return ["", "# The changes made on the page, proved again:", *lines] if lines else []


def _library_code(library: Any) -> str:
    """Return the libraries that `default_library` makes as Python writes them."""
    if isinstance(library, Polynomials):
        bias = "" if library.bias else ", bias=False"
        of = "" if library.of is None else f", of={_python(list(library.of))}"
        return f"es.Polynomials({library.degree}{bias}{of})"
    if isinstance(library, Derivatives):
        return f"es.Derivatives({library.order})"
    if isinstance(library, Terms):
        return f"es.Terms({_quoted(library.items)})"
    if hasattr(library, "members"):
        return " + ".join(map(_library_code, library.members))
    if hasattr(library, "left"):
        sides = [_library_code(side) for side in (library.left, library.right)]
        return " * ".join(f"({side})" if " + " in side else side for side in sides)
    return f"es.{library!r}"


def shell_line(title: str, arguments: Mapping[str, Any], question: Question, data: Data) -> str:
    """Return the line for the command line that repeats the search; a comment where it has no option for it."""
    degree = question.degree
    if question.functions:
        monomials = default_library(question.aimed(data), degree)
        plain = isinstance(monomials, Polynomials) and monomials.of is None and monomials.bias
        if isinstance(monomials, Polynomials):
            degree = None if monomials.degree == _LIBRARY_DEGREE else monomials.degree
        if not plain or (OPEN & set(question.functions) and degree not in (None, _FRACTIONS_DEGREE)):
            return "# This library has no option on the command line: use the lines for Python."
    words = ["exactsindy", "discover", title]
    for name, value in {**arguments, **_targets(question, data)}.items():
        if name == "gaps":
            words.append("--split-gaps")
        else:
            words += [f"--{name}", ",".join(value) if isinstance(value, list | tuple) else f"{value}"]
    if degree is not None:
        words += ["--degree", str(degree)]
    if question.functions:
        words += ["--library", ",".join(FUNCTIONS[key].word for key in question.functions)]
    words += ["--map"] if question.is_map else []
    for text in question.constraints:
        words += ["--constraint", text]
    words += ["--seconds", f"{question.seconds:g}", "--report", "report.html"]
    return shlex.join(words)


def _targets(question: Question, data: Data) -> dict[str, Any]:
    targets = question.targets(data)
    return {} if targets is None else {"targets": list(targets)}


def _python(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | list) else repr(value)


def _quoted(texts: Any) -> str:
    return json.dumps(list(texts), ensure_ascii=False)
