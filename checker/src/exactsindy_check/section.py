"""One section of a proof: every end of its tree established, and the supports that are left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from exactsindy_check import tree
from exactsindy_check.bounds import Ground, Indices, ground
from exactsindy_check.errors import Refuted, Unreadable
from exactsindy_check.exact import ExactFits, Verdict
from exactsindy_check.instance import Equation, Instance, Vector, scaled
from exactsindy_check.node_bounds import dropped_exceeds, node_exceeds
from exactsindy_check.perspective import perspective_exceeds, semidefinite
from exactsindy_check.proof_file import Proof, Section
from exactsindy_check.scan import Scanner, Support

_MOST_SENTENCES = 5
_GRAIN = 32  # leaves that stay together when several processes share a section


@dataclass
class Walk:
    """What was found while walking a tree."""

    leaves: int = 0
    survivors: set[Support] = field(default_factory=set)
    sentences: list[str] = field(default_factory=list)


def equation_of(instance: Instance, section: Section) -> Equation:
    """Return the stored numbers a section is about; refuse a section that does not fit the problem."""
    names = instance.target_names
    if not 0 <= section.equation < len(names) or names[section.equation] != section.target:
        raise Unreadable(f"section {section.number}: equation {section.equation} is not {section.target!r}.")
    equation = instance.equation(section.equation, None)
    d = equation.columns
    lists = (section.ridge, section.delta, section.exponents)
    terms = [*section.required, *section.forbidden, *(j for row, _ in section.rows for j, _ in row)]
    if any(entries is not None and len(entries) != d for entries in lists) or any(not 0 <= j < d for j in terms):
        raise Unreadable(f"section {section.number}: its lists do not fit the {d} columns of {section.target!r}.")
    return instance.equation(section.equation, section.ridge)


def root(equation: Equation, section: Section) -> tuple[tuple[int, ...], int, int] | None:
    """Return the root (inside, free, slots) of a section; None if no support is possible."""
    nonzero = {int(j) for j in np.flatnonzero(equation.a.any(axis=0))}
    required, slots = set(section.required), section.k - len(section.required)
    if slots < 0 or not required <= nonzero or required & set(section.forbidden):
        return None
    free = nonzero - required - set(section.forbidden)
    return section.required, sum(1 << j for j in free), slots


def ends(proof: Proof, equation: Equation, section: Section) -> Iterator[tree.Leaf]:
    """Yield the ends of a section's tree."""
    start = root(equation, section)
    if start is None:
        return
    yield from tree.leaves(proof, section.number, *start)


def walk(
    proof: Proof,
    equation: Equation,
    section: Section,
    *,
    share: tuple[int, int] = (0, 1),
    progress: Callable[[int], None] = lambda leaves: None,
) -> Walk:
    """Establish the ends of a section's tree; with share (i, n) only every n-th group of them, from the i-th on."""
    result = Walk()
    numbers = scaled(equation, section.coefficient_limit, section.exact_cut)
    base = ground(numbers)
    exact = ExactFits(equation, section.coefficient_limit)
    scanner = Scanner(base, exact, section.exact_cut, section.exactly, section.listing, section.independent)
    delta = None
    if section.delta is not None:
        delta = np.ldexp(np.array(section.delta), -2 * numbers.exponent)
        if not semidefinite(base, delta):
            delta = None
    for count, leaf in enumerate(ends(proof, equation, section)):
        if count // _GRAIN % share[1] != share[0]:
            continue
        try:
            reason = _fault(leaf, base, scanner, delta, section)
        except np.linalg.LinAlgError as error:
            reason = f"no bound could be computed ({error})."
        result.leaves += 1
        if reason:
            result.sentences.append(f"{leaf.where()}: {reason}")
            if len(result.sentences) == _MOST_SENTENCES:
                break
        if result.leaves % 64 == 0:
            progress(64)
    progress(result.leaves % 64)
    result.survivors = scanner.survivors
    return result


def _fault(leaf: tree.Leaf, base: Ground, scanner: Scanner, delta: Vector | None, section: Section) -> str | None:
    """Return why an end does not hold; None if it does."""
    inside, free = np.array(leaf.inside, dtype=np.intp), tree.columns_of(leaf.free)
    node = f"the node of terms {list(leaf.inside)} with {len(free)} free terms and {leaf.slots} to choose"
    if leaf.kind in (tree.SCAN, tree.ALL):
        scanner.look(leaf.inside, free, leaf.slots)
    elif leaf.kind == tree.BOUND:
        if not node_exceeds(base, inside, free, leaf.slots):
            return f"the bound of {node} is not above the cut."
    elif leaf.kind == tree.DROPS:
        if not dropped_exceeds(base, inside, free, leaf.slots, leaf.terms, leaf.misses):
            return f"the bound of {node} without {leaf.misses} of the terms {list(leaf.terms)} is not above the cut."
    elif leaf.kind == tree.DEPENDENT:
        if scanner.listing and not scanner.independent:
            return "terms that depend on each other count in this section."
        if scanner.exact.independence(leaf.inside) is Verdict.YES:
            return f"the terms {list(leaf.inside)} are independent."
    elif delta is None:
        return "a perspective bound, but its delta is missing or not proved admissible."
    elif not perspective_exceeds(base, delta, inside, free, leaf.slots, _point(leaf, base, section, inside, free)):
        return f"the perspective bound of {node} is not above the cut."
    return None


def _point(leaf: tree.Leaf, base: Ground, section: Section, inside: Indices, free: Indices) -> Vector:
    """Return the point of a perspective bound in scaled units; entries that are not numbers make the bound fail."""
    numbers = base.numbers
    columns = np.sort(np.concatenate([inside, free]))
    shift = np.zeros(base.rows, dtype=np.int64) if section.exponents is None else np.array(section.exponents)
    v = np.zeros(base.rows)
    with np.errstate(invalid="ignore", over="ignore"):
        given = np.frombuffer(leaf.point, dtype="<f4").astype(float)
        v[columns] = np.ldexp(given, (shift + numbers.exponent - numbers.target_exponent)[columns])
    return v


def require_tree(proof: Proof, equation: Equation, section: Section) -> int:
    """Walk the tree without any arithmetic; return the number of its ends."""
    if root(equation, section) is not None and not proof.chunks(section.number):
        raise Refuted("the section has no records.")
    return sum(1 for _ in ends(proof, equation, section))
