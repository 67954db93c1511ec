"""Makes the environment of OKRidge and l0bnb for benchmarks/solver.py: they need NumPy below 2.

Optional: without it the benchmark lists them as not installed.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "build" / "peers"
# okridge imports requests without declaring it.
PACKAGES = ["numpy<2", "okridge", "requests", "l0bnb"]


def main() -> int:
    venv.create(FOLDER, with_pip=True, clear=True)
    python = FOLDER / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    done = subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=False)
    if done.returncode:
        print("OKRidge and l0bnb could not be installed; the benchmark runs without them.", file=sys.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
