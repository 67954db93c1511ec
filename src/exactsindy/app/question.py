"""What is asked of the data: equations, candidate terms, known physics, time."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import comb
from typing import Any

from exactsindy.constraints import parse_constraint
from exactsindy.data import Data, Field, Trajectories, parse_targets
from exactsindy.discovery import default_library
from exactsindy.errors import ConstraintError, ExactSindyError
from exactsindy.library import Fourier, Library, Rational, Terms

#: Time limits that the page offers, in seconds.
SECONDS = (10, 60, 300)
#: The orders that stand for discrete time (equations of the next sample) and for a choice from the data.
MAP, AUTOMATIC = 0, -1
#: Degrees of monomials that the page offers; None is chosen from the data.
DEGREES = (None, 1, 2, 3, 4, 5)
# More candidates than this are refused: a search among them does not end on a desktop.
_MOST_CANDIDATES = 2000


@dataclass(frozen=True)
class Function:
    """A kind of function that can be added to the library: its name on the page, and how it is written elsewhere.

    ``word`` is what ``--library`` takes for it.
    """

    label: str
    word: str
    make: Callable[[tuple[str, ...]], Library]
    code: Callable[[tuple[str, ...]], str]


def _terms(pattern: str) -> tuple[Callable[[tuple[str, ...]], Library], Callable[[tuple[str, ...]], str]]:
    def texts(names: tuple[str, ...]) -> list[str]:
        return [pattern.format(name) for name in names]

    return (lambda names: Terms(texts(names))), (
        lambda names: f"es.Terms({json.dumps(texts(names), ensure_ascii=False)})"
    )


#: Functions beside the monomials, by a short key.
FUNCTIONS: Mapping[str, Function] = {
    "sin": Function("sin, cos", "sin,cos", lambda names: Fourier(1), lambda names: "es.Fourier(1)"),
    "exp": Function("exp", "exp", *_terms("exp({})")),
    "inverse": Function("1 / x", "1/x", *_terms("1/{}")),
    "abs": Function("x |x|", "x abs(x)", *_terms("{0} abs({0})")),
    "tanh": Function("tanh", "tanh", *_terms("tanh({})")),
    "rational": Function("fractions", "polynomial,rational", lambda names: Rational(), lambda names: "es.Rational()"),
}

#: Functions with constants inside, which the search finds: their number is not known before.
OPEN = frozenset({"rational"})


@dataclass(frozen=True)
class Question:
    """What is asked: every field has an answer, so that nothing must be typed.

    ``equations`` are states whose equations are wanted, none for all; ``order`` is that of the time derivative, `MAP`
    for the next sample, or `AUTOMATIC` (first, or second where the data ask for it); ``degree`` is that of the
    monomials, None for a choice from the data.
    """

    equations: tuple[str, ...] = ()
    order: int = AUTOMATIC
    degree: int | None = None
    functions: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    seconds: float = 60.0

    def with_constraint(self, text: str) -> Question:
        """Return the question with one more sentence of physics; raise ConstraintError if it cannot be read."""
        parse_constraint(text)
        return replace(self, constraints=tuple(dict.fromkeys([*self.constraints, text.strip()])))

    @property
    def is_map(self) -> bool:
        """Return True if the next sample is asked for and no derivative."""
        return self.order == MAP

    def targets(self, data: Data) -> tuple[str, ...] | None:
        """Return the equations wanted as `load` takes them, None for its default."""
        if not self.equations and self.order in (MAP, AUTOMATIC):
            return None
        if self.is_map:
            return self.equations
        order = max(self.order, 1)
        mark = (lambda name: f"{name}_{'t' * order}") if isinstance(data, Field) else (lambda name: name + "'" * order)
        return tuple(mark(name) for name in self.equations or data.state_names)

    def equation_names(self, data: Data) -> tuple[str, ...]:
        """Return the names of the equations wanted."""
        if self.is_map:
            return tuple(f"{name}[k+1]" for name in self.equations or data.state_names)
        return self.targets(data) or tuple(target.name for target in data.targets)

    def aimed(self, data: Data) -> Data:
        """Return the data with the equations wanted as their targets."""
        targets = self.targets(data)
        if targets is None:
            return data
        if isinstance(data, Field):
            return replace(data, targets=parse_targets(targets, data.names, field=True))
        return Trajectories(data.members, targets, time_name=data.time_name, notices=data.notices)

    def library(self, data: Data) -> Library | None:
        """Return the library asked for; None where it is left to `discover`."""
        if self.degree is None and not self.functions:
            return None
        names = (*data.state_names, *data.control_names)
        library = default_library(data, self.degree)
        for key in self.functions:
            library = library + FUNCTIONS[key].make(names)
        return library

    def record(self) -> dict[str, Any]:
        """Return the question as plain numbers and texts, for the process that works on it."""
        return {
            "equations": list(self.equations),
            "order": self.order,
            "degree": self.degree,
            "functions": list(self.functions),
            "constraints": list(self.constraints),
            "seconds": self.seconds,
        }

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Question:
        """Return the question of a record."""
        lists = {name: tuple(record[name]) for name in ("equations", "functions", "constraints")}
        return cls(order=record["order"], degree=record["degree"], seconds=record["seconds"], **lists)


@dataclass(frozen=True)
class Candidates:
    """How many terms there are to choose from, and their names; ``problem`` says why there are none."""

    names: tuple[str, ...] = ()
    problem: str = ""

    @property
    def count(self) -> int:
        """Return their number."""
        return len(self.names)


def candidates(question: Question, data: Data) -> Candidates:
    """Return the terms of the library that the question asks for."""
    variables, degree = len(data.state_names) + len(data.control_names), question.degree or 1
    powers = comb(variables + degree, degree)
    if powers > _MOST_CANDIDATES:  # before they are made, which takes long
        return Candidates(problem=f"{powers:,} powers and products are too many; take a lower degree.")
    try:
        data = question.aimed(data)
        plain = replace(question, functions=tuple(key for key in question.functions if key not in OPEN))
        library = plain.library(data) or default_library(data)
        names = tuple(term.name for term in library.terms(data))
    except ExactSindyError as error:
        return Candidates(problem=str(error))
    if len(names) > _MOST_CANDIDATES:
        return Candidates(problem=f"{len(names)} candidates are too many; take a lower degree or fewer functions.")
    return Candidates(names)


def check_constraint(text: str, question: Question, data: Data) -> str:
    """Return why a sentence of physics cannot be used with these equations and terms; empty if it can."""
    try:
        known = parse_constraint(text)
    except ConstraintError as error:
        return str(error)
    equations = question.equation_names(data)
    terms = candidates(question, data).names
    for equation, term in known.coefs:
        if str(equation) not in equations:
            return f"There is no equation {equation!r}; the equations are {', '.join(equations)}."
        if str(term) not in terms:
            return f"There is no term {term!r} among the candidates."
    return ""
