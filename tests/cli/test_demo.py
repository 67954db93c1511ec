from typer.testing import CliRunner

from exactsindy.cli import app
from exactsindy.cli.demo import run


def test_demo_finds_and_certifies_the_lorenz_equations_and_writes_the_report(tmp_path):
    lines = []
    found = run(lines.append, tmp_path / "lorenz.html")
    assert {target: set(terms) for target, terms in found.solution.terms.items()} == {
        "x'": {"x", "y"},
        "y'": {"x", "y", "x z"},
        "z'": {"z", "x y"},
    }
    assert found.solution.optimal
    text = "\n".join(lines)
    assert "of all 27,720 combinations of 3 terms none fits these data better" in text
    assert "Verified: every claim holds, and every support was looked at." in text
    assert "Not proved: that the system is this" in text
    assert lines[-1].endswith("lorenz.html")
    assert (tmp_path / "lorenz.html").stat().st_size > 100_000


def test_version_and_help():
    runner = CliRunner()
    assert runner.invoke(app, ["--version"]).output.startswith("exactsindy ")
    shown = runner.invoke(app, ["--help"])
    assert shown.exit_code == 0
    commands = ("demo", "discover", "solve", "path", "pool", "verify", "report", "simulate", "export", "systems")
    for command in (*commands, "bench", "reproduce"):
        assert command in shown.output
        help_text = runner.invoke(app, [command, "--help"])
        assert help_text.exit_code == 0
