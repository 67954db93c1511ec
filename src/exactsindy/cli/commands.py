"""The commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from exactsindy.cli import discover_command as discovering
from exactsindy.cli import plugins
from exactsindy.cli import saved_commands as saved
from exactsindy.cli import solve_commands as solving
from exactsindy.cli import system_commands as systems
from exactsindy.cli.doctor import doctor
from exactsindy.cli.output import Commands

app = typer.Typer(
    name="exactsindy",
    cls=Commands,
    help="Governing equations from data, with a proof that no other combination of as many terms fits better.",
    epilog=(
        "Exit codes: 0 done and proved; 1 the input cannot be used; 2 wrong usage; 3 done, but a limit came before the "
        "proof; 4 verify, check: a claim does not hold; 5 verify, check: a claimed proof was not checked; 130 "
        "interrupted."
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        from exactsindy import __version__

        typer.echo(f"exactsindy {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    """Find equations and prove them."""


@app.command()
def demo(report: Annotated[Path, typer.Option(help="Where the report goes.")] = Path("lorenz_report.html")) -> None:
    """Find the Lorenz equations in bundled noisy data, certify them, write the report."""
    from exactsindy.cli.demo import run

    run(typer.echo, report)


@app.command(name="app")
def browser_app(
    host: Annotated[
        str, typer.Option(help="Address to listen at; the default reaches this computer alone.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any that is free.")] = 0,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = True,
) -> None:
    """Open the app in the browser: data in, equations out, by mouse. Offline; nothing leaves this computer."""
    from exactsindy.app import serve

    serve(host=host, port=port, open_browser=open_browser, tell=typer.echo)


app.command()(discovering.discover)
app.command()(doctor)
app.command()(solving.solve)
app.command()(solving.path)
app.command()(solving.pool)
app.command()(saved.verify)
app.command()(saved.check)
app.command()(saved.report)
app.command()(saved.simulate)
app.command()(saved.export)
app.add_typer(systems.app, name="systems")
plugins.add_commands(app)
