"""The README says how much there is to read: the counts must be those of the files."""

from __future__ import annotations

import ast
import re
from pathlib import Path

_CHECKER = Path(__file__).parents[1]
_ROW = re.compile(r"^\| `(\w+)` \| (\d+) \| (\d+) \| (\S+) \|", re.MULTILINE)


def counts(file):
    """Return the lines of a module, and those that are neither empty, nor comments, nor docstrings."""
    text, words = file.read_text(encoding="utf-8"), set()
    for node in ast.walk(ast.parse(text)):
        documented = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node)
        if documented:
            words |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = enumerate(text.splitlines(), 1)
    code = sum(1 for i, line in lines if line.strip() and not line.strip().startswith("#") and i not in words)
    return len(text.splitlines()), code


def test_counts_of_lines_are_true():
    readme = (_CHECKER / "README.md").read_text(encoding="utf-8")
    true = {file.stem: counts(file) for file in (_CHECKER / "src" / "exactsindy_check").glob("*.py")}
    rows = [(name, int(lines), int(code), use) for name, lines, code, use in _ROW.findall(readme)]
    assert {name: (lines, code) for name, lines, code, _ in rows} == true
    needed = [(lines, code) for _, lines, code, use in rows if use == "T"]
    told = "{} lines, {} without comments and docstrings"
    assert told.format(*map(sum, zip(*needed, strict=True))) in " ".join(readme.split())
    assert told.format(*map(sum, zip(*true.values(), strict=True))) in " ".join(readme.split())
