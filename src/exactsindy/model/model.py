"""Model: governing equations that can be read, evaluated, simulated, exported and saved."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.certificate import Certificate
from exactsindy.data import Field, Samples, Trajectory
from exactsindy.errors import DataError, ProblemError
from exactsindy.library import Library, Names, Variables
from exactsindy.model import construct, export, field_grid, model_file
from exactsindy.model import score as scoring
from exactsindy.model.coefficient_table import CoefficientTable
from exactsindy.model.equation import Equation
from exactsindy.model.field_grid import GridValues, PerAxis
from exactsindy.model.field_simulation import FieldOptions, simulate_field
from exactsindy.model.iteration import MapIterator
from exactsindy.model.phase import Phase, phase_of
from exactsindy.model.sampled import Sampled
from exactsindy.model.shares import row_shares, sample_shares
from exactsindy.model.simulation import FieldSimulation, Simulation
from exactsindy.model.simulation_inputs import Inputs, ParameterValues
from exactsindy.model.trajectory_simulation import Options, Simulator
from exactsindy.problem import Problem

if TYPE_CHECKING:
    from exactsindy.solver import Solution


@dataclass(frozen=True, repr=False)
class Model:
    """Equations x' = f(x, u, t), x'' = f(x, u, t), u_t = f(u, u_x, ...) or x[k+1] = f(x[k], ...) with coefficients.

    Made by `from_solution`, `from_coefficients` or `load`.

    Parameters
    ----------
    variables
        The states, controls, parameters, time and space axes the terms speak about.
    rows
        One `Equation` per target.
    fingerprint
        That of the problem the coefficients were fitted to, if any.
    certificates
        What was proved about the fit, if anything.

    Examples
    --------
    >>> model = Model.from_coefficients({"x'": {"y": 1.0}, "y'": {"x": -1.0}})
    >>> print(model)
    x' = y
    y' = -x
    >>> model.predict([[2.0, 3.0]])
    array([[ 3., -2.]])
    >>> run = model.simulate([0.0, 1.0], np.linspace(0, np.pi, 5))
    >>> run.success, bool(abs(run["x"][2] - 1) < 1e-8)
    (True, True)
    """

    variables: Variables
    rows: tuple[Equation, ...]
    fingerprint: str | None = None
    certificates: tuple[Certificate, ...] = ()

    @classmethod
    def from_solution(
        cls, solution: Solution, *, variables: Names | None = None, standard_errors: bool = True
    ) -> Model:
        """Return the model of a solved problem.

        Parameters
        ----------
        solution
            The `Solution`; terms known by name only are parsed.
        variables
            The data, or the variables of the library, where they cannot be read off the terms. By default the
            states are those with an equation, ``t`` is the time, and what else the terms use is a control.
        standard_errors
            Whether to compute standard errors, sigma^2 (R_S'R_S)^-1 with sigma^2 = RSS / (n - k). They assume
            that the support is right and the residuals are white (independent, of one variance).

        Raises
        ------
        ProblemError
            If a term is not understood, or two equations are for one state.
        """
        known, rows = construct.from_solution(solution, variables, standard_errors)
        return cls(known, rows, solution.problem.fingerprint, tuple(solution.certificates))

    @classmethod
    def from_coefficients(
        cls,
        coefficients: Mapping[str, Mapping[str, float]],
        *,
        controls: Sequence[str] = (),
        parameters: Sequence[str] = (),
        variables: Names | None = None,
    ) -> Model:
        """Return the model with the coefficients ``{equation: {term: coefficient}}``.

        Parameters
        ----------
        coefficients
            Equations ``x'`` (or ``x``), ``x''``, ``u_t``; names of terms are parsed, never executed.
        controls
            Names of inputs u(t) that the terms use.
        parameters
            Names of constants that the terms use and that are given to `predict` and `simulate`.
        variables
            All names at once, e.g. for space axes that are not called x, y or z.

        Examples
        --------
        >>> burgers = Model.from_coefficients({"u_t": {"u u_x": -1.0, "u_xx": 0.1}})
        >>> print(burgers)
        u_t = -u u_x + 0.1 u_xx
        """
        return cls(*construct.from_coefficients(coefficients, variables, controls, parameters))

    @property
    def state_names(self) -> tuple[str, ...]:
        """Return the names of the states (or fields): the columns of ``x``."""
        return self.variables.states

    @property
    def control_names(self) -> tuple[str, ...]:
        """Return the names of the controls: the columns of ``u``."""
        return self.variables.controls

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Return the names of the parameters: constants that `predict` and `simulate` are given by name."""
        return self.variables.parameters

    def parameters_of(self, trajectory: Trajectory) -> dict[str, float]:
        """Return those parameters of a trajectory that the equations use."""
        return self._sampled.parameters_of(trajectory)

    @property
    def target_names(self) -> tuple[str, ...]:
        """Return the names of the equations."""
        return tuple(row.name for row in self.rows)

    @property
    def is_field(self) -> bool:
        """Return True if this is a model of fields (u_t) rather than trajectories (x')."""
        return self.rows[0].target.field

    @property
    def is_map(self) -> bool:
        """Return True if this is a map (x[k+1]), which is iterated rather than integrated."""
        return bool(self.rows[0].target.step)

    @cached_property
    def coefficients(self) -> CoefficientTable:
        """Return the coefficients, and standard errors where known, as a labelled table."""
        return CoefficientTable.of(self.rows)

    def equations(self, digits: int | None = 6) -> list[str]:
        """Return the equations as text, with significant ``digits`` (``None``: all)."""
        return [row.text(digits) for row in self.rows]

    def __str__(self) -> str:
        return "\n".join(self.equations())

    def __repr__(self) -> str:
        return f"Model({'; '.join(self.equations())})"

    def _repr_html_(self) -> str:
        return self.to_mathml()

    def predict(
        self,
        x: Samples,
        u: Samples | None = None,
        *,
        t: ArrayLike | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Return the right-hand sides at samples of the states.

        Parameters
        ----------
        x
            Samples x states (n, d), or one sample (d,). A frame or mapping is read by name, with its controls and time.
        u
            Controls beside them (n, c).
        t
            Times (n,), where the equations use the time.
        parameters
            The parameters of the equations by name, ``{"mu": 0.1}``: a number each, or one per sample.

        Returns
        -------
        array
            Samples x equations (n, m), or (m,) for one sample; nan where a term is not defined.
        """
        self._need(False, "predict", "rhs")
        return self._sampled.predict(x, u, t, parameters)

    def jacobian(
        self,
        x: Samples,
        u: Samples | None = None,
        *,
        t: ArrayLike | None = None,
        parameters: ParameterValues = None,
    ) -> Array:
        """Return d equation / d state, (n, m, d), or (m, d) for one sample; arguments as for `predict`."""
        self._need(False, "jacobian", "rhs")
        return self._sampled.jacobian(x, u, t, parameters)

    def simulate(
        self,
        x0: Samples,
        t: ArrayLike,
        *,
        u: Inputs = None,
        parameters: Mapping[str, float] | None = None,
        interpolation: str = "linear",
        method: str = "LSODA",
        rtol: float = 1e-10,
        atol: float = 1e-12,
        max_abs: float | None = None,
        max_steps: int = 100_000,
    ) -> Simulation:
        """Integrate the equations from ``x0`` at ``t[0]``; look at ``success`` and ``status`` of the result.

        A model that runs away raises nothing: the simulation stops early and keeps what was reached.

        Parameters
        ----------
        x0
            Initial states in the order of `phase_names` (for equations x'' also their x'), or a mapping or row by name.
        t
            Increasing times at which the states are wanted.
        u
            Controls: samples at ``t`` (n,) or (n, c) or by name, a pair (times, samples), or a function of time.
        parameters
            The parameters of the equations by name, ``{"mu": 0.1}``.
        interpolation
            Between samples of ``u``: ``"linear"``, ``"cubic"`` or ``"previous"``.
        method
            ``"LSODA"`` (fast, switches to a stiff method by itself), or another of SciPy's: ``"RK45"``,
            ``"RK23"``, ``"DOP853"``, ``"Radau"``, ``"BDF"``.
        rtol, atol
            Relative and absolute tolerance of a step.
        max_abs
            Size of a state at which to stop; 1e12 times that of ``x0`` (at least 1) by default.
        max_steps
            Largest number of steps from one output to the next.
        """
        self._need(False, "simulate", "simulate_field")
        if self.is_map:
            raise ProblemError("simulate: this is a map (x[k+1]), which has no times between samples; use iterate.")
        options = Options(method, rtol, atol, max_steps)
        return self._simulator.simulate(x0, t, u, interpolation, max_abs, options, parameters)

    def iterate(
        self,
        x0: Samples,
        n: int,
        *,
        u: Inputs = None,
        t: ArrayLike | None = None,
        max_abs: float | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> Simulation:
        """Apply a map ``n`` times, from ``x0``; look at ``success`` and ``status`` of the result.

        A map that runs away raises nothing: the iteration stops early and keeps what was reached.

        Parameters
        ----------
        x0
            States at step 0, or a mapping or row by name. For a map with lags the first lags + 1 samples, oldest first.
        n
            Number of steps; the result holds steps 0 to n.
        u
            Controls: one row for each step 0 to n - 1 (n, c) or by name, or a function of the step k. With lags the
            rows begin with the oldest sample of ``x0``.
        t
            Times of the steps, where terms use the time; 0, 1, ... by default.
        max_abs
            Size of a state at which to stop; 1e12 times that of ``x0`` (at least 1) by default.
        parameters
            Values of the parameters, by name, if the model has any.

        Examples
        --------
        >>> henon = Model.from_coefficients({"x[k+1]": {"1": 1.0, "x^2": -1.4, "x[k-1]": 0.3}})
        >>> print(henon)
        x[k+1] = 1 - 1.4 x[k]^2 + 0.3 x[k-1]
        >>> henon.iterate([0.0, 0.5], 2)["x"].tolist()
        [0.5, 0.65, 0.5585]
        """
        self._need(False, "iterate", "simulate_field")
        if not self.is_map:
            raise ProblemError("iterate: the equations give derivatives (x'), not next samples (x[k+1]); use simulate.")
        return MapIterator(self.rows, self.variables).iterate(x0, n, u, t, max_abs, parameters)

    @property
    def phase_names(self) -> tuple[str, ...]:
        """Return what ``x0`` holds: the states, then x' (or u_t) of those with an equation for x''."""
        return self._phase.names

    def rhs(
        self, values: GridValues, *, coords: PerAxis = None, periods: PerAxis = None, t: ArrayLike | None = None
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
        self._need(True, "rhs", "predict")
        return field_grid.right_hand_sides(self.rows, self.variables, values, coords, periods, t)

    def residual(self, field: Field, *, differentiation: scoring.Differentiation | None = None) -> dict[str, Array]:
        """Return measured time derivative minus right-hand side on the grid of the data, by equation."""
        self._need(True, "residual", "score")
        observed, predicted = scoring.field_rates(self.rows, self.variables, field, differentiation)
        return {name: observed[name] - predicted[name] for name in self.target_names}

    def simulate_field(
        self,
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
        by Runge-Kutta of fourth order with step control (ETDRK4): stiff diffusion or u_xxxx cost nothing, but
        stiff terms with varying coefficients such as ``u u_xxx`` make steps small.

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
        >>> x = 2 * np.pi * np.arange(32) / 32
        >>> heat = Model.from_coefficients({"u_t": {"u_xx": 0.5}})
        >>> run = heat.simulate_field(np.sin(x), [0.0, 2.0], periods=2 * np.pi)
        >>> bool(np.allclose(run["u"][:, -1], np.exp(-1.0) * np.sin(x)))
        True
        """
        self._need(True, "simulate_field", "simulate")
        options = FieldOptions(rtol, atol, max_abs, max_steps, dealias)
        return simulate_field(self._phase, self.variables, u0, t, coords, periods, options)

    def scores(
        self,
        data: scoring.Data,
        t: ArrayLike | None = None,
        *,
        u: Samples | None = None,
        parameters: Mapping[str, float] | None = None,
        differentiation: scoring.Differentiation | None = None,
        horizon: int = 1,
    ) -> dict[str, float]:
        """Return R^2 of every equation: how much of the measured time derivative (maps: next samples) it explains.

        Parameters
        ----------
        data
            States (n, d) with ``t`` and ``u``, a frame (read by name), `Trajectories` or a `Field`. Measured
            derivatives are used.
        t, u, parameters
            Times, controls and parameters beside an array; of a frame the time column, ``t`` or ``time`` by default.
        differentiation
            Differences of fourth order by default, which suit clean data only: a right model scores low on noisy
            derivatives. Pass ``SmoothedFiniteDifference()`` for noisy data.
        horizon
            Maps: the number of steps that are predicted from every sample. Errors of a chaotic map grow with it.
        """
        if self.is_map:
            return scoring.map_scores(self._sampled, data, t, u, horizon, parameters)
        if horizon != 1:
            raise DataError(f"score(horizon={horizon!r}): only maps (x[k+1]) are scored over several steps.")
        if self.is_field:
            return scoring.field_scores(self.rows, self.variables, data, differentiation)
        return scoring.trajectory_scores(self._sampled, data, t, u, differentiation, parameters)

    def score(
        self,
        data: scoring.Data,
        t: ArrayLike | None = None,
        *,
        u: Samples | None = None,
        parameters: Mapping[str, float] | None = None,
        differentiation: scoring.Differentiation | None = None,
        horizon: int = 1,
    ) -> float:
        """Return the mean of `scores` over the equations; 1 is perfect."""
        scores = self.scores(data, t, u=u, parameters=parameters, differentiation=differentiation, horizon=horizon)
        return float(np.mean([*scores.values()]))

    def shares(
        self,
        data: scoring.Data | Problem,
        t: ArrayLike | None = None,
        *,
        u: Samples | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> dict[str, dict[str, float]]:
        """Return how large each term is beside the whole right-hand side, by equation and name of the term.

        The share is rms(coefficient * term) / rms(right-hand side) over the data. Terms that cancel each other have
        shares above 1; one far below the others may be left out without much harm.

        Parameters
        ----------
        data
            States (n, d) with ``t`` and ``u``, a frame, or `Trajectories`: the root mean square is that over all
            samples. Or the `Problem` that the equations were fitted to: over its rows. A model of fields needs that,
            because derivatives of a noisy field on its grid are mostly noise, which the rows average away.
        t, u, parameters
            Times, controls and parameters beside an array; as for `scores`.

        Examples
        --------
        >>> model = Model.from_coefficients({"x'": {"x": -1.0, "x^3": 0.25}})
        >>> model.shares([[1.0], [-1.0], [1.0]], 0.1)
        {"x'": {'x': 1.3333333333333333, 'x^3': 0.3333333333333333}}
        """
        if isinstance(data, Problem):
            return row_shares(self.rows, data)
        if self.is_field or isinstance(data, Field):
            raise DataError("shares: for a model of fields pass the Problem it was fitted to, e.g. found.problem.")
        clock = 1.0 if self.is_map and t is None else t
        return sample_shares(self._sampled, scoring.as_trajectories(data, clock, u, self._sampled, parameters))

    def to_sympy(self) -> list[Any]:
        """Return one sympy ``Eq`` per equation, with symbols named as the states (needs sympy)."""
        return export.to_sympy(self.rows)

    def to_latex(self, digits: int | None = 6) -> str:
        """Return the equations as a LaTeX ``aligned`` environment."""
        return export.to_latex(self.rows, digits)

    def to_mathml(self) -> str:
        """Return the equations as one MathML ``<math>`` element, which browsers typeset."""
        return export.to_mathml(self.rows)

    def to_python(self, name: str = "rhs") -> str:
        """Return the right-hand side as the text of a Python function that needs NumPy only.

        It is ``rhs(t, state[, controls][, mu])``, with each parameter by name, of the first-order system (see
        `phase_names`), or of the fields by name. Of a map it is the next state, for lags with the states before it,
        and ``iterate(state, n)`` follows.
        """
        return export.to_python(self.rows, self.variables, name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as JSON: names, doubles in full, version, problem fingerprint, certificates."""
        model_file.write(path, self.variables, self.rows, self.fingerprint, self.certificates)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, library: Library | None = None) -> Model:
        """Read a model written by `save`.

        Parameters
        ----------
        path
            The file. Names in it are parsed, nothing is executed.
        library
            Where to find terms that are Python functions of your own, e.g. ``Terms([("f", function)])``.

        Raises
        ------
        DataError
            If the file cannot be read, is damaged or comes from a newer version.
        """
        return cls(*model_file.read(path, library))

    @cached_property
    def _phase(self) -> Phase:
        return phase_of(self.rows, self.variables)

    @cached_property
    def _sampled(self) -> Sampled:
        return Sampled(self.rows, self.variables)

    @cached_property
    def _simulator(self) -> Simulator:
        return Simulator(self._phase, self.variables)

    def _need(self, field: bool, method: str, other: str) -> None:
        if self.is_field != field:
            kind = "fields (u_t)" if self.is_field else "trajectories (x')"
            raise ProblemError(f"{method}: this is a model of {kind}; use {other} instead.")
