"""What residuals say about rows and model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from exactsindy.data import Data, Field, Notice
from exactsindy.discovery.explain import residual_notices
from exactsindy.discovery.field_variants import INFORMED_CELLS, cells
from exactsindy.discovery.trajectory_variants import Variant
from exactsindy.library import Library
from exactsindy.selection import Selection


def residuals(
    data: Data,
    library: Library,
    prepared: Sequence[Variant],
    folds: Mapping[str, Any],
    selection: Selection,
) -> list[Notice]:
    """Return what residuals say, equation by equation in the variant it was taken from."""
    notes: list[Notice] = []
    if isinstance(data, Field) and cells(data) > INFORMED_CELLS:
        return notes  # costs as much as the regression itself
    by_name = {part.name: part for part in prepared}
    wanted = {choice.variant for choice in selection.choices}
    for name in wanted:
        part, parts = by_name[name], folds[name]
        if not part.form.whitened:
            continue
        position = {term: j for j, term in enumerate(selection.solution.problem.names)}
        columns = [position[term] for term in part.problem.names]
        coef = selection.solution.coef[:, columns]
        found = part.form.whiteness(data, library, coef)
        mine = {c.equation for c in selection.choices if c.variant == name}
        shared = any("," in equation for equation in mine)
        for note in residual_notices(found, parts if isinstance(parts, tuple) else (), coef):
            if shared or note.message.split(":")[0] in mine:
                notes.append(note)
    return notes
