"""The methods of a model of fields that work on a grid."""

from __future__ import annotations

from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.data import Field
from exactsindy.errors import ProblemError
from exactsindy.model import field_grid, field_simulation
from exactsindy.model import score as scoring
from exactsindy.model.field_grid import GridValues, PerAxis
from exactsindy.model.model_like import ModelLike
from exactsindy.model.phase import phase_of
from exactsindy.model.simulation import FieldSimulation


def rhs(
    model: ModelLike, values: GridValues, *, coords: PerAxis = None, periods: PerAxis = None, t: ArrayLike | None = None
) -> dict[str, Array]:
    """Return the right-hand sides of a model of fields on a grid, by name of the equation.

    Parameters
    ----------
    values
        A `Field`, or the fields as an array, a list or a mapping; space axes first, times may follow.
    coords, periods
        Per space axis its coordinates and its period, as mappings (or one value); a `Field` has its own.
        Derivatives are spectral along periodic axes, differences of fourth order along others.
    t
        Times, where the equations use the time.
    """
    _need_fields(model, "rhs", "predict")
    return field_grid.right_hand_sides(model.rows, model.variables, values, coords, periods, t)


def residual(
    model: ModelLike, field: Field, *, differentiation: scoring.Differentiation | None = None
) -> dict[str, Array]:
    """Return measured time derivative minus right-hand side on the grid of the data, by equation."""
    _need_fields(model, "residual", "score")
    observed, predicted = scoring.field_rates(model.rows, model.variables, field, differentiation)
    return {name: observed[name] - predicted[name] for name in model.target_names}


def simulate_field(
    model: ModelLike,
    u0: GridValues,
    t: ArrayLike | None = None,
    *,
    coords: PerAxis = None,
    periods: PerAxis = None,
    rtol: float = 1e-6,
    atol: float = 1e-9,
    max_abs: float | None = None,
    max_steps: int = 1_000_000,
    dealias: bool = True,
) -> FieldSimulation:
    """Integrate a model of fields on a periodic grid of 1-3 dimensions; look at ``success`` and ``status``.

    Derivatives are spectral. Linear terms with constant coefficients are integrated exactly, the others
    by Runge-Kutta of fourth order with step control (ETDRK4): diffusion or u_xxxx do not make steps small,
    but stiff terms with varying coefficients such as ``u u_xxx`` do.

    Parameters
    ----------
    u0
        Initial fields: an array (one field), a list or a mapping; or a `Field`, whose first time is used.
        For equations u_tt also the initial u_t (see `phase_names`).
    t
        Increasing times at which the fields are wanted; those of the `Field` by default.
    coords, periods
        Per space axis its coordinates (0 to the period by default) and its period.
    rtol, atol
        Relative and absolute tolerance of a step, in the largest difference over the grid.
    max_abs
        Size at which to stop; 1e12 times that of ``u0`` (at least 1) by default.
    max_steps
        Largest number of steps in all.
    dealias
        Whether products are cut at 2/3 of the highest wave, so that they do not fold back.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> x = 2 * np.pi * np.arange(32) / 32
    >>> heat = es.Model.from_coefficients({"u_t": {"u_xx": 0.5}})
    >>> run = heat.simulate_field(np.sin(x), [0.0, 2.0], periods=2 * np.pi)
    >>> bool(np.allclose(run["u"][:, -1], np.exp(-1.0) * np.sin(x)))
    True
    """
    _need_fields(model, "simulate_field", "simulate")
    options = field_simulation.FieldOptions(rtol, atol, max_abs, max_steps, dealias)
    phase = phase_of(model.rows, model.variables)
    return field_simulation.simulate_field(phase, model.variables, u0, t, coords, periods, options)


def _need_fields(model: ModelLike, method: str, other: str) -> None:
    if not model.is_field:
        raise ProblemError(f"{method}: this is a model of trajectories (x'); use {other} instead.")
