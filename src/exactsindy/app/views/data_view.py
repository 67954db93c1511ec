"""The first part of the page: where data come from, what was read, and how they look."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nicegui import html, ui

from exactsindy.app.columns import Role
from exactsindy.app.examples import EXAMPLES, FIRST, Example
from exactsindy.app.figures import data_figure, field_figure
from exactsindy.app.files import MOST_BYTES
from exactsindy.app.preview import Preview
from exactsindy.app.views.desk import Desk, attempt, complain, plot, scroll_to, tagged, title
from exactsindy.app.words import COLUMNS, CUT
from exactsindy.data import Field

# Columns whose meaning is shown at once; of wider tables the others stand behind a button.
_MOST_COLUMNS = 12


def show(desk: Desk) -> None:
    """Show the part."""
    with html.section().classes("part"):
        title("1  Data", "Take an example, drop a file, or paste a table. Nothing leaves this computer.")
        _sources(desk)

        @ui.refreshable
        def read() -> None:
            if desk.session.preview is not None:
                _read(desk, desk.session.preview)
            else:
                _first_visit(desk)

        read()
        desk.parts["data"] = read.refresh


def _sources(desk: Desk) -> None:
    with ui.element("div").classes("line"):
        for example in EXAMPLES:
            _example(desk, example)

    async def uploaded(event: Any) -> None:
        content = await event.file.read()
        if await attempt(desk.session.take_file, event.file.name, content):
            desk.redraw()
        event.sender.reset()

    def rejected() -> None:
        complain(f"This file is not taken: one file of at most {MOST_BYTES // 1_000_000} MB.")

    upload = ui.upload(
        label="Drop a table (CSV, Excel, Parquet, ...) or NetCDF file here, or press +",
        auto_upload=True,
        max_file_size=MOST_BYTES,
        on_upload=uploaded,
        on_rejected=rejected,
    )
    tagged(upload.classes("q-mt-sm").props("flat"), "upload")
    with ui.expansion("Paste a table").props("dense").classes("q-mt-xs"):
        text = ui.textarea(placeholder="t, x, y\n0, 1.0, 2.0\n0.1, 1.1, 1.9\n...").props("outlined").classes("paste")
        text.style("width: min(640px, 84vw)")
        tagged(text, "paste-text", "Table with a header row")

        async def pasted() -> None:
            if await attempt(desk.session.take_text, text.value or ""):
                desk.redraw()

        tagged(ui.button("Use this table", on_click=pasted).props("outline no-caps"), "paste-use")


def _example(desk: Desk, example: Example) -> None:
    async def take() -> None:
        if await attempt(desk.session.take_example, example):
            desk.redraw()

    button = ui.button(example.title, on_click=take).props("outline no-caps rounded dense padding='4px 14px'")
    tagged(button, f"example-{example.file.partition('.')[0]}")
    button.props["title"] = example.about


def _first_visit(desk: Desk) -> None:
    """Show what the examples are, and a button that runs one of them at once."""

    async def run() -> None:
        if await attempt(desk.session.take_example, FIRST) and await attempt(desk.session.start):
            desk.redraw()
            scroll_to("run")

    with ui.element("div").classes("line q-mt-sm"):
        tagged(ui.button(f"Show me: {FIRST.title}", on_click=run).props("unelevated no-caps"), "show-me")
        html.span("takes that example and searches its equations, which lasts some seconds.").classes("quiet")
    html.p(f"The examples: {'; '.join(f'{example.title}, {example.about}' for example in EXAMPLES)}.").classes("quiet")


def _read(desk: Desk, preview: Preview) -> None:
    html.h3(preview.title).classes("sub-name")
    if preview.problem:
        tagged(ui.label(preview.problem).classes("problem"), "data-problem").props("role=alert")
    with tagged(ui.element("div").classes("facts"), "data-facts"):
        for word, text in preview.facts:
            with ui.element("div"):
                html.span(f"{word}: ").classes("quiet")
                html.b(text)
    for notice in preview.notices:
        ui.label(notice).classes("notice")
    _roles(desk)
    data = preview.data
    if isinstance(data, Field):
        for name, values in zip(data.names[:2], data.values, strict=False):
            plot(field_figure(data, values, name), "data-plot", f"The measured field {name}")
    elif data is not None and preview.curves:
        names = list(dict.fromkeys(curve.name for curve in preview.curves))
        with ui.element("div").classes("grid"):
            for name in names:
                curves = [curve for curve in preview.curves if curve.name == name]
                figure = data_figure(name, curves, data.time_name)
                plot(figure, "data-plot", f"Measured and smoothed {name} over time")


def _roles(desk: Desk) -> None:
    """Show which column means what, to be changed."""
    columns = desk.session.columns

    async def set_columns(changed: Any) -> None:
        await attempt(desk.session.set_columns, changed)
        desk.redraw("data", "question")

    names = list(columns.roles)
    if names:
        failed = bool(desk.session.preview and desk.session.preview.problem)
        with ui.expansion(COLUMNS, value=failed).props("dense").classes("q-mt-xs"):
            with ui.element("div").classes("columns-table"):
                for name in names[:_MOST_COLUMNS]:
                    _role(desk, name, set_columns)
            if len(names) > _MOST_COLUMNS:
                ui.label(f"{len(names) - _MOST_COLUMNS} more columns keep the meaning that was guessed.").classes(
                    "quiet"
                )
            with ui.element("div").classes("line"):
                split = ui.checkbox(CUT, value=columns.split_gaps)
                split.on_value_change(lambda e: set_columns(replace(desk.session.columns, split_gaps=bool(e.value))))
                tagged(split, "split-gaps")
                if not columns.having(Role.TIME):
                    step = ui.number("Step between rows", value=columns.step, min=1e-12, format="%.6g")
                    step.props("dense outlined debounce=600").style("width: 170px")
                    step.on_value_change(
                        lambda e: set_columns(replace(desk.session.columns, step=float(e.value or 1.0)))
                    )
                    tagged(step, "step")
    data = desk.session.preview.data if desk.session.preview else None
    if isinstance(data, Field):
        with ui.element("div").classes("line"):
            for axis in data.axes:
                box = ui.checkbox(f"{axis} is periodic", value=axis in columns.periodic)
                box.on_value_change(lambda e, axis=axis: set_columns(_periodic(desk, axis, bool(e.value))))


def _periodic(desk: Desk, axis: str, wanted: bool) -> Any:
    columns = desk.session.columns
    others = tuple(name for name in columns.periodic if name != axis)
    return replace(columns, periodic=(*others, axis) if wanted else others)


def _role(desk: Desk, name: str, set_columns: Any) -> None:
    columns = desk.session.columns
    options = {role.name: role.value for role in Role}
    select = ui.select(options, value=columns.roles[name].name, label=name or "(no name)")
    select.props("dense outlined options-dense")
    select.on_value_change(lambda e: set_columns(desk.session.columns.with_role(name, Role[e.value])))
    tagged(select, "role", f"Meaning of the column {name}")
