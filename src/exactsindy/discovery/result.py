"""What a discovery returns: a model with its proof, its rivals, and what to be careful about."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exactsindy._types import Array
from exactsindy.certificate import Certificate
from exactsindy.data import Data, Notice, Samples, Trajectories
from exactsindy.discovery.alternatives import other_size, other_support
from exactsindy.discovery.json_record import discovery_record
from exactsindy.discovery.run_folder import read_run, write_run
from exactsindy.errors import DataError, SolverError
from exactsindy.model import CoefficientTable, FieldSimulation, InnerConstant, Model, Simulation
from exactsindy.problem import Problem
from exactsindy.report import describe, held_out_scores, verdicts
from exactsindy.selection import Choice, Selection
from exactsindy.solver import Member, Pool, Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False, repr=False)
class Discovery:
    """Equations found in data, certified, with what is known about their alternatives.

    Attributes
    ----------
    model
        The equations: predict, simulate, export, save.
    selection
        How the sizes were chosen: path, table, confidence, inclusion shares.
    problem
        The regression that was solved.
    pool
        Per equation the best supports of the chosen size, best first; ``None`` if they were not computed.
    warnings
        What to be careful about; each has a kind, a message and, where it is about one, the equation.
    data
        What was measured, checked.
    solution
        The coefficients shown, which `at` may have changed from those selected.
    arguments
        What was asked for, as text.
    constants
        The constants inside terms, such as K in ``x/(K + x)``, with their standard errors; none for concrete libraries.
    tried
        What was tried to find the library, in words; empty where a library was given whose terms are concrete.
    about
        What else a run folder says: its versions, the command line; empty unless it was loaded.
    residuals
        The residual of each equation in units of the noise, where it was computed; 1 if only noise is left.
    noise
        The standard deviation of the noise of each state, in its own units, where it was estimated.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> t = np.arange(0.0, 20.0, 0.02)
    >>> x = np.column_stack([np.cos(t), -np.sin(t)]) + 0.01 * np.random.default_rng(0).normal(size=(1000, 2))
    >>> found = es.discover(x, t, states=("x", "v"))
    >>> found.model.equations(2), found.identified, found.verdict["x'"]
    (["x' = v", "v' = -x"], True, 'confidence over 99 %')
    """

    model: Model
    selection: Selection
    problem: Problem
    pool: Pool | None
    warnings: tuple[Notice, ...]
    data: Data = field(repr=False)
    solution: Solution = field(repr=False)
    arguments: Mapping[str, str] = field(default_factory=dict, repr=False)
    constants: tuple[InnerConstant, ...] = ()
    tried: tuple[str, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict, repr=False)
    residuals: Mapping[str, float] = field(default_factory=dict, repr=False)
    noise: Mapping[str, float] = field(default_factory=dict, repr=False)

    @property
    def equations(self) -> list[str]:
        """The equations as text."""
        return self.model.equations()

    @cached_property
    def shares(self) -> dict[str, dict[str, float]]:
        """How large each term is beside the whole right-hand side: ``{equation: {term: share}}``; see `Model.shares`.

        rms(coefficient * term) / rms(right-hand side) over the samples, for fields over the rows of the regression.
        """
        return self.model.shares(self.problem if self.model.is_field else self.data)

    @cached_property
    def held_out(self) -> dict[str, float | None]:
        """R^2 of each equation on parts of the data that its coefficients were not fitted to; None if not computed.

        The data are cut into 5 parts in time; the coefficients are fitted without a part and predict its rates,
        averaged over windows. 1 is perfect, 0 no better than a constant rate. The terms were chosen with all data.
        """
        return held_out_scores(self.model.rows, self.data)

    @property
    def headlines(self) -> dict[str, str]:
        """The verdict on each equation as one sentence to quote: ``"Identified, over 99 %: x' = v."``."""
        return {verdict.equation: verdict.sentence for verdict in verdicts(self)}

    @property
    def coefficients(self) -> CoefficientTable:
        """Coefficients, standard errors and shares of all terms as a labelled table; print it."""
        return CoefficientTable.of(self.model.rows, self.shares)

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """What is proved about each equation, to store and to check with `verify`."""
        return self.solution.certificates

    @property
    def confidence(self) -> dict[str, float | None]:
        """Probability that the terms of each equation are exactly the true ones.

        ``None`` where the rule gives none, for terms that `at` put in place of those selected, and where it is withheld
        because the library does not seem to hold the law (`verdict` says why). A shared budget has one entry for all
        equations.
        """
        shown = {name: math.nan if choice is None else choice.confidence for name, choice in self._choices().items()}
        return {name: None if math.isnan(value) else value for name, value in shown.items()}

    @property
    def identified(self) -> bool:
        """Whether every equation shown is the one selected and more likely right than not, as its headline says.

        False too where residuals are far larger than the noise, or where no term was found.
        """
        sure = all(choice is not None and choice.identified for choice in self._choices().values())
        return sure and all(verdict.tone != "bad" for verdict in verdicts(self))

    @property
    def verdict(self) -> dict[str, str]:
        """How sure each equation is, in words."""
        other = "not the terms that were selected"
        return {name: other if choice is None else choice.words() for name, choice in self._choices().items()}

    @property
    def rivals(self) -> dict[str, tuple[Member, ...]]:
        """The best supports of the chosen size of each equation, best first; number n is ``at(rival={equation: n})``.

        Empty if they were not computed: for a shared budget, under constraints, after Ctrl-C.
        """
        return {} if self.pool is None else {name: tuple(members) for name, members in self.pool.members.items()}

    def _choices(self) -> dict[str, Choice | None]:
        """Return the choice of each equation; None where the terms shown are not those selected."""
        shown, selected, choices = self.solution.support, self.selection.solution.support, self.selection.choices
        if len(choices) < len(shown):  # one choice for all equations
            return {choices[0].equation: choices[0] if shown == selected else None}
        return {choice.equation: choice if shown[i] == selected[i] else None for i, choice in enumerate(choices)}

    def at(
        self, *, k: int | Sequence[int] | Mapping[str, int] | None = None, rival: int | Mapping[str, int] | None = None
    ) -> Discovery:
        """Return the discovery with other sizes, or with a rival of the same sizes.

        Parameters
        ----------
        k
            Number of terms: an int for all equations, or ``{"x'": 2}`` for some, the others staying as they are.
        rival
            ``{"x'": 2}``: the second best support of that equation, of the same size. An int ranks whole models:
            2 is the model that fits next best, where the equation with the closest rival takes it.

        Raises
        ------
        SolverError
            If both or neither are given, or there is no such size or rival.
        """
        if rival is not None and k is None:
            solution = other_support(self.pool, self.solution, rival)
        elif k is not None and rival is None:
            solution = other_size(self.selection.path, self.solution, k)
        else:
            raise SolverError("at(...): give one of k= (other sizes) and rival= (another support of the same size).")
        names = self.problem.target_names
        changed = {name for i, name in enumerate(names) if solution.support[i] != self.solution.support[i]}
        kept = {name: size for name, size in self.residuals.items() if name not in changed}
        model = Model.from_solution(solution, variables=self.data)
        return replace(self, model=model, solution=solution, residuals=kept)

    def predict(
        self,
        x: Samples,
        u: Samples | None = None,
        *,
        t: ArrayLike | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
    ) -> Array:
        """Return the right-hand sides at samples of the states; see `Model.predict`."""
        return self.model.predict(x, u, t=t, parameters=parameters)

    def score(self, data: Any = None, t: ArrayLike | None = None, **options: Any) -> float:
        """Return the mean R^2 of the time derivatives of data, by default of those measured; see `Model.score`.

        The derivatives of noisy data are noisy: `held_out` is the better measure of the data at hand.
        """
        return self.model.score(self.data if data is None else data, t, **options)

    def simulate(self, *arguments: Any, **options: Any) -> Simulation | FieldSimulation:
        """Return the model's trajectory from a start; see `Model.simulate`, `simulate_field` and, for maps, `iterate`.

        ``parameters`` may also be the number of a measured trajectory, whose parameters are taken; 0, the first, by
        default.
        """
        if self.model.is_field:
            return self.model.simulate_field(*arguments, **options)
        if self.model.parameter_names and isinstance(options.setdefault("parameters", 0), int):
            options["parameters"] = parameters_of(self.data, options["parameters"])
        run = self.model.iterate if self.model.is_map else self.model.simulate
        return run(*arguments, **options)

    def plot(self, *, trajectory: int = 0, ax: Axes | Sequence[Axes] | None = None) -> list[Axes]:
        """Plot the measured states and the model simulated from where the measurement began; see `plots.fit`."""
        from exactsindy.plots import fit

        return fit(self, trajectory=trajectory, ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain lists, texts and numbers, as ``exactsindy discover --json`` prints it.

        The page on the command line has its JSON schema.
        """
        return discovery_record(self)

    def report(self, path: str | os.PathLike[str], *, title: str = "Governing equations") -> Path:
        """Write one self-contained HTML page: equations, proof, path, rivals, fit, data checks; see `report`."""
        from exactsindy.report import report

        return report(self, path, title=title)

    def save(self, folder: str | os.PathLike[str], *, about: Mapping[str, object] | None = None) -> Path:
        """Write everything into a folder that `load`, ``exactsindy verify`` and ``exactsindy report`` read.

        Parameters
        ----------
        folder
            The folder, made if need be; files of an earlier run in it are replaced.
        about
            What else is worth keeping, e.g. the command line; under ``constraints`` the texts of the constraints, if
            any (see `parse_constraint`): without them a run with constraints can be shown but not verified.

        Raises
        ------
        DataError
            If the folder cannot be written to.

        Examples
        --------
        >>> import exactsindy as es, numpy as np, tempfile
        >>> t = np.arange(0.0, 10.0, 0.05)
        >>> found = es.discover(np.exp(-t), t, states=("x",), degree=1)
        >>> folder = found.save(tempfile.mkdtemp())
        >>> sorted(file.name for file in folder.iterdir())
        ['data.npz', 'model.json', 'problem.npz', 'results.json', 'run.json']
        >>> str(es.Discovery.load(folder)) == str(found)
        True
        """
        return write_run(self, folder, {**self.about, **(about or {})})

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Discovery:
        """Read what `save` wrote, and check that data and regression are those it was written with.

        Raises
        ------
        DataError
            If the folder is missing, is no run folder, or was changed.
        """
        return cls(**read_run(folder))

    def __str__(self) -> str:
        return describe(self)

    def _repr_html_(self) -> str:
        from exactsindy.report import discovery_html

        return discovery_html(self)

    def __repr__(self) -> str:
        return f"<Discovery {'; '.join(self.model.equations(4))}>"


def parameters_of(data: Data, index: int) -> dict[str, float]:
    """Return the parameters of a measured trajectory."""
    assert isinstance(data, Trajectories)
    if not 0 <= index < len(data):
        raise DataError(f"parameters={index}: there are {len(data)} trajectories; expected 0 to {len(data) - 1}.")
    return dict(data[index].parameters)
