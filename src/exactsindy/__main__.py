"""The command line: `exactsindy`, and `python -m exactsindy` where scripts are not on the path."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is loaded ends it like Ctrl-C later on."""
    try:
        from exactsindy.cli import app

        app(prog_name="exactsindy")
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted before there was an answer.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
