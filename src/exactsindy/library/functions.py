"""Known functions of every variable, with or without inner constants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from exactsindy.errors import ProblemError, nearest
from exactsindy.library.families import ConstantRange, Family, RangeLike, constant_ranges
from exactsindy.library.library import Library
from exactsindy.library.open_terms import OpenTerm
from exactsindy.library.term import Expression, Function, Group, Term, Variable
from exactsindy.library.variables import Variables, as_names

# The inner constant that a kind may have: a factor of the variable (frequency w, rate r, steepness s), a summand beside
# it (c), or the half-saturation K of a Hill function, which always has one.
_FACTORS = {"sin": "w", "cos": "w", "tan": "w", "exp": "r", "sinh": "r", "cosh": "r", "tanh": "s", "arctan": "s"}
_SUMMANDS = {"log": "c", "sqrt": "c"}
_HILL = {f"hill{n}": n for n in (1, 2, 3, 4)}
_INVERSE = {"1/x": 1, "1/x^2": 2}
_KINDS = (*_FACTORS, *_SUMMANDS, "abs", "x abs(x)", *_INVERSE, *_HILL)
_CONSTANTS = ("w", "r", "s", "c", "K")


class Functions(Library):
    """Functions of every variable x: sin(x), exp(x), 1/x, ..., or sin(w x), exp(r x), ... with inner constants.

    Parameters
    ----------
    kinds
        ``"sin"``, ``"cos"``, ``"tan"``, ``"exp"``, ``"sinh"``, ``"cosh"``, ``"tanh"``, ``"arctan"``, ``"log"``,
        ``"sqrt"``, ``"abs"``, ``"x abs(x)"``, ``"1/x"``, ``"1/x^2"``, and ``"hill1"`` to ``"hill4"``: the Hill function
        x^n/(K^n + x^n).
    of
        Names of the variables to use; all states and controls by default.
    most
        How many terms of one family, sin(w x) say, an equation may have.
    constants
        Ranges of inner constants as in `Terms`: ``(low, high)``, a list of values, or ``...``. ``w`` is the frequency
        in sin, cos and tan, ``r`` the rate in exp (of both signs: exp(r x) and exp(-r x)), sinh and cosh, ``s`` the
        steepness in tanh and arctan, ``c`` the shift in log(c + x) and sqrt(c + x), ``K`` the half-saturation of Hill
        functions (``...`` unless given). Kinds whose constant is not named have none.

    Examples
    --------
    >>> Functions(["sin", "1/x"]).bind(("x", "y")).names
    ('sin(x)', 'sin(y)', '1/x', '1/y')
    >>> [family.name for family in Functions(["exp", "hill2"], of=["x"], r=...).families(Variables(("x", "y")))]
    ['exp(r x)', 'exp(-r x)', 'x^2/(K^2 + x^2)']
    """

    def __init__(
        self, kinds: Iterable[str], *, of: Sequence[str] | None = None, most: int = 1, **constants: RangeLike
    ) -> None:
        if isinstance(kinds, str):
            raise ProblemError(f"Functions({kinds!r}): expected a list, e.g. Functions([{kinds!r}]).")
        self.kinds = tuple(kinds)
        for kind in self.kinds:
            if kind not in _KINDS:
                raise ProblemError(f"Functions([{kind!r}]): unknown function. {nearest(str(kind), _KINDS)}")
        if not self.kinds:
            raise ProblemError("Functions([]): expected at least one function, e.g. Functions(['sin', 'cos']).")
        if not isinstance(most, int) or isinstance(most, bool) or most < 1:
            raise ProblemError(f"Functions(most={most!r}): expected a whole number >= 1.")
        self.of, self.most = as_names(of, "Functions"), most
        unknown = next((name for name in constants if name not in _CONSTANTS), None)
        if unknown is not None:
            raise ProblemError(f"Functions({unknown}=...): unknown constant. {nearest(unknown, _CONSTANTS)}")
        self.constants = constant_ranges(constants)

    @property
    def is_open(self) -> bool:
        """Return True if some functions have inner constants."""
        return any(self._constant(kind) is not None for kind in self.kinds)

    def candidates(self, variables: Variables) -> Iterable[Term]:
        """Yield the functions without inner constants, by kind and then by variable."""
        for kind in self.kinds:
            if self._constant(kind) is None:
                yield from (_plain(kind, name) for name in variables.chosen(self.of, "Functions"))

    def families(self, variables: Variables) -> Iterable[Family]:
        """Yield the functions with inner constants, by kind and then by variable."""
        ranges = dict(self.constants)
        for kind in self.kinds:
            constant = self._constant(kind)
            if constant is not None:
                where = ranges.get(constant, ConstantRange())
                for name in variables.chosen(self.of, "Functions"):
                    own = constant if constant not in variables.known else f"{constant}_"
                    for term in _open(kind, name, own):
                        yield Family(OpenTerm(term, (own,)), (where,), self.most)

    def _constant(self, kind: str) -> str | None:
        """Return the constant of a kind, None if it has none here."""
        if kind in _HILL:
            return "K"
        name = _FACTORS.get(kind, _SUMMANDS.get(kind))
        return name if name in dict(self.constants) else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Functions) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[object, ...]:
        return (self.kinds, self.of, self.most, self.constants)

    def __repr__(self) -> str:
        of = f", of={self.of!r}" if self.of is not None else ""
        most = f", most={self.most}" if self.most > 1 else ""
        ranges = "".join(f", {name}={where}" for name, where in self.constants)
        return f"Functions({list(self.kinds)!r}{of}{most}{ranges})"


def _plain(kind: str, name: str) -> Term:
    x = Term.variable(name)
    if kind in _INVERSE:
        return Term(((Variable(name), -_INVERSE[kind]),))
    if kind == "x abs(x)":
        return x * _call("abs", Expression.of([(1.0, x)]))
    return _call(kind, Expression.of([(1.0, x)]))


def _open(kind: str, name: str, constant: str) -> Iterable[Term]:
    x, inner = Term.variable(name), Term.variable(constant)
    if kind in _HILL:
        n = _HILL[kind]
        below = Expression.of([(1.0, Term(((Variable(constant), n),))), (1.0, Term(((Variable(name), n),)))])
        yield Term(((Variable(name), n), (Group(below), -1)))
    elif kind in _SUMMANDS:
        yield _call(kind, Expression.of([(1.0, inner), (1.0, x)]))
    else:
        yield _call(kind, Expression.of([(1.0, inner * x)]))
        if kind == "exp":
            yield _call(kind, Expression.of([(-1.0, inner * x)]))


def _call(kind: str, argument: Expression) -> Term:
    return Term(((Function(kind, argument), 1),))
