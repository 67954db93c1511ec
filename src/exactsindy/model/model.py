"""Model: governing equations that can be read, evaluated, simulated, exported and saved."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.certificate import Certificate
from exactsindy.data import Samples, Trajectory
from exactsindy.errors import ProblemError, suggests_keywords
from exactsindy.library import Library, Names, Variables
from exactsindy.model import compared, construct, export, model_file, on_grids
from exactsindy.model.coefficient_table import CoefficientTable
from exactsindy.model.equation import Equation
from exactsindy.model.iteration import MapIterator
from exactsindy.model.phase import Phase, phase_of
from exactsindy.model.sampled import Sampled
from exactsindy.model.simulation import Simulation
from exactsindy.model.simulation_inputs import Inputs, ParameterValues
from exactsindy.model.trajectory_simulation import Options, Simulator

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
    >>> import numpy as np
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

    @suggests_keywords(controls="u", time="t")
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

        A model whose states grow without limit raises no error: the simulation stops early and keeps what was reached.

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

    @suggests_keywords(controls="u", time="t")
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

        A map whose states grow without limit raises no error: the iteration stops early and keeps what was reached.

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

    # Methods whose job is another module's: their first argument is the model.
    rhs = on_grids.rhs
    residual = on_grids.residual
    simulate_field = on_grids.simulate_field
    scores = compared.scores
    score = compared.score
    shares = compared.shares

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
