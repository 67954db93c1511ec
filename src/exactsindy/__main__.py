"""python -m exactsindy: the command line, also where the environment's scripts are not on the path."""

from exactsindy.cli import app

if __name__ == "__main__":
    app(prog_name="exactsindy")
