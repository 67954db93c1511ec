"""A discovery as text for a terminal."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator

from exactsindy.model import Equation
from exactsindy.report.found import Found
from exactsindy.solver import Solution, Status

_WIDTH = 110


def describe(found: Found) -> str:
    """Return equations, what is proved, how sure the choice is, rivals, warnings."""
    lines: list[str] = []
    for i, equation in enumerate(found.model.rows):
        lines += _wrap(with_errors(equation), "", 8)
        for sentence in facts(found, i):
            lines += _wrap(sentence, "    ", 4)
    if found.solution.joint:
        for sentence in joint_facts(found):
            lines += _wrap(sentence, "", 4)
    if found.warnings:
        lines += ["", "Warnings"]
        for notice in found.warnings:
            lines += _wrap(f"- {notice.message}", "  ", 4)
    lines += ["", *_wrap(proved(found), "", 0), "Not proved: that the system is this."]
    return "\n".join(lines)


def with_errors(equation: Equation) -> str:
    """Return an equation with standard errors: ``x' = (-9.998 ± 0.012) x``."""
    if not equation.terms:
        return f"{equation.name} = 0"
    errors = equation.standard_errors or (math.nan,) * len(equation.terms)
    parts = []
    for value, error, term in zip(equation.coefficients, errors, equation.terms, strict=True):
        number = _rounded(value, error)
        parts.append(number if term.name == "1" else f"{number} {term.name}")
    return f"{equation.name} = {' + '.join(parts)}"


def _rounded(value: float, error: float) -> str:
    """Return a coefficient to two digits of its standard error."""
    if not (math.isfinite(error) and error > 0):
        return f"{value:.6g}"
    places = 1 - math.floor(math.log10(error))
    if not -3 <= places <= 9:
        return f"({value:.6g} ± {error:.2g})"
    return f"({value:.{max(places, 0)}f} ± {error:.{max(places, 0)}f})"


def facts(found: Found, i: int) -> Iterator[str]:
    """Yield what is known about an equation: the proof, how sure its size is, what resamples say."""
    solution = found.solution
    target = found.problem.target_names[i]
    if solution.joint:
        yield from _inclusion(found, target)
        return
    size, candidates = len(solution.support[i]), len(found.problem.locate(i)[0].terms)
    status = solution.status[i]
    if size and status is Status.OPTIMAL:
        yield (
            f"No other {size}-term combination of the {candidates} candidates{_within(solution)} fits {target} better; "
            f"{_margin(float(solution.margin[i]))}."
        )
    elif size:
        yield f"{size} of {candidates} candidates. {status.value}"
    choice = found.selection.choices[i]
    if size == choice.k and status is not Status.REFITTED:
        words = choice.words()
        yield f"{words[0].upper()}{words[1:]}."
        if not choice.identified and choice.rival is not None and not choice.rival_terms:
            other = found.selection.path[choice.rival]
            names = [found.problem.names[j] for j in other.support[i]]
            yield f"Rival with {choice.rival}: {', '.join(names) or 'no term'}."
        yield from _inclusion(found, target)


def worse(excess: float) -> str:
    """Return how much worse a fit is, for tables: ``4.1 %``, ``335 times``."""
    return f"{100 * excess:.3g} %" if excess < 1 else f"{1 + excess:.3g} times"


def _margin(margin: float) -> str:
    if math.isnan(margin):
        return "by how much the next best is worse was not proved"
    if math.isinf(margin):
        return "there is no other"
    if margin == 0:
        return "another one fits exactly as well"
    return (
        f"the next best is {100 * margin:.2g} % worse"
        if margin < 1
        else f"the next best is {1 + margin:.3g} times worse"
    )


def _inclusion(found: Found, target: str) -> Iterator[str]:
    shares = found.selection.inclusion.get(target)
    if shares:
        shown = ", ".join(f"{name} {100 * share:.0f} %" for name, share in list(shares.items())[:8] if share >= 0.05)
        orbits = any(c.equation == target and c.rival_terms for c in found.selection.choices)
        yield f"{'Among the models whose trajectories were fitted' if orbits else 'In resamples of the data'}: {shown}."


def joint_facts(found: Found) -> Iterator[str]:
    """Yield what is known about all equations of a shared budget together."""
    choice = found.selection.choices[0]
    status = found.solution.status[0]
    yield f"All equations together: {choice.k} terms, {choice.words()}. {status.value}"


def _within(solution: Solution) -> str:
    return " within the constraints" if solution.constraints else ""


def proved(found: Found) -> str:
    """Return the one sentence on what is proved."""
    solution = found.solution
    names = [certificate.target for certificate in solution.certificates]
    done = [name for name, status in zip(names, solution.status, strict=True) if status is Status.OPTIMAL]
    others = f"no other combination of as many terms of this library{_within(solution)} fits these data better."
    if len(done) == len(names):
        return f"Proved: for every equation, {others}"
    if done:
        return f"Proved: for {', '.join(done)}, {others} For the others nothing is."
    return "Proved: nothing about these terms."


def _wrap(text: str, indent: str, hanging: int) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + " " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
