"""Terms and equations as MathML: browsers and notebooks typeset it without any script or network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from exactsindy.library.printing import GREEK, step_parts
from exactsindy.library.term import Atom, Custom, Expression, Function, Group, Term, Variable

_ONE = "<mn>1</mn>"
_TIMES = '<mo>&#x2062;</mo><mspace width="0.17em"/>'  # invisible times, which a screen reader reads, and a thin space


def mathml_equation(target: str, parts: Iterable[tuple[float, Any]], digits: int = 6) -> str:
    """Return ``target = sum of numbers times terms`` as a ``<math>`` element; ``target`` is ``x'``, ``x''`` or ``u_t``.

    Of a term that is not a `Term` only the name is used.
    """
    return mathml_system([(target, [(mathml_number(value, digits), value < 0, term) for value, term in parts])])


def mathml_system(rows: Sequence[tuple[str, Sequence[tuple[str, bool, Any]]]]) -> str:
    """Return equations aligned at their equal signs; each part is (MathML of the number, negative, term)."""
    lines = "".join(
        f'<mtr><mtd style="text-align:right">{left(target)}</mtd><mtd><mo>=</mo></mtd>'
        f'<mtd style="text-align:left"><mrow>{_sum(parts)}</mrow></mtd></mtr>'
        for target, parts in rows
    )
    return f'<math display="block"><mtable displaystyle="true">{lines}</mtable></math>'


def mathml_wrapping(target: str, parts: Sequence[tuple[str, bool, Any]]) -> str:
    """Return an equation as one ``<math>`` element for each term, so that a page can break the line between them."""
    pieces = [f"{left(target)}<mo>=</mo>", *(_signed(part, i > 0) for i, part in enumerate(parts))]
    return " ".join(f"<math>{piece}</math>" for piece in (pieces if parts else [*pieces, "<mn>0</mn>"]))


def mathml_term(item: Any) -> str:
    """Return a term as an inline ``<math>`` element."""
    return f"<math>{term(item)}</math>"


def mathml_target(target: str) -> str:
    """Return a left-hand side as an inline ``<math>`` element."""
    return f"<math>{left(target)}</math>"


def _sum(parts: Sequence[tuple[str, bool, Any]]) -> str:
    return "".join(_signed(part, i > 0) for i, part in enumerate(parts)) or "<mn>0</mn>"


def _signed(part: tuple[str, bool, Any], follows: bool) -> str:
    """Return a number times a term with its sign, which a first summand has only if it is negative."""
    size, negative, item = part
    sign = "<mo>−</mo>" if negative else "<mo>+</mo>" if follows else ""
    body = term(item)
    return sign + (size if body == _ONE else body if size == _ONE else size + _TIMES + body)


def mathml_number(value: float, digits: int = 6) -> str:
    """Return the size of a number, without its sign, with ``digits`` significant digits."""
    mantissa, _, exponent = f"{abs(value):.{digits}g}".partition("e")
    if not exponent:
        return f"<mn>{mantissa}</mn>"
    power = int(exponent)
    shown = f"<mn>{power}</mn>" if power >= 0 else f"<mrow><mo>−</mo><mn>{-power}</mn></mrow>"
    return f"<mrow><mn>{mantissa}</mn><mo>×</mo><msup><mn>10</mn>{shown}</msup></mrow>"


def left(target: str) -> str:
    """Return a left-hand side: primes for trajectories, a subscript t for fields."""
    if step_parts(target)[1]:  # x[k+1], or x[k+1] - x[k]
        return "<mo>−</mo>".join(_leaf(part, ()) for part in target.split(" - "))
    if target.endswith("'"):
        return _leaf(target, ())
    name, _, order = target.rpartition("_")
    return _leaf(name, tuple(order)) if name and order and not order.strip("t") else _leaf(target, ())


def term(item: Any) -> str:
    """Return a term; the plain name of an object that is not made of factors."""
    if not isinstance(item, Term):
        name = str(getattr(item, "name", item))
        return _ONE if name == "1" else f"<mtext>{escape(name)}</mtext>"
    above = [_power(atom, n) for atom, n in item.factors if n > 0]
    below = [_power(atom, -n) for atom, n in item.factors if n < 0]
    product = f"<mrow>{_TIMES.join(above)}</mrow>" if len(above) > 1 else above[0] if above else _ONE
    return f"<mfrac>{product}<mrow>{_TIMES.join(below)}</mrow></mfrac>" if below else product


def _power(atom: Atom, n: int) -> str:
    body = _atom(atom)
    if n != 1 and isinstance(atom, Variable) and atom.name.endswith("'"):
        body = f"<mrow><mo>(</mo>{body}<mo>)</mo></mrow>"  # else the prime would stand beside the power
    return body if n == 1 else f"<msup>{body}<mn>{n}</mn></msup>"


def _atom(atom: Atom) -> str:
    match atom:
        case Variable():
            return _leaf(atom.name, atom.axes)
        case Group():
            return f"<mrow><mo>(</mo>{_expression(atom.content)}<mo>)</mo></mrow>"
        case Function(kind="sqrt"):
            return f"<msqrt>{_expression(atom.argument)}</msqrt>"
        case Function():
            inside = _expression(atom.argument)
            return f"<mrow><mi>{escape(atom.kind)}</mi><mo>&#x2061;</mo><mo>(</mo>{inside}<mo>)</mo></mrow>"
        case Custom():
            return f"<mtext>{escape(atom.name)}</mtext>"


def _expression(content: Expression) -> str:
    return f"<mrow>{_sum([(mathml_number(value), value < 0, item) for value, item in content.parts])}</mrow>"


def _leaf(name: str, axes: tuple[str, ...]) -> str:
    name, step = step_parts(name)
    axes = (step,) if step else axes
    stem = name.rstrip("'")
    if stem and stem != name:
        prime = "′" * (len(name) - len(stem))  # it is raised by itself: as a superscript it would be raised twice
        return f'<mrow>{_leaf(stem, axes)}<mo lspace="0" rspace="0">{prime}</mo></mrow>'
    head, _, tail = name.partition("_")
    if not tail:
        stem = head.rstrip("0123456789")
        head, tail = (stem, head[len(stem) :]) if stem else (head, "")
    letter = f"&{head};" if head in GREEK else _text(head)
    parts = [f"<mi>{_text(part)}</mi>" for part in ((tail, *axes) if tail else axes)]
    base, between = f"<mi>{letter}</mi>", "<mo>,</mo>" if any(len(axis) > 1 for axis in axes) else ""
    return f"<msub>{base}<mrow>{between.join(parts)}</mrow></msub>" if parts else base


def _text(name: str) -> str:
    """Return a name that no line breaks: blanks would vanish, or end what a narrow column shows."""
    return escape(name).replace(" ", "\u00a0")
