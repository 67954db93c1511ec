"""Results as text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from exactsindy.solver.settings import Status, Total

if TYPE_CHECKING:
    from exactsindy.solver.path import Path
    from exactsindy.solver.pool import Pool
    from exactsindy.solver.solution import Solution


def equation(target: str, terms: Iterable[tuple[str, float]]) -> str:
    """``x' = -10 x + 9.998 y``."""
    text = ""
    for name, value in terms:
        sign = "-" if value < 0 else "+"
        number = f"{abs(value):.6g}"
        piece = number if name == "1" else f"{number} {name}"
        text += f" {sign} {piece}" if text else (f"-{piece}" if value < 0 else piece)
    return f"{target} = {text or '0'}"


def seconds(value: float) -> str:
    """Human-sized time."""
    if value < 1e-3:
        return f"{value * 1e6:.0f} us"
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.1f} s"


def percent(value: float) -> str:
    """Human-sized relative margin."""
    if math.isnan(value):
        return "not proved"
    if math.isinf(value):
        return "no rival"
    return "tie" if value == 0 else f"{100 * value:.3g} %"


def facts(solution: Solution, i: int) -> str:
    """One line on what is proved about an equation, and what it cost."""
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


def solution(result: Solution) -> str:
    """All equations of a solution, each with what is proved about it."""
    names = result.problem.names
    lines = []
    for row, target in enumerate(result.problem.target_names):
        lines.append(equation(target, [(names[j], float(result.coef[row, j])) for j in result.support[row]]))
        if not result.joint and not isinstance(result.k, Total):
            lines.append(f"    k <= {result.k[row]} | {facts(result, row)}")
    if result.joint:
        size = result.k.k if isinstance(result.k, Total) else ", ".join(map(str, result.k))
        caps = result.certificates[0].caps
        each = f", each <= {', '.join(map(str, caps))}" if caps else ""
        lines.append(f"    all together k <= {size}{each} | {facts(result, 0)}")
    if result.conflict:
        lines.append("    these cannot hold together: " + "; ".join(result.conflict))
    return "\n".join(lines)


def path(result: Path) -> str:
    """One line per equation and size."""
    lines = []
    joint = result[0].joint
    entries = range(1) if joint else range(len(result.problem.target_names))
    for i in entries:
        lines.append("all equations" if joint else result.problem.target_names[i])
        for k, item in enumerate(result):
            rows = range(len(item.support)) if joint else [i]
            terms = ", ".join(
                (f"{result.problem.target_names[row]}: " if joint else "") + result.problem.names[j]
                for row in rows
                for j in item.support[row]
            )
            mark = "proved" if item.status[i] is Status.OPTIMAL else f"gap {item.gap[i]:.1e}"
            lines.append(f"  {k:3d}  {item.objective[i]:.8g}  {mark}  {terms or '(none)'}")
    return "\n".join(lines)


def pool(result: Pool) -> str:
    """List the members of each equation, best first."""
    lines = []
    for target, members in result.members.items():
        complete = "complete" if result.complete[target] else "NOT complete"
        lines.append(f"{target}: {len(members)} support{'s' if len(members) != 1 else ''}, {complete}")
        for member in members:
            lines.append(f"  {100 * member.excess:8.3f} %  {equation(target, member.terms.items())}")
    return "\n".join(lines)
