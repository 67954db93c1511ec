"""An answer as the page shows it: the verdict first, then equations, what is proved, rivals, sizes, warnings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from exactsindy.app.what_if import Change, Changes
from exactsindy.app.words import on_page
from exactsindy.discovery import Discovery
from exactsindy.library import mathml_target, mathml_term
from exactsindy.model import Equation, percent, with_error
from exactsindy.plots import PathCurve, path_curves, raised, worse
from exactsindy.report import Verdict, messages, spoken, typesetter, verdicts
from exactsindy.solver import Solution, Status


class Tone(Enum):
    """How a statement is meant; colours follow it, and words say the same."""

    SURE = "sure"
    UNSURE = "unsure"
    WRONG = "wrong"
    CHANGED = "changed"


# The tones of the report's verdicts.
_TONES = {"good": Tone.SURE, "fair": Tone.UNSURE, "bad": Tone.WRONG}
_CHANGED = "Your question, not the choice of the search: nothing is said about how likely these terms are right."


@dataclass(frozen=True)
class TermView:
    """A term of an equation: its name, MathML, signed coefficient, and how large it is beside the right-hand side."""

    name: str
    mathml: str
    coefficient: str
    share: str
    inclusion: str
    required: bool


@dataclass(frozen=True)
class RivalView:
    """A ranked support of the chosen size: its terms as text and as MathML, and how much worse than the best it is."""

    rank: int
    terms: str
    mathml: str
    worse: str
    shown: bool


@dataclass(frozen=True)
class EquationView:
    """One equation: verdict, terms, what is proved, what was asked of it, its sizes and rivals."""

    name: str
    mathml: str
    text: str
    tone: Tone
    verdict: str
    proof: str
    proved: bool
    terms: tuple[TermView, ...]
    forbidden: tuple[str, ...]
    required: tuple[str, ...]
    size: int
    rivals: tuple[RivalView, ...]
    rivals_complete: bool


@dataclass(frozen=True)
class AnswerView:
    """The whole answer: one headline with its tone, then the equations, then what to be careful about."""

    headline: str
    tone: Tone
    equations: tuple[EquationView, ...]
    warnings: tuple[str, ...]
    paths: tuple[PathCurve, ...]
    changed: bool


def view(shown: Discovery, selected: Discovery, changes: Changes) -> AnswerView:
    """Return what the page shows of an answer; ``selected`` is that of the search, before any changes."""
    supports = zip(shown.solution.support, selected.selection.solution.support, strict=True)
    changed = [now != before for now, before in supports]
    limited = bool(selected.solution.constraints)  # by the physics in the question
    equations = tuple(
        _equation(shown, i, verdict, changed[i], changes.of(verdict.equation), limited)
        for i, verdict in enumerate(verdicts(shown))
    )
    tone, headline = _headline(equations)
    warnings = tuple(
        raised(on_page(text)) for text in messages(shown.warnings)
    )  # (as text, because no HTML from data is shown)
    return AnswerView(headline, tone, equations, warnings, path_curves(shown), bool(changes.by_equation))


def _headline(equations: tuple[EquationView, ...]) -> tuple[Tone, str]:
    """Return one sentence about all equations, no better than the worst of them."""
    tones = [equation.tone for equation in equations]
    if Tone.CHANGED in tones:
        names = ", ".join(e.name for e in equations if e.tone is Tone.CHANGED)
        return Tone.CHANGED, f"What if: {names} changed by you. The search had chosen other terms."
    count, sure = len(equations), tones.count(Tone.SURE)
    if sure == count:
        return Tone.SURE, "The equation is identified." if count == 1 else f"All {count} equations are identified."
    wrong = [e.name for e in equations if e.tone is Tone.WRONG]
    if len(wrong) == count:
        return Tone.WRONG, "The equation is not identified." if count == 1 else "None of the equations is identified."
    warned = [e.name for e in equations if e.tone is Tone.UNSURE and e.verdict.startswith("Identified")]
    doubtful = [e.name for e in equations if e.tone is Tone.UNSURE and e.name not in warned]
    parts = [f"{sure} of {count} equations identified"] if sure else []
    parts += [f"identified, with warnings: {', '.join(warned)}"] if warned else []
    parts += [f"with doubts: {', '.join(doubtful)}"] if doubtful else []
    parts += [f"not identified: {', '.join(wrong)}"] if wrong else []
    text = "; ".join(parts)
    return Tone.WRONG if wrong else Tone.UNSURE, f"{text[0].upper()}{text[1:]}."


def _equation(shown: Discovery, i: int, verdict: Verdict, changed: bool, change: Change, limited: bool) -> EquationView:
    row, solution = shown.model.rows[i], shown.solution
    tone = Tone.CHANGED if changed else _TONES[verdict.tone]
    words = _CHANGED if changed else f"{verdict.claim}. {verdict.remark}".strip()
    proof, proved = _proof(shown, i, bool(limited or change.forbidden or change.required))
    if tone is Tone.WRONG:  # a proof about the library must not read like one about the law
        proof = proof.replace("Proved", "Proved about these candidates only, not about the system", 1)
    shares = shown.shares.get(row.name, {})
    inclusion = shown.selection.inclusion.get(row.name, {}) if not changed else {}
    terms = tuple(
        TermView(
            term.name,
            mathml_term(term),
            _coefficient(row, j),
            percent(shares[term.name]) if math.isfinite(shares.get(term.name, math.nan)) else "",
            f"{100 * inclusion[term.name]:.0f} %" if term.name in inclusion else "",
            term.name in change.required,
        )
        for j, term in enumerate(row.terms)
    )
    members, typeset = shown.rivals.get(row.name, ()), typesetter(shown)
    rivals = tuple(
        RivalView(
            rank,
            ", ".join(map(spoken, member.terms)) or "no term",
            ", ".join("constant" if name == "1" else typeset(name) for name in member.terms) or "no term",
            worse(member.excess),
            member.support == solution.support[i],
        )
        for rank, member in enumerate(members, start=1)
    )
    return EquationView(
        row.name,
        mathml_target(row.name),
        row.text(),
        tone,
        words,
        proof,
        proved,
        terms,
        change.forbidden,
        change.required,
        len(solution.support[i]),
        rivals,
        shown.pool is not None and bool(shown.pool.complete.get(row.name, False)),
    )


def _coefficient(row: Equation, j: int) -> str:
    value = row.parts[j][0]
    error = None if row.standard_errors is None else row.standard_errors[j]
    pair = None if error is None else with_error(abs(value), error)
    number = f"{abs(value):.6g}" if pair is None else f"({pair[0]} ± {pair[1]})"
    return f"{'−' if value < 0 else '+' if j else ''} {number}".strip()


def _proof(shown: Discovery, i: int, limited: bool) -> tuple[str, bool]:
    """Return what is proved about the terms shown, and whether it is that nothing fits better."""
    solution = shown.solution
    entry = 0 if solution.joint else i
    status, size = solution.status[entry], len(solution.support[i])
    count = len(shown.problem.locate(i)[0].terms)
    within = " that are allowed" if limited else ""
    if status is Status.OPTIMAL:
        together = " (all equations together)" if solution.joint else ""
        text = f"Proved{together}: no other {size}-term combination of the {count} candidates{within} fits better"
        return f"{text}{_margin(float(solution.margin[entry]))}.", True
    if status is Status.REFITTED:
        return _rank(shown, i), False
    return f"Not proved. {on_page(status.value)}{_gap(solution, entry)}", False


def _rank(shown: Discovery, i: int) -> str:
    """Return which place a given support has among those of its size."""
    members = shown.rivals.get(shown.model.rows[i].name, ())
    ranks = [rank for rank, m in enumerate(members, start=1) if m.support == shown.solution.support[i]]
    if not ranks:
        return "Not proved: nothing is claimed about other combinations."
    if ranks[0] == 1:
        return "The best of its size in the list of rivals."
    excess = worse(members[ranks[0] - 1].excess)
    return f"Not the best fit of its size: number {ranks[0]}, {excess} worse than the best."


def _margin(margin: float) -> str:
    if math.isnan(margin) or math.isinf(margin):
        return ""
    return "; another one fits exactly as well" if margin == 0 else f"; the next best is {worse(margin)} worse"


def _gap(solution: Solution, entry: int) -> str:
    gap = float(solution.gap[entry])
    return f" At most {100 * gap:.2g} % may be gained." if math.isfinite(gap) else ""
