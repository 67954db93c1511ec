"""Linear equations in fractions."""

from __future__ import annotations

from fractions import Fraction


def solve(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """Return a solution of a square system, 0 where it is free; None if there is none."""
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    size, pivots = len(rows), list[tuple[int, int]]()
    for column in range(size):
        done = len(pivots)
        found = next((r for r in range(done, size) if rows[r][column]), None)
        if found is None:
            continue
        rows[done], rows[found] = rows[found], rows[done]
        top = rows[done] = [x / rows[done][column] for x in rows[done]]
        for r, line in enumerate(rows):
            if r != done and line[column]:
                factor = line[column]
                rows[r] = [x - factor * y for x, y in zip(line, top, strict=True)]
        pivots.append((done, column))
    if any(line[size] for line in rows[len(pivots) :]):
        return None
    solution = [Fraction(0)] * size
    for r, column in pivots:
        solution[column] = rows[r][size]
    return solution
