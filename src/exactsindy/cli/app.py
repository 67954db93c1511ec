"""The commands."""

from __future__ import annotations

import typer

app = typer.Typer(
    name="exactsindy",
    help="Governing equations from data, with a proof that no other combination of terms fits better.",
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
def demo() -> None:
    """Find the Lorenz equations in bundled noisy data and certify them."""
    from exactsindy.cli.demo import run

    run(typer.echo)
