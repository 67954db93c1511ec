"""The regression of a polynomial map with noise in its states: moments that noise does not bias."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.data import Trajectories, Trajectory
from exactsindy.errors import ProblemError
from exactsindy.forms.base import EquationGroup, groups, trajectory_inputs
from exactsindy.forms.map.map_form import next_values
from exactsindy.library import Library
from exactsindy.problem import Problem

# Eigenvalues of the matrix of moments (columns scaled to norm 1) are at least this: the correction may leave negative
# ones, which no regression has.
_LEAST = 1e-9
# Samples taken in at once.
_ROWS = 2048


def corrected_problem(data: Trajectories, library: Library, noise: Array) -> Problem:
    """Return the regression whose sums of products are those of noise-free states, on average over the noise.

    For w = x + noise of standard deviation s the Hermite polynomial He_n(w) = w He_(n-1)(w) - (n-1) s^2 He_(n-2)(w)
    has the mean x^n. A product of two monomials is a monomial, so every entry of the Gram matrix is a sum of such
    polynomials. What is solved is unbiased, but its residual is no likelihood: it serves as a start, not to choose
    sizes.

    Parameters
    ----------
    data
        Samples of a map as `MapForm.steps` and `lagged` make them.
    library
        Its terms must be monomials.
    noise
        Standard deviation of the noise of each state; controls have none.

    Raises
    ------
    ProblemError
        If a term is not a monomial.
    """
    return Problem.from_blocks(
        problem
        for group in groups(data, library)
        for problem in _corrected(data, group, np.asarray(noise, dtype=float))
    )


def _corrected(data: Trajectories, group: EquationGroup, noise: Array) -> list[Problem]:
    features = group.features
    exponents = features.exponents
    if exponents is None:
        raise ProblemError("corrected_problem: a term is not a monomial, so that its moments are not known.")
    spread = _noise_of_inputs(data, [v.name for v in features.inputs], noise)
    own = [data.state_names.index(target.state) for target in group.targets]
    n_terms = len(exponents)
    pairs = [(i, j) for i in range(n_terms) for j in range(i, n_terms)]
    unit = np.eye(exponents.shape[1], dtype=np.int64)
    wanted = [exponents[i] + exponents[j] for i, j in pairs]
    wanted += [exponents[i] + unit[s] for s in own for i in range(n_terms)] + [2 * unit[s] for s in own]
    unique, place = np.unique(np.array(wanted), axis=0, return_inverse=True)
    moments, cross, square, rows = np.zeros(len(unique)), np.zeros((n_terms, len(own))), np.zeros(len(own)), 0
    product = np.zeros(len(own))
    for member in data:
        later = next_values(member, group.targets)
        for start in range(0, len(member) - 1, _ROWS):
            go_on()
            stop = min(start + _ROWS, len(member) - 1)
            powers = _powers(_inputs(group, member, start, stop), spread, int(unique.max(initial=0)))
            moments += np.array([_monomial(powers, row).sum() for row in unique])
            next_states = member.states[start + 1 : stop + 1, own]
            for i, row in enumerate(exponents):
                cross[i] += _monomial(powers, row) @ next_states
            square += (next_states**2 - noise[own] ** 2).sum(axis=0)
            product += (next_states * member.states[start:stop, own]).sum(axis=0)
            rows += len(later[start:stop])
    place = place.reshape(-1)
    gram = np.zeros((n_terms, n_terms))
    for (i, j), at in zip(pairs, place[: len(pairs)], strict=True):
        gram[i, j] = gram[j, i] = moments[at]
    with_state = moments[place[len(pairs) : len(pairs) + n_terms * len(own)]].reshape(len(own), n_terms)
    squares = moments[place[len(pairs) + n_terms * len(own) :]]
    problems = []
    for e, target in enumerate(group.targets):
        change = float(target.step == "change")
        vector = cross[:, e] - change * with_state[e]
        whole = square[e] + change * (squares[e] - 2 * product[e])
        matrix = _positive(np.block([[gram, vector[:, None]], [vector[None], np.array([[whole]])]]))
        names = features.terms
        problems.append(
            Problem.from_gram(
                matrix[:-1, :-1], matrix[:-1, -1], matrix[-1, -1], rows, names=names, target_names=(target.name,)
            )
        )
    return problems


def _inputs(group: EquationGroup, member: Trajectory, start: int, stop: int) -> Array:
    return trajectory_inputs(group.features, member, member.states[start:stop], start, stop)


def _noise_of_inputs(data: Trajectories, names: Sequence[str], noise: Array) -> Array:
    """Return the noise of each input of a library: that of its state, also of an earlier sample; 0 for others."""
    known = dict(zip(data.state_names, noise.tolist(), strict=True))
    return np.array([known.get(name, known.get(name.partition("[k-")[0], 0.0)) for name in names])


def _powers(inputs: Array, spread: Array, most: int) -> Array:
    """Return the Hermite polynomials of degree 0 to ``most`` of every input (degrees x inputs x samples)."""
    w = inputs.T
    powers = np.empty((most + 1, *w.shape))
    powers[0] = 1.0
    if most:
        powers[1] = w
    for n in range(2, most + 1):
        powers[n] = w * powers[n - 1] - (n - 1) * spread[:, None] ** 2 * powers[n - 2]
    return powers


def _monomial(powers: Array, exponents: NDArray[np.int64]) -> Array:
    result: Array = powers[0, 0]
    for j in np.flatnonzero(exponents):
        result = result * powers[exponents[j], j]
    return result


def _positive(matrix: Array) -> Array:
    """Return the nearest matrix with no eigenvalue below `_LEAST`, after its columns are scaled to norm 1."""
    size = np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(matrix / np.outer(size, size))
    clipped = (vectors * np.maximum(values, _LEAST)) @ vectors.T
    return np.asarray((clipped + clipped.T) / 2 * np.outer(size, size))
