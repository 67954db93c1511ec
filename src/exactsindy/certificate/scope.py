"""What claims are about, in words: without this a true claim about few supports could pass for one about all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from exactsindy.certificate.claim_reading import Claim
from exactsindy.problem import COEFFICIENT_LIMIT

_MOST = 5  # constraints that are shown
_LONGEST = 80  # characters of each


def scope(claim: Claim, constraints: Sequence[Any]) -> str:
    """Return what is asked of supports and coefficients beside the number of terms; empty if nothing is."""
    parts = []
    if constraints:
        distinct = list(dict.fromkeys(map(_text, constraints)))
        more = [f"and {len(distinct) - _MOST} more"] if len(distinct) > _MOST else []
        parts.append(f"under {', '.join([*distinct[:_MOST], *more])}")
    ridge = sorted(float(weight) for equation in claim.equations for weight in equation.ridge)
    if ridge and ridge[-1] > 0.0:
        weights = repr(ridge[0]) if ridge[0] == ridge[-1] else f"from {ridge[0]!r} to {ridge[-1]!r}"
        parts.append(f"ridge weights {weights}")
    if len(claim.caps) > 1 and min(claim.caps) < claim.budget:
        parts.append(f"at most {', '.join(map(str, claim.caps))} terms each")
    shares = [float(equation.weight) for equation in claim.equations]
    if set(shares) != {1.0}:
        parts.append(f"equations weighted by {', '.join(map(repr, shares))}")
    if claim.limit != COEFFICIENT_LIMIT:
        parts.append(f"only coefficients up to {claim.limit!r} |y| / |a_j|")
    return "; ".join(parts)


def _text(constraint: Any) -> str:
    text = " ".join(str(constraint).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
