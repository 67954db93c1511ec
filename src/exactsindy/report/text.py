"""A discovery in words: text for a terminal, HTML for a notebook."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from html import escape

from exactsindy.model import percent, to_mathml
from exactsindy.plots import DiscoveryLike, worse
from exactsindy.report.summary_table import HEADS, Line, table
from exactsindy.report.verdict import verdicts
from exactsindy.report.warnings_shown import messages
from exactsindy.solver import Solution, Status, html_table

# Characters of a line: fits a terminal of 120 with an indent.
_WIDTH = 110
# Terms beside the chosen ones whose shares of the resamples are shown, and the smallest share shown.
_OTHERS, _LEAST_SHARE = 6, 0.05
_NOTHING = " For the others nothing is."
#: The last sentence of every display.
NOT_PROVED = "Not proved: that the system is this."
# Colours of the bar beside a verdict in a notebook: green, amber, red; the words say the same.
_TONES = {"good": "#1a7f37", "fair": "#b08800", "bad": "#c2410c"}
# Why a support is shown that is not the best one of its size.
_PREFERRED = "The terms shown were preferred: they are simpler, or their whole trajectories fit better."


def describe(result: DiscoveryLike) -> str:
    """Return the verdicts, their table, warnings, then each equation in detail and what is proved."""
    lines: list[str] = []
    for verdict in verdicts(result):
        lines += _wrap(verdict.sentence, "", 4)
    lines += ["", *_columns([HEADS, *table(result)])]
    if result.warnings:
        lines += ["", "Warnings"]
        for message in messages(result.warnings):
            lines += _wrap(f"- {message}", "  ", 4)
    lines += ["", "Details"]
    for i, equation in enumerate(result.model.rows):
        lines += _wrap(equation.text_with_errors(), "", 8)
        for sentence in facts(result, i):
            lines += _wrap(sentence, "    ", 4)
    if result.solution.joint:
        for sentence in joint_facts(result):
            lines += _wrap(sentence, "", 4)
    lines += ["", *_wrap(proved(result), "", 0), NOT_PROVED]
    return "\n".join(lines)


def _columns(rows: Sequence[Line]) -> list[str]:
    """Return a table with aligned columns: the first two to the left, numbers to the right."""
    cells = [astuple(row) for row in rows]
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    return [
        "  ".join(
            cell.ljust(width) if k < 2 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def discovery_html(result: DiscoveryLike) -> str:
    """Return the verdicts, their table and the warnings, then equations with standard errors and what is known."""
    lines = [
        f'<p style="margin:.3em 0;padding-left:.6em;border-left:4px solid {_TONES[verdict.tone]}">'
        f"{escape(verdict.sentence)}</p>"
        for verdict in verdicts(result)
    ]
    lines.append(html_table(astuple(HEADS), [astuple(line) for line in table(result)]))
    if result.warnings:
        shown = messages(result.warnings)
        items = "".join(f"<li>{escape(message)}</li>" for message in shown)
        count = f"{len(shown)} warning{'' if len(shown) == 1 else 's'}"
        lines.append(f'<details open=""><summary>{count}</summary><ul>{items}</ul></details>')
    for i, row in enumerate(result.model.rows):
        lines.append(to_mathml([row], errors=True))
        lines += [_note(sentence) for sentence in facts(result, i)]
    if result.solution.joint:
        lines += [_note(sentence) for sentence in joint_facts(result)]
    lines.append(f"<p>{escape(proved(result))} {NOT_PROVED}</p>")
    return f"<div>{''.join(lines)}</div>"


def _note(text: str) -> str:
    return f'<div style="opacity:.75;font-size:90%;text-align:center">{escape(text)}</div>'


def facts(result: DiscoveryLike, i: int) -> Iterator[str]:
    """Yield what is known about an equation: its terms' sizes, the proof, how sure its size is, what resamples say."""
    solution = result.solution
    target = result.problem.target_names[i]
    sizes = result.shares[result.model.rows[i].name]
    if len(sizes) > 1:
        shares = ", ".join(f"{spoken(name)} {percent(share)}" for name, share in sizes.items())
        yield f"Share of the right-hand side: {shares}."
    inside = [constant for constant in result.constants if constant.equation == target]
    if inside:
        yield f"Fitted inside the terms: {'; '.join(constant.text() for constant in inside)}."
    if solution.joint:
        yield from _inclusion(result, target)
        return
    size, candidates = len(solution.support[i]), len(result.problem.locate(i)[0].terms)
    status = solution.status[i]
    if size and status is Status.OPTIMAL:
        yield (
            f"No other {size}-term combination of the {candidates} candidates{_within(solution)} fits {target} better; "
            f"{_margin(float(solution.margin[i]))}."
        )
    elif size:
        yield _better_ones(result, i) or f"{size} of {candidates} candidates. {status.value}"
    choice = result.selection.choices[i]
    if solution.support[i] == result.selection.solution.support[i]:
        words = choice.words()
        yield f"{words[0].upper()}{words[1:]}."
        if not choice.identified and choice.rival is not None and not choice.rival_terms:
            yield from _rival(result, i, choice.rival)
        yield from _inclusion(result, target)


