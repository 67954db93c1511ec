"""The second part: which equations, which candidates, what is known already; and the button that starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from nicegui import html, ui

from exactsindy.app.question import AUTOMATIC, DEGREES, FUNCTIONS, MAP, OPEN, SECONDS, Question, check_constraint
from exactsindy.app.views.desk import Desk, attempt, complain, scroll_to, tagged, title
from exactsindy.data import Data, Field

# Candidates whose names are listed.
_MOST_LISTED = 60


def show(desk: Desk) -> None:
    """Show the part."""

    @ui.refreshable
    def asked() -> None:
        preview = desk.session.preview
        if preview is None or preview.data is None:
            return
        with html.section().classes("part"):
            title("2  Question", "Everything is chosen from the data unless you say otherwise.")
            _question(desk, preview.data)

    asked()
    desk.parts["question"] = asked.refresh


def _question(desk: Desk, data: Data) -> None:
    question = desk.session.question

    def ask(changed: Question) -> None:
        desk.session.question = changed
        desk.redraw("question")

    if isinstance(data, Field):
        orders = {AUTOMATIC: "first derivative", 2: "second derivative"}
    else:
        orders = {
            AUTOMATIC: "automatic",
            1: "first derivative",
            2: "second derivative",
            MAP: "next sample (map)",
        }
    shown = 1 if question.order == AUTOMATIC else question.order
    mark = (lambda s, n: f"{s}_{'t' * n}") if isinstance(data, Field) else (lambda s, n: s + ("'" * n or "[k+1]"))
    html.h3("Equations").classes("sub-name")
    with ui.element("div").classes("line"):
        for state in data.state_names:
            wanted = not question.equations or state in question.equations
            toggled = _toggled(question, state, data)
            _chip(mark(state, shown), wanted, partial(ask, toggled), "equation-chip")
        order = ui.toggle(orders, value=question.order)
        order.props("no-caps dense unelevated padding='4px 10px'")
        order.on_value_change(lambda e: ask(replace(question, order=int(e.value))))
        tagged(order, "order")
    html.h3("Candidate terms").classes("sub-name")
    with ui.element("div").classes("line"):
        html.span("powers and products up to degree").classes("quiet")
        names = {degree or 0: "automatic" if degree is None else str(degree) for degree in DEGREES}
        degree = ui.toggle(names, value=question.degree or 0).props("no-caps dense unelevated padding='4px 10px'")
        degree.on_value_change(lambda e: ask(replace(question, degree=int(e.value) or None)))
        tagged(degree, "degree")
        if not isinstance(data, Field):
            for key, function in FUNCTIONS.items():
                chosen = key in question.functions
                others = tuple(k for k in question.functions if k != key)
                changed = replace(question, functions=others if chosen else (*others, key))
                _chip(function.label, chosen, partial(ask, changed), f"function-{key}")
    _count(desk)
    _physics(desk, data, ask)
    with ui.element("div").classes("line q-mt-md"):
        start = ui.button("Find the equations", on_click=lambda: _start(desk)).props("no-caps size=lg unelevated")
        start.set_enabled(desk.session.can_start)
        tagged(start, "start")
        html.span("within").classes("quiet")
        limit = ui.toggle({s: f"{s} s" if s < 120 else f"{s // 60} min" for s in SECONDS}, value=int(question.seconds))
        limit.props("no-caps dense unelevated padding='4px 10px'")
        limit.on_value_change(lambda e: ask(replace(question, seconds=float(e.value))))
        tagged(limit, "seconds")


def _count(desk: Desk) -> None:
    candidates = desk.session.candidates()
    if candidates.problem:
        ui.label(candidates.problem).classes("problem")
        return
    more = ", and fractions of them" if OPEN & set(desk.session.question.functions) else ""
    with ui.expansion(f"{candidates.count} candidates per equation{more}").props("dense") as listed:
        rest = candidates.count - _MOST_LISTED
        names = ",  ".join(candidates.names[:_MOST_LISTED]) + (f",  ... and {rest} more" if rest > 0 else "")
        ui.label(names).classes("quiet")
    tagged(listed, "candidates")


def _physics(desk: Desk, data: Data, ask: Callable[[Question], None]) -> None:
    question = desk.session.question
    html.h3("Known physics").classes("sub-name")
    with ui.element("div").classes("line"):
        for known in question.constraints:
            kept = tuple(other for other in question.constraints if other != known)
            chip = ui.chip(known, color=None, removable=True).classes("chip-on")
            chip.on_value_change(lambda e, kept=kept: ask(replace(question, constraints=kept)))
        name = data.targets[0].name
        example = f"{name}: {data.state_names[-1]} >= 0"
        text = ui.input(placeholder=example).props("dense outlined").style("width: min(340px, 80vw)")
        tagged(text, "physics", "A sentence such as " + example)

        def add() -> None:
            sentence = (text.value or "").strip()
            if not sentence:
                return
            problem = check_constraint(sentence, question, data)
            if problem:
                complain(problem)
            else:
                ask(question.with_constraint(sentence))

        text.on("keydown.enter", add)
        tagged(ui.button("Add", on_click=add).props("outline no-caps dense padding='4px 14px'"), "physics-add")


def _toggled(question: Question, state: str, data: Data) -> Question:
    """Return the question with an equation wanted or not; at least one is."""
    now = set(question.equations or data.state_names) ^ {state}
    every = not now or now == set(data.state_names)
    return replace(question, equations=() if every else tuple(s for s in data.state_names if s in now))


def _chip(text: str, chosen: bool, act: Callable[[], Any], name: str) -> None:
    chip = ui.chip(text, icon="check" if chosen else None, color=None, on_click=act).classes(
        "chip-on" if chosen else "chip-off"
    )
    tagged(chip, name)
    chip.props["aria-pressed"] = "true" if chosen else "false"
    chip.props["role"] = "button"


async def _start(desk: Desk) -> None:
    if await attempt(desk.session.start):
        desk.redraw("question", "run")
        scroll_to("run")
