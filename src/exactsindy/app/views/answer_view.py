"""The answer: the verdict first, equations whose terms can be clicked, sizes, rivals; then pictures and files."""

from __future__ import annotations

import asyncio
from typing import Any

from nicegui import html, ui

from exactsindy.app.answer import AnswerView, EquationView, TermView
from exactsindy.app.figures import path_figure
from exactsindy.app.views import compare_view, export_view, picture_view
from exactsindy.app.views.desk import Desk, attempt, plot, tagged, title
from exactsindy.app.what_if import Changes

# Seconds in which the equations are sent before pictures are made.
_MOMENT = 0.05
# Rivals of an equation that are listed.
_MOST_RIVALS = 5


def show(desk: Desk) -> None:
    """Show the part."""

    @ui.refreshable
    def equations() -> None:
        answer = desk.session.answer()
        if answer is None:
            return
        with html.section().classes("part"):
            title("3  Answer", "Click a term to forbid or to require it: the answer is proved again at once.")
            _equations(desk, answer)

    @ui.refreshable
    def below() -> None:
        answer = desk.session.answer()
        if answer is None:
            return
        _sizes(desk, answer)
        picture_view.show(desk)
        compare_view.show(desk)
        export_view.show(desk)

    with tagged(ui.element("div").style("width: 100%"), "answer"):
        equations()
        below()
    desk.parts["answer"] = equations.refresh
    desk.parts["below"] = below.refresh


async def change(desk: Desk, changes: Changes) -> None:
    """Ask again with changes, and show the new answer: the equations at once, the pictures a moment later."""
    if await attempt(desk.session.change, changes):
        desk.redraw("answer")
        await asyncio.sleep(_MOMENT)
        desk.redraw("below")


def _equations(desk: Desk, answer: AnswerView) -> None:
    banner = ui.label(answer.headline).classes(f"verdict tone-{answer.tone.value}")
    tagged(banner, "verdict").props("role=status")
    for equation in answer.equations:
        _equation(desk, equation)
    if answer.changed:
        tagged(
            ui.button("Back to the answer of the search", on_click=lambda: change(desk, Changes())).props(
                "outline no-caps"
            ),
            "undo",
        )
    for i, warning in enumerate(answer.warnings):
        if i == 0:
            html.h3("To be careful about").classes("sub-name")
        tagged(ui.label(warning).classes("notice"), "warning")
    html.p("Not proved: that the system is this. A proof is about these data, these candidates and this size.").classes(
        "quiet q-mt-sm"
    )


def _equation(desk: Desk, equation: EquationView) -> None:
    with tagged(ui.element("div").classes("equation"), "equation", equation.text):
        with ui.element("div").classes("formula"):
            ui.html(equation.mathml)
            html.span("=")
            for term in equation.terms:
                _term(desk, equation, term)
            if not equation.terms:
                html.span("0")
        tagged(ui.label(equation.verdict).classes(f"said said-{equation.tone.value}"), "equation-verdict")
        tagged(ui.label(equation.proof).classes("said quiet"), "proof")
        _asked(desk, equation)


def _term(desk: Desk, equation: EquationView, term: TermView) -> None:
    button = (
        ui.button(color=None).props("flat no-caps unelevated").classes("term" + (" required" if term.required else ""))
    )
    called = "the constant" if term.name == "1" else term.name
    tagged(button, "term", f"{term.coefficient} {called}: forbid or require it")
    button.props["data-term"] = term.name
    with button:
        html.span(term.coefficient)
        if term.name != "1":
            ui.html(term.mathml)
        with ui.menu():
            changes = desk.session.changes
            forbidden = changes.forbid(equation.name, term.name)
            required = changes.require(equation.name, term.name)
            tagged(ui.menu_item(f"Forbid {called}", lambda: change(desk, forbidden)), "forbid")
            if not term.required:
                tagged(ui.menu_item(f"Require {called}", lambda: change(desk, required)), "require")
            about = [f"share of the right-hand side: {term.share}"] if term.share else []
            about += [f"in resamples of the data: {term.inclusion}"] if term.inclusion else []
            for text in about:
                ui.menu_item(text, auto_close=False).props("disable")


