"""Results as text for a terminal and as HTML for notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from exactsindy.solver.settings import Status, Total

if TYPE_CHECKING:
    from exactsindy.problem import Problem


class _Shown(Protocol):
    """What is shown of a `Solution`, whose docstring says what the attributes mean."""

    @property
    def problem(self) -> Problem: ...
    @property
    def coef(self) -> Any: ...
    @property
    def support(self) -> tuple[tuple[int, ...], ...]: ...
    @property
    def objective(self) -> Any: ...
    @property
    def lower_bound(self) -> Any: ...
    @property
    def gap(self) -> Any: ...
    @property
    def margin(self) -> Any: ...
    @property
    def status(self) -> tuple[Status, ...]: ...
    @property
    def nodes(self) -> Any: ...
    @property
    def seconds(self) -> Any: ...
    @property
    def exact_fit(self) -> Any: ...
    @property
    def k(self) -> tuple[int, ...] | Total: ...
    @property
    def caps(self) -> tuple[int, ...]: ...
    @property
    def joint(self) -> bool: ...
    @property
    def conflict(self) -> tuple[str, ...]: ...


class _Ranked(Protocol):
    """What is shown of a `Member` of a pool."""

    @property
    def terms(self) -> Mapping[str, float]: ...
    @property
    def excess(self) -> float: ...


def equation(target: str, terms: Iterable[tuple[str, float]]) -> str:
    """Return ``x' = -10 x + 9.998 y``."""
    text = ""
    for name, value in terms:
        sign = "-" if value < 0 else "+"
        number = f"{abs(value):.6g}"
        piece = number if name == "1" else f"{number} {name}"
        text += f" {sign} {piece}" if text else (f"-{piece}" if value < 0 else piece)
    return f"{target} = {text or '0'}"


def seconds(value: float) -> str:
    """Return a time in the unit that suits it."""
    if value < 1e-3:
        return f"{value * 1e6:.0f} us"
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.1f} s"


def percent(value: float) -> str:
    """Return a margin in per cent, or in words."""
    if math.isnan(value):
        return "not proved"
    if math.isinf(value):
        return "no rival"
    return "tie" if value == 0 else f"{100 * value:.3g} %"


def facts(solution: _Shown, i: int) -> str:
    """Return one line on what is proved about an equation, and what it cost."""
    status = solution.status[i]
    close = f"proved within {100 * solution.gap[i]:.2g} %" if solution.gap[i] > 1e-8 else "proved optimal"
    if status is Status.INFEASIBLE:
        return str(status.value)
    words = {Status.OPTIMAL: close, Status.REFITTED: "refitted, nothing proved"}
    parts = [words.get(status, status.name.lower().replace("_", " ") + ", not proved")]
    parts.append(f"objective {solution.objective[i]:.8g}")
    if math.isfinite(solution.lower_bound[i]):
        parts.append(f"bound {solution.lower_bound[i]:.8g}")
        parts.append(f"gap {solution.gap[i]:.1e}")
    margin = float(solution.margin[i])
    parts.append(f"next best {percent(margin)}" + (" worse" if 0 < margin < math.inf else ""))
    parts.append(f"{int(solution.nodes[i])} nodes")
    parts.append(seconds(float(solution.seconds[i])))
    if solution.exact_fit[i]:
        parts.append("exact fit")
    return " | ".join(parts)


def solution_text(solution: _Shown) -> str:
    """Return all equations of a solution, each with what is proved about it."""
    names = solution.problem.names
    lines = []
    for row, target in enumerate(solution.problem.target_names):
        lines.append(equation(target, [(names[j], float(solution.coef[row, j])) for j in solution.support[row]]))
        if not solution.joint and not isinstance(solution.k, Total):
            lines.append(f"    k <= {solution.k[row]} | {facts(solution, row)}")
    if solution.joint:
        size = solution.k.k if isinstance(solution.k, Total) else ", ".join(map(str, solution.k))
        each = f", each <= {', '.join(map(str, solution.caps))}" if solution.caps else ""
        lines.append(f"    all together k <= {size}{each} | {facts(solution, 0)}")
    if solution.conflict:
        lines.append("    these cannot hold together: " + "; ".join(solution.conflict))
    return "\n".join(lines)


def solution_html(solution: _Shown) -> str:
    """Return typeset equations, each with what is proved about it."""
    from exactsindy.library import mathml_equation  # only notebooks need it

    terms = solution.problem.terms
    lines = []
    for row, target in enumerate(solution.problem.target_names):
        lines.append(mathml_equation(target, [(float(solution.coef[row, j]), terms[j]) for j in solution.support[row]]))
        if not solution.joint:
            lines.append(_note(facts(solution, row)))
    if solution.joint:
        lines.append(_note(f"all together: {facts(solution, 0)}"))
    return f"<div>{''.join(lines)}</div>"


def path_text(solutions: Sequence[_Shown]) -> str:
    """Return one line per equation and size."""
    lines = []
    for label, sizes in _path_rows(solutions):
        lines.append("all equations" if label == "all" else label)
        for k, objective, proof, terms in sizes:
            lines.append(f"  {k:3d}  {objective:.8g}  {proof}  {terms}")
    return "\n".join(lines)


def path_html(solutions: Sequence[_Shown]) -> str:
    """Return a table with one row per equation and size."""
    rows = [
        (label, str(k), f"{objective:.6g}", proof, terms)
        for label, sizes in _path_rows(solutions)
        for k, objective, proof, terms in sizes
    ]
    return table(("equation", "k", "objective", "proof", "terms"), rows)


def _path_rows(solutions: Sequence[_Shown]) -> Iterable[tuple[str, list[tuple[int, float, str, str]]]]:
    """Yield each equation with size, objective, proof and terms of every solution."""
    joint, problem = solutions[0].joint, solutions[0].problem
    names, targets = problem.names, problem.target_names
    for i in range(1 if joint else len(targets)):
        sizes = []
        for k, item in enumerate(solutions):
            rows = range(len(targets)) if joint else [i]
            terms = [(f"{targets[row]}: " if joint else "") + names[j] for row in rows for j in item.support[row]]
            proof = "proved" if item.status[i] is Status.OPTIMAL else f"gap {item.gap[i]:.1e}"
            sizes.append((k, float(item.objective[i]), proof, ", ".join(terms) or "(none)"))
        yield "all" if joint else targets[i], sizes


def pool_text(pools: Mapping[str, Sequence[_Ranked]], complete: Mapping[str, bool]) -> str:
    """Return the members of each equation, best first."""
    lines = []
    for target, members in pools.items():
        whole = "complete" if complete[target] else "NOT complete"
        lines.append(f"{target}: {len(members)} support{'s' if len(members) != 1 else ''}, {whole}")
        for member in members:
            lines.append(f"  {100 * member.excess:8.3f} %  {equation(target, member.terms.items())}")
    return "\n".join(lines)


def pool_html(pools: Mapping[str, Sequence[_Ranked]]) -> str:
    """Return a table with one row per support, best first."""
    rows = [
        (target, str(rank), f"{100 * member.excess:.3g} %", ", ".join(f"{v:.4g} {t}" for t, v in member.terms.items()))
        for target, members in pools.items()
        for rank, member in enumerate(members, 1)
    ]
    return table(("equation", "rank", "worse by", "terms"), rows)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a plain table; every cell is escaped."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:left">{escape(cell)}</td>' for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _note(text: str) -> str:
    return f'<div style="opacity:.7;font-size:90%;text-align:center">{escape(text)}</div>'
