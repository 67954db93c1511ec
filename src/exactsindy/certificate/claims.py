"""What a solve claims, in a form that can be stored and checked without the solver."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from exactsindy.problem import COEFFICIENT_LIMIT


class Claims(Protocol):
    """What `verify` reads of a solution: any object with these attributes will do."""

    @property
    def coef(self) -> Any:
        """Coefficients, (m, D) over the problem's terms."""

    @property
    def support(self) -> Any:
        """Indices of the terms, one tuple per target."""

    @property
    def objective(self) -> Any:
        """Objectives: one per target, or a single one for a shared budget."""

    @property
    def lower_bound(self) -> Any:
        """Lower bounds; -inf is unknown."""

    @property
    def gap(self) -> Any:
        """(objective - lower_bound) / objective."""

    @property
    def margin(self) -> Any:
        """Next-best / best - 1 among supports of the same size; nan is not proved."""

    @property
    def status(self) -> Any:
        """How each search ended."""

    @property
    def problem(self) -> Any:
        """The problem the claims were made for."""

    @property
    def ridge(self) -> Any:
        """Ridge weights, (m, D)."""

    @property
    def k(self) -> Any:
        """One size per target, or a shared budget: an object with ``k``, ``weights`` and maybe ``caps``."""


@dataclass(frozen=True)
class Certificate:
    """The claims of one solved equation (or of one joint budget): plain numbers and names, JSON in and out.

    ``fingerprint`` is the SHA-256 of the problem's stored doubles; the claims hold for those numbers only.
    ``weights`` are those of a shared budget's equations (1 for a single equation), ``caps`` the most terms each of them
    may have (empty: no caps). ``margin`` is nan where not proved; ``lower_bound`` is -inf where nothing is known.
    ``constraints`` are texts that mean something for that problem only. Only supports whose coefficients are within
    ``coefficient_limit`` count (see `Settings`).
    """

    target: str
    fingerprint: str
    size: int
    weights: tuple[float, ...]
    ridge: tuple[float, ...]
    support: tuple[str, ...]
    coefficients: tuple[float, ...]
    objective: float
    lower_bound: float
    gap: float
    margin: float
    status: str
    nodes: int
    seconds: float
    version: str
    caps: tuple[int, ...] = ()
    constraints: tuple[str, ...] = ()
    coefficient_limit: float = COEFFICIENT_LIMIT

    def to_json(self) -> str:
        """Return the certificate as one JSON object (infinite and undefined numbers as strings)."""
        return json.dumps({key: _plain(value) for key, value in asdict(self).items()}, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read back what `to_json` wrote."""
        fields = json.loads(text)
        for key in ("objective", "lower_bound", "gap", "margin"):
            fields[key] = float(fields[key])
        for key in ("weights", "ridge", "support", "coefficients", "caps", "constraints"):
            fields[key] = tuple(fields.get(key, ()))
        return cls(**fields)


def _plain(value: object) -> object:
    if isinstance(value, float) and not abs(value) < float("inf"):
        return str(value)
    return list(value) if isinstance(value, tuple) else value
