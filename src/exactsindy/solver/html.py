"""Results as HTML for notebooks: equations typeset, what is proved beside them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from exactsindy.library import mathml_equation
from exactsindy.solver.display import facts
from exactsindy.solver.settings import Status

if TYPE_CHECKING:
    from exactsindy.solver.path import Path
    from exactsindy.solver.pool import Pool
    from exactsindy.solver.solution import Solution


def solution(result: Solution) -> str:
    """Return equations, each with what is proved about it."""
    terms = result.problem.terms
    lines = []
    for row, target in enumerate(result.problem.target_names):
        lines.append(mathml_equation(target, [(float(result.coef[row, j]), terms[j]) for j in result.support[row]]))
        if not result.joint:
            lines.append(_note(facts(result, row)))
    if result.joint:
        lines.append(_note(f"all together: {facts(result, 0)}"))
    return f"<div>{''.join(lines)}</div>"


def path(result: Path) -> str:
    """Return one row per equation and size."""
    joint = result[0].joint
    names, targets = result.problem.names, result.problem.target_names
    rows = []
    for i in range(1 if joint else len(targets)):
        for k, item in enumerate(result):
            lines = range(len(targets)) if joint else [i]
            terms = [f"{targets[row]}: {names[j]}" if joint else names[j] for row in lines for j in item.support[row]]
            proof = "proved" if item.status[i] is Status.OPTIMAL else f"gap {item.gap[i]:.1e}"
            label = "all" if joint else targets[i]
            rows.append((label, str(k), f"{item.objective[i]:.6g}", proof, ", ".join(terms) or "(none)"))
    return table(("equation", "k", "objective", "proof", "terms"), rows)


def pool(result: Pool) -> str:
    """Return one row per support, best first."""
    rows = [
        (target, str(rank), f"{100 * member.excess:.3g} %", ", ".join(f"{v:.4g} {t}" for t, v in member.terms.items()))
        for target, members in result.members.items()
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
