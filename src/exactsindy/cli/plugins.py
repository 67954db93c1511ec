"""Commands that other distributions add: `bench` and `reproduce` come with exactsindy-experiments."""

from __future__ import annotations

from importlib.metadata import entry_points

import typer

from exactsindy.cli import output

# Entry points of this group are functions whose parameters Typer understands, or groups of such commands.
_GROUP = "exactsindy.commands"
_EXPERIMENTS = ("bench", "reproduce")


def add_commands(app: typer.Typer) -> None:
    """Add the commands of installed distributions; those of the experiments say how to install them otherwise."""
    installed = {entry.name: entry for entry in entry_points(group=_GROUP)}
    for name, entry in sorted(installed.items()):
        command = entry.load()
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
    for name in _EXPERIMENTS:
        if name not in installed:
            _add_missing(app, name)


def _add_missing(app: typer.Typer, name: str) -> None:
    def missing() -> None:
        output.fail(
            f"{name}: the experiments are a distribution of their own; install it with "
            "`pip install exactsindy-experiments`, or `pip install ./experiments` in a checkout."
        )

    settings = {"ignore_unknown_options": True, "allow_extra_args": True}
    app.command(name, help="Part of exactsindy-experiments (not installed).", context_settings=settings)(missing)
