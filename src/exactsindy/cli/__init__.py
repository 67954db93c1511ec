"""The command line: parse, call the public API, print."""

from exactsindy.cli.app import app as app
