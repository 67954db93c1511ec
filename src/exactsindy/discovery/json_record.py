"""A discovery as plain lists, texts and numbers: what ``exactsindy discover --json`` prints.

``docs/discovery.schema.json`` describes it; a test holds the two together.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, Protocol

from exactsindy import __version__
from exactsindy.model import Equation, InnerConstant
from exactsindy.plots import DiscoveryLike
from exactsindy.report import verdicts
from exactsindy.solver import Member

FORMAT = "exactsindy discovery 1"


class Answer(DiscoveryLike, Protocol):
    """What a `Discovery` says about its equations beside what plots read."""

    @property
    def identified(self) -> bool:
        """Whether every equation is more likely right than not."""

    @property
    def confidence(self) -> Mapping[str, float | None]:
        """Probability that the terms of each equation are the true ones."""

    @property
    def verdict(self) -> Mapping[str, str]:
        """How sure each equation is, in words."""

    @property
    def constants(self) -> tuple[InnerConstant, ...]:
        """The constants inside terms."""

    @property
    def rivals(self) -> Mapping[str, tuple[Member, ...]]:
        """The best supports of the chosen size of each equation."""


def discovery_record(answer: Answer) -> dict[str, Any]:
    """Return the answer as plain lists, texts and numbers; None stands for what is not known."""
    rows = answer.model.rows
    said = verdicts(answer)
    return {
        "format": FORMAT,
        "version": __version__,
        "headlines": {verdict.equation: verdict.sentence for verdict in said},
        "labels": {verdict.equation: verdict.label for verdict in said},
        "equations": answer.model.equations(None),
        "coefficients": {row.name: {term.name: value for value, term in row.parts} for row in rows},
        "standard_errors": {row.name: _by_term(row, row.standard_errors or ()) for row in rows},
        "constants": [asdict(constant) for constant in answer.constants],
        "shares": {row.name: _by_term(row, answer.shares[row.name].values()) for row in rows},
        "identified": answer.identified,
        "confidence": dict(answer.confidence),
        "verdict": dict(answer.verdict),
        "held_out": {name: _finite(value) for name, value in answer.held_out.items()},
        "residuals": {row.name: answer.residuals.get(row.name) for row in rows},
        "noise": dict(answer.noise),
        "form": {choice.equation: choice.variant for choice in answer.selection.choices},
        "rivals": {name: [_member(member) for member in members] for name, members in answer.rivals.items()},
        "certificates": [json.loads(certificate.to_json()) for certificate in answer.solution.certificates],
        "inclusion": {target: dict(shares) for target, shares in answer.selection.inclusion.items()},
        "warnings": [
            {"code": notice.kind, "equation": notice.equation, "message": notice.message} for notice in answer.warnings
        ],
        "arguments": dict(answer.arguments),
        "data_sha256": answer.data.fingerprint,
    }


def _member(member: Member) -> dict[str, Any]:
    return {"terms": dict(member.terms), "objective": member.objective, "excess": _finite(member.excess)}


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _by_term(row: Equation, values: Iterable[float]) -> dict[str, float | None]:
    """Return a number for each term of an equation; None where there is none, or none that is finite."""
    known = dict(zip((term.name for term in row.terms), values, strict=False))
    return {term.name: _finite(known.get(term.name)) for term in row.terms}
