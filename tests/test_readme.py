"""The README's example prints what the README shows (up to times)."""

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def without_times(text):
    return re.sub(r"\| \d+ nodes \| [\d.]+ \w+", "", text).strip()


def test_example_prints_what_is_shown():
    code, shown = re.search(r"```python\n(.*?)```\s*```\n(.*?)```", README.read_text(), re.DOTALL).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert without_times(printed.getvalue()) == without_times(shown)
