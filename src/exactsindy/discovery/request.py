"""What is asked of `discover`, and what is taken where nothing is said: library, sizes, limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import comb
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from exactsindy.data import Data, Field, Trajectories
from exactsindy.errors import ProblemError, SolverError
from exactsindy.forms import Form, IncrementForm, MapForm, ModalForm, StrongForm, WeakForm
from exactsindy.library import Derivatives, Library, Parameters, Polynomials, Term, Terms, Variable, Variables
from exactsindy.problem import Problem
from exactsindy.selection import Rule
from exactsindy.solver import Settings, Total

# Time limit of one `discover` unless another is asked for, in seconds: long enough to prove most answers, short enough
# to wait for.
DEFAULT_SECONDS = 60.0
# Degree of the default library, and the most terms it may have: beyond them the degree is lowered.
_DEGREE, _MOST_TERMS = 3, 130
# Samples wanted per candidate term: with fewer, high powers fit the noise of a handful of points.
_LEAST_ROWS = 3
# Largest number of terms tried: more than most laws have, so that gains are seen to fall off; another one for fields
# with more than _WIDE candidates.
_SIZE, _SIZE_FIELDS, _WIDE = 8, 10, 40
# Forms that have a name.
_FORMS: dict[str, type[Any]] = {
    "strong": StrongForm,
    "weak": WeakForm,
    "increment": IncrementForm,
    "modal": ModalForm,
    "map": MapForm,
}


@dataclass(frozen=True)
class Request:
    """What was asked of `discover` beside the data.

    ``None`` stands for the default library and number of terms; ``form`` is None where it is chosen from the data.
    """

    library: Library | None
    form: Form | None
    k_max: int | Total | None
    rule: Rule | str
    ridge: Any
    constraints: tuple[Any, ...]
    settings: Settings
    proof: Path | None = None  # the folder for a proof file

    @property
    def compares_trajectories(self) -> bool:
        """Return True if the rule is left open, without a shared budget: trajectory fits may choose the terms then."""
        return isinstance(self.rule, str) and not isinstance(self.k_max, Total)

    @property
    def allows_trajectory_fits(self) -> bool:
        """Return True if trajectory fits may choose the terms and no ridge is asked for."""
        return self.compares_trajectories and isinstance(self.ridge, int | float) and self.ridge == 0

    def as_text(self, library: Library, form: Any, k_max: int | Total) -> dict[str, str]:
        """Return the request as text for the report, with the library and size in use."""
        seconds = self.settings.seconds
        return {
            "library": repr(library) if self.library is not None else f"{library!r} (default)",
            "form": form if isinstance(form, str) else repr(form),
            "k_max": repr(k_max),
            "ridge": repr(self.ridge),
            "constraints": "; ".join(map(str, self.constraints)) or "none",
            "time limit": f"{seconds:g} s" if seconds is not None else "none",
        }


def default_library(data: Data, degree: int | None = None) -> Library:
    """Return monomials of degree 3 (less for many states or few samples), for fields also times derivatives.

    States and controls that never change are left out: products with them repeat other terms. So do powers of controls
    that have few values: with two of them, u^2 is a sum of u and 1. With another ``degree``
    trajectories get all monomials of it, as asked for. Where trajectories have parameters, every coefficient may be
    linear in them. Where equations are for x'', the velocity x' is a variable, too, and the quadratic drag x' abs(x') a
    candidate.
    """
    if isinstance(data, Field):
        order, most = 4 if len(data.axes) == 1 and len(data.names) == 1 else 2, _DEGREE if degree is None else degree
        space = Polynomials(most, of=data.names if data.rate_names else None) * Derivatives(
            order, of=data.names if data.rate_names else None
        )
        return Polynomials(most, bias=False) + space
    if degree is not None:
        return Polynomials(degree) * Parameters(1) if data.parameter_names else Polynomials(degree)
    measured = (*data.state_names, *data.control_names)
    columns = np.vstack([np.hstack((member.states, member.controls)) for member in data])
    still = {name for name, width in zip(measured, np.ptp(columns, axis=0), strict=True) if not width > 0}
    names = Variables.of(data).basic
    moving = tuple(name for name in names if name.rstrip("'") not in still) or names
    most = min(_MOST_TERMS, data.n_samples // _LEAST_ROWS)
    copies = 1 + len(data.parameter_names)
    chosen = next((n for n in (_DEGREE, 2) if copies * comb(len(moving) + n, n) <= most), 1)
    library: Library = Polynomials(chosen, of=None if moving == names else moving)
    repeated = _repeated_powers(data)
    if repeated:
        library = Terms([term for term in library.terms(data) if not _holds_power(term, repeated)])
    drag = [f"{rate} abs({rate})" for rate in data.rate_names if rate in moving]
    library = library + Terms(drag) if drag else library
    return library * Parameters(1) if data.parameter_names else library


def _repeated_powers(data: Trajectories) -> dict[str, int]:
    """Return the controls with few values, and from which power on theirs are sums of lower ones: their count."""
    counts = {
        name: len(np.unique(np.concatenate([member.controls[:, j] for member in data])))
        for j, name in enumerate(data.control_names)
    }
    return {name: count for name, count in counts.items() if 1 < count <= _DEGREE}


def _holds_power(term: Term, repeated: Mapping[str, int]) -> bool:
    return any(
        isinstance(atom, Variable) and power >= repeated.get(atom.name, power + 1) for atom, power in term.factors
    )


def default_size(data: Data, problem: Problem) -> int:
    """Return the largest number of terms that is tried unless another is asked for."""
    wide = isinstance(data, Field) and len(problem.terms) > _WIDE
    return min(_SIZE_FIELDS if wide else _SIZE, len(problem.terms))


def largest_size(asked: int | Total | None, data: Data, problem: Problem) -> int | Total:
    """Return the largest number of terms that is tried: what was asked for, but no more than there are."""
    most = len(problem.terms)
    if asked is None:
        return default_size(data, problem)
    if isinstance(asked, Total):
        all_terms = most * len(problem.target_names)
        return replace(asked, k=all_terms) if isinstance(asked.k, int) and asked.k > all_terms else asked
    return min(asked, most) if isinstance(asked, int) and not isinstance(asked, bool) else asked


def find_library(library: object) -> Library | None:
    """Return the library asked for, None for "auto"."""
    if isinstance(library, str):
        if library == "auto":
            return None
        raise ProblemError(f"library={library!r}: expected 'auto' or a library such as Polynomials(3).")
    if library is not None and not isinstance(library, Library):
        what = shorten(repr(library), 60)
        if type(library).__module__.partition(".")[0] == "pysindy":
            raise ProblemError(f"library={what}: this is one of PySINDy; pass es.from_pysindy(...) of it.")
        example = "Polynomials(3) + Functions(['sin'])"
        raise ProblemError(f"library={what}: expected a library such as {example}, or Terms([...]) for names of terms.")
    return library


def find_form(form: Any) -> Form | None:
    """Return a form from its name or itself, None for "auto"."""
    if isinstance(form, str):
        if form == "auto":
            return None
        if form in _FORMS:
            return _FORMS[form]()  # type: ignore[no-any-return]
    elif not isinstance(form, type) and hasattr(form, "problem") and hasattr(form, "folds"):
        return form  # type: ignore[no-any-return]
    raise ProblemError(f"form={form!r}: expected 'auto', a form such as WeakForm(), or one of {', '.join(_FORMS)}.")


def call_settings(seconds: float | None, threads: int | None, settings: Settings | None) -> Settings:
    """Return the settings of a call: what ``settings`` says, and the keywords where it says nothing."""
    asked = Settings() if settings is None else settings
    if not isinstance(asked, Settings):
        raise SolverError(f"discover(settings={settings!r}): expected Settings(...), or leave it out.")
    for name, value, default in (("seconds", seconds, DEFAULT_SECONDS), ("threads", threads, None)):
        other = getattr(asked, name)
        if other is not None and value not in (default, other):
            both = f"{name}={value!r}, settings=Settings({name}={other!r})"
            raise SolverError(f"discover({both}): two different values; give one.")
    limit = seconds if asked.seconds is None else asked.seconds
    return replace(asked, seconds=limit, threads=threads if asked.threads is None else asked.threads)
