"""The command line: parse, call the public API, print."""

from exactsindy.cli.commands import app as app