def _asked(desk: Desk, equation: EquationView) -> None:
    """Show what is forbidden and required, and offer terms to require."""
    with ui.element("div").classes("line"):
        for word, names in (("forbidden", equation.forbidden), ("required", equation.required)):
            for name in names:
                chip = ui.chip(f"{word}: {name}", color=None, removable=True).classes("chip-off")
                tagged(chip, word)
                released = desk.session.changes.release(equation.name, name)
                chip.on_value_change(lambda e, released=released: change(desk, released))


def _sizes(desk: Desk, answer: AnswerView) -> None:
    """Show misfit against size, to be clicked, and the rivals of the chosen size."""
    joint = len(answer.paths) < len(answer.equations)
    with html.section().classes("part"):
        title("Sizes and rivals", "Click a size, or a rival, to see it above. The curves are those of the search.")
        for i, curve in enumerate(answer.paths):
            equation = answer.equations[i]
            html.h3(curve.equation).classes("sub-name")
            with ui.element("div").classes("two"):
                with ui.element("div").style("min-width: 0"):
                    figure = plot(path_figure(curve, equation.size), "path", f"Misfit of {curve.equation} by size")
                    if not joint:
                        figure.on("plotly_click", lambda e, name=equation.name: _clicked(desk, name, e.args))
                with ui.element("div").style("min-width: 0"):
                    if not joint:
                        _other_sizes(desk, equation, len(curve.sizes) - 1)
                        _rivals(desk, equation)


async def _clicked(desk: Desk, name: str, event: Any) -> None:
    points = event.get("points", []) if isinstance(event, dict) else []
    size = points[0].get("x") if points else None
    if isinstance(size, int | float) and 0 <= size <= 1000:
        await change(desk, desk.session.changes.resize(name, int(size)))


def _other_sizes(desk: Desk, equation: EquationView, most: int) -> None:
    """Offer one term less or more, for those who do not click on curves, and terms to require."""
    with ui.element("div").classes("line"):
        html.span(f"{equation.size} term{'' if equation.size == 1 else 's'}").classes("quiet")
        for word, size in (("one less", equation.size - 1), ("one more", equation.size + 1)):
            wanted = desk.session.changes.resize(equation.name, size)
            button = ui.button(word, on_click=lambda wanted=wanted: change(desk, wanted))
            button.props("outline no-caps dense padding='2px 10px'").set_enabled(0 <= size <= most)
            tagged(button, word.replace(" ", "-"), f"{equation.name}: {word} term")
        names = [name for name in desk.session.term_names() if name not in {term.name for term in equation.terms}]
        select = ui.select(names, label="require a term", with_input=True).props("dense outlined options-dense")
        select.style("width: 170px")
        select.on_value_change(
            lambda e: change(desk, desk.session.changes.require(equation.name, e.value)) if e.value in names else None
        )
        tagged(select, "require-other", f"{equation.name}: require a term")


def _rivals(desk: Desk, equation: EquationView) -> None:
    if len(equation.rivals) < 2:
        return
    best = equation.rivals[0]
    html.p(f"Of the {len(best.terms.split(', '))}-term combinations, best first:").classes("quiet")
    for rival in equation.rivals[:_MOST_RIVALS]:
        with ui.element("div").classes("rival"):
            taken = desk.session.changes.take_rival(equation.name, rival.rank)
            button = ui.button(color=None, on_click=lambda taken=taken: change(desk, taken)).classes("term rival-term")
            button.props("flat no-caps dense" + (" disable" if rival.shown else ""))
            tagged(button, "rival", f"{equation.name}: show {rival.terms}")
            with button:
                ui.html(rival.mathml)
            html.span("the best fit" if rival.rank == 1 else f"{rival.worse} worse").classes("quiet")
            if rival.shown:
                html.span("shown").classes("quiet")
