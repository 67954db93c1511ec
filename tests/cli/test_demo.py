from typer.testing import CliRunner

from exactsindy.cli import app
from exactsindy.cli.demo import run


def test_demo_finds_and_certifies_the_lorenz_equations():
    lines = []
    solution = run(lines.append)
    assert {target: set(terms) for target, terms in solution.terms.items()} == {
        "x'": {"x", "y"},
        "y'": {"x", "y", "x z"},
        "z'": {"z", "x y"},
    }
    assert solution.optimal
    text = "\n".join(lines)
    assert "of all 27,720 combinations of 3 terms none fits these data better" in text
    assert "Verified: every claim holds, and every support was looked at." in text
    assert "Not proved: that the system is this" in text


def test_version_and_help():
    runner = CliRunner()
    assert runner.invoke(app, ["--version"]).output.startswith("exactsindy ")
    shown = runner.invoke(app, ["--help"])
    assert shown.exit_code == 0
    assert "demo" in shown.output