def spoken(name: str) -> str:
    """Return the name of a term for a sentence: the constant term is called so, because "1 8 %" reads as 18 %."""
    return "constant" if name == "1" else name


def _better_ones(result: DiscoveryLike, i: int) -> str:
    """Return which supports of the same size fit better than the one selected; empty if another one is shown."""
    solution, target = result.solution, result.problem.target_names[i]
    if solution.status[i] is not Status.REFITTED or solution.support[i] != result.selection.solution.support[i]:
        return ""
    members = () if result.pool is None else result.pool.members[target]
    ranks = [rank for rank, member in enumerate(members) if member.support == solution.support[i]]
    if not ranks or not ranks[0]:
        return ""
    better, size = [", ".join(member.terms) for member in members[: ranks[0]]], len(solution.support[i])
    listed = "; ".join(better[:_OTHERS]) + ("; ..." if len(better) > _OTHERS else "")
    verb = "combination fits" if len(better) == 1 else "combinations fit"
    only = "Only " if result.pool is not None and result.pool.complete[target] else "At least "
    others = f"{only}{len(better)} other {size}-term {verb} {target} better"
    return f"{others}, by {worse(members[ranks[0]].excess)} or less: {listed}. {_PREFERRED}"


def _rival(result: DiscoveryLike, i: int, size: int) -> Iterator[str]:
    """Yield the terms of the best support of another size; of the same size, those of the next best one."""
    target, shown = result.problem.target_names[i], result.solution.support[i]
    names = [result.problem.names[j] for j in result.selection.path[size].support[i]]
    if size == len(shown):
        others = [] if result.pool is None else [m for m in result.pool.members[target] if m.support != shown]
        if not others:
            return
        names = list(others[0].terms)
    words = f"{len(names)} term{'' if len(names) == 1 else 's'}: {', '.join(map(spoken, names))}"
    yield f"Rival with {words if names else 'no term'}."


def _margin(margin: float) -> str:
    if math.isnan(margin):
        return "the margin to the next-best support is not proved"
    if math.isinf(margin):
        return "there is no other"
    if margin == 0:
        return "another one fits exactly as well"
    return f"the next best is {f'{100 * margin:.2g} %' if margin < 1 else f'{1 + margin:.3g} times'} worse"


def _inclusion(result: DiscoveryLike, target: str) -> Iterator[str]:
    inclusion = result.selection.inclusion.get(target)
    if inclusion:
        kept = [term.name for row in result.model.rows if row.name == target for term in row.terms]
        others = sorted((name for name in inclusion if name not in kept), key=lambda name: -inclusion[name])
        shares = {name: inclusion.get(name, 0.0) for name in kept}
        shares |= {name: inclusion[name] for name in others[:_OTHERS] if inclusion[name] >= _LEAST_SHARE}
        shown = ", ".join(f"{spoken(name)} {100 * share:.0f} %" for name, share in shares.items())
        fitted = any(c.equation == target and c.rival_terms for c in result.selection.choices)
        where = "Among the models whose trajectories were fitted" if fitted else "In resamples of the data"
        if shown:
            yield f"{where}: {shown}."


def joint_facts(result: DiscoveryLike) -> Iterator[str]:
    """Yield what is known about all equations of a shared budget together."""
    choice = result.selection.choices[0]
    yield f"All equations together: {choice.k} terms, {choice.words()}. {result.solution.status[0].value}"


def _within(solution: Solution) -> str:
    return " within the constraints" if solution.constraints else ""


def proved(result: DiscoveryLike) -> str:
    """Return the one sentence on what is proved; where an equation is not identified it says of what alone."""
    said = _proved(result)
    if all(verdict.tone != "bad" for verdict in verdicts(result)):
        return said
    return said.replace("Proved:", "Proved about this library only, not about the system:", 1)


def _proved(result: DiscoveryLike) -> str:
    solution = result.solution
    names = [certificate.target for certificate in solution.certificates]
    done = [name for name, status in zip(names, solution.status, strict=True) if status is Status.OPTIMAL]
    others = f"no other combination of as many terms of this library{_within(solution)} fits these data better."
    if len(done) == len(names):
        return f"Proved: for every equation, {others}"
    if done:
        better = [name for i, name in enumerate(names) if not solution.joint and _better_ones(result, i)]
        others += f" For {', '.join(better)}, what fits better is listed." if better else ""
        return f"Proved: for {', '.join(done)}, {others}{'' if len(done) + len(better) == len(names) else _NOTHING}"
    return "Proved: nothing about these terms."


def _wrap(text: str, indent: str, hanging: int) -> list[str]:
    wrapper = textwrap.TextWrapper(_WIDTH, indent, indent + " " * hanging)
    wrapper.break_long_words = wrapper.break_on_hyphens = False
    return wrapper.wrap(text)
