"""A library compiled to a list of vector operations in which every product reuses a smaller one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.errors import ProblemError
from exactsindy.library.calculus import FUNCTIONS
from exactsindy.library.printing import NAME
from exactsindy.library.term import Atom, Custom, Expression, Function, Group, Term, Variable

# Samples per block: the registers of a library of a hundred terms then stay in the second-level cache (1.6 MB).
_BLOCK = 2048


@dataclass(frozen=True)
class Step:
    """One ``operation`` on the registers ``arguments``; ``weights`` are those of a weighted sum."""

    operation: Callable[..., Any]
    arguments: tuple[int, ...]
    weights: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Program:
    """Registers 0..len(inputs)-1 hold the inputs, each step fills the next one, ``outputs`` are the terms."""

    inputs: tuple[Variable, ...]
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]

    @property
    def can_fail(self) -> bool:
        """Return True if an operation may be undefined somewhere: a division, log, a user's function."""
        return any(step.operation not in (np.multiply, np.ones_like, _weighted_sum) for step in self.steps)

    def run(self, inputs: Sequence[Array], out: Array) -> None:
        """Fill ``out`` (terms x samples) from one array per input, in blocks that stay in cache."""
        n = out.shape[1]
        place = {register: row for row, register in reversed(tuple(enumerate(self.outputs)))}
        registers = range(len(self.inputs), len(self.inputs) + len(self.steps))
        scratch_of = {register: i for i, register in enumerate(r for r in registers if r not in place)}
        scratch = np.empty((len(scratch_of), min(n, _BLOCK)))
        with np.errstate(all="ignore"):
            for start in range(0, n, _BLOCK):
                go_on()
                stop = min(start + _BLOCK, n)
                values = [np.ascontiguousarray(row[start:stop]) for row in inputs]
                for register, step in zip(registers, self.steps, strict=True):
                    if register in place:
                        target = out[place[register], start:stop]
                    else:
                        target = scratch[scratch_of[register], : stop - start]
                    _apply(step, values, target)
                    values.append(target)
                for row, register in enumerate(self.outputs):
                    if register < len(self.inputs) or place[register] != row:
                        out[row, start:stop] = values[register]


def _apply(step: Step, values: list[Array], target: Array) -> None:
    arguments = [values[i] for i in step.arguments]
    if step.weights is not None:
        _weighted_sum(arguments, step.weights, target)
    elif isinstance(step.operation, np.ufunc):
        step.operation(*arguments, out=target)
    elif step.operation is np.ones_like:
        target.fill(1.0)
    else:
        target[...] = step.operation(*arguments)


def _weighted_sum(arguments: list[Array], weights: tuple[float, ...], target: Array) -> None:
    target.fill(0.0)
    for weight, row in zip(weights, arguments, strict=True):
        target += weight * row


@dataclass(frozen=True)
class _Checked:
    """A user's function whose answer is checked: a wrong shape would otherwise be broadcast in silence."""

    atom: Custom

    def __call__(self, *arguments: Array) -> Array:
        values = np.asarray(self.atom.function(*arguments), dtype=float)
        if values.shape not in ((), arguments[0].shape):
            raise ProblemError(
                f"The function of the term {self.atom.name!r} returned shape {values.shape} for "
                f"{arguments[0].size} samples; it must work on arrays and return one value per sample."
            )
        return values


def compile_terms(terms: Sequence[Term], inputs: Sequence[Variable]) -> Program:
    """Return the program that computes ``terms`` from ``inputs``."""
    compiler = _Compiler(list(inputs))
    outputs = tuple(compiler.term(term) for term in terms)
    return Program(tuple(inputs), tuple(compiler.steps), outputs)


class _Compiler:
    def __init__(self, inputs: list[Variable]) -> None:
        self.known: dict[Atom | Term | Expression, int] = {v: i for i, v in enumerate(inputs)}
        self.steps: list[Step] = []
        self.count = len(inputs)

    def emit(self, key: Atom | Term | Expression, step: Step) -> int:
        self.steps.append(step)
        self.known[key] = self.count
        self.count += 1
        return self.known[key]

    def term(self, term: Term) -> int:
        if term in self.known:
            return self.known[term]
        if not term.factors:
            return self.emit(term, Step(np.ones_like, ()))
        atom, power = term.factors[-1]
        if term.factors == ((atom, 1),):
            self.known[term] = self.atom(atom)
            return self.known[term]
        # One power less is a term of lower degree: usually in the library, otherwise a scratch register.
        sign = 1 if power > 0 else -1
        lower = self.term(Term.of({**dict(term.factors), atom: power - sign}))
        return self.emit(term, Step(np.multiply if sign > 0 else np.divide, (lower, self.atom(atom))))

    def atom(self, atom: Atom) -> int:
        if atom in self.known:
            return self.known[atom]
        if isinstance(atom, Function):
            return self.emit(atom, Step(FUNCTIONS[atom.kind].value, (self.expression(atom.argument),)))
        if isinstance(atom, Group):
            self.known[atom] = self.expression(atom.content)
            return self.known[atom]
        if isinstance(atom, Custom):
            return self.emit(atom, Step(_Checked(atom), tuple(self.atom(v) for v in atom.inputs)))
        raise ProblemError(f"The terms use {atom.text(NAME)!r}, which is not among the inputs.")

    def expression(self, expression: Expression) -> int:
        if expression in self.known:
            return self.known[expression]
        if len(expression.parts) == 1 and expression.parts[0][0] == 1.0:
            return self.term(expression.parts[0][1])
        registers = tuple(self.term(term) for _, term in expression.parts)
        return self.emit(expression, Step(_weighted_sum, registers, tuple(c for c, _ in expression.parts)))
