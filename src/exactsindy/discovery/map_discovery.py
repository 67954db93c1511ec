"""One call from samples of a discrete map to a model: the stages of `discover` where there is nothing to smooth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from exactsindy.constraints import by_equation
from exactsindy.data import Notice, Trajectories
from exactsindy.discovery.adequacy import withheld
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.explain import SMALL_RESIDUAL, ambiguity_notices, residual_notices, selection_notices
from exactsindy.discovery.map_search import compare_maps, measured_map
from exactsindy.discovery.map_tests import tested_map
from exactsindy.discovery.prepare import Prepared
from exactsindy.discovery.prove import Proved, prove
from exactsindy.discovery.read import Measurement
from exactsindy.discovery.recognise import step_notices
from exactsindy.discovery.refine import Refined, concluded
from exactsindy.discovery.request import Request, default_library, largest_size
from exactsindy.discovery.select import attempts, is_cut_short, is_interrupted
from exactsindy.discovery.trajectory_search import Comparison
from exactsindy.discovery.variants import Variant
from exactsindy.errors import ProblemError
from exactsindy.forms import MapForm, lagged
from exactsindy.selection import GrowthRatio, Selection
from exactsindy.solver import Total
from exactsindy.trajectory_fit import MeasuredMap

# Fraction of the time limit for trajectory fits, and samples beyond which there are none: a fit takes time in
# proportion to them, and one-step rows of so many samples leave little to choose.
_FIT_SHARE, _MOST_SAMPLES = 0.4, 50_000
_CLEAN = Notice("clean", "What the equations leave of the samples is rounding: the data have no noise.")


@dataclass(frozen=True, eq=False)
class MapAnswer:
    """The data as steps of a map, the selection with its proof, and what to be careful about."""

    data: Trajectories
    prepared: Prepared
    proved: Proved
    selection: Selection
    notices: tuple[Notice, ...]
    noise: Mapping[str, float]


def discover_map(measured: Measurement, request: Request, form: MapForm, clock: Clock) -> MapAnswer:
    """Return the answer for samples of a map; `OutOfTime` if the call is over before there is one."""
    clock.begin("making the regression of steps")
    if request.library is not None and request.library.is_open:
        text = f"discover(library={request.library!r}): quotients and inner constants are not searched for maps"
        raise ProblemError(f"{text}; write the terms with their constants, e.g. Terms(['x/(0.5 + x)']).")
    data = form.steps(measured.data)
    library = default_library(lagged(data, form.lags)) if request.library is None else request.library
    variant = Variant.of("one-step rows", form, data, library)
    k_max = largest_size(request.k_max, data, variant.problem)
    rule = GrowthRatio() if isinstance(request.rule, str) else request.rule
    prepared = Prepared(data, library, (variant,), k_max, rule)
    refined, compared = _chosen(prepared, request, form, clock)
    selection = refined.selection
    if compared is not None:
        clock.begin("testing whether the library holds the law")
        with clock.optional("tests whether the library holds the law"):
            selection = tested_map(selection, prepared, compared, form)
    proved = prove(selection, request, clock)
    notices = [*_notices(measured, prepared, replace(refined, selection=proved.selection), compared, proved)]
    notices += [*proved.notices, *clock.notices()]
    selection, noise = withheld(proved.selection, notices), _noise(data, compared)
    return MapAnswer(data, prepared, proved, selection, tuple(dict.fromkeys(notices)), noise)


def _noise(data: Trajectories, compared: Comparison | None) -> dict[str, float]:
    """Return the noise of each state where trajectories were fitted."""
    if compared is None or not isinstance(compared.measured, MeasuredMap):
        return {}
    sizes = compared.measured.with_noise_of(compared.fit.states).noise
    return dict(zip(data.state_names, sizes.tolist(), strict=True))


def _chosen(prepared: Prepared, request: Request, form: MapForm, clock: Clock) -> tuple[Refined, Comparison | None]:
    """Return the first selection that trajectory fits resolve or whose sizes are proved, or the last one."""
    clock.begin("searching the best supports of every size")
    for searched in attempts(prepared, request, clock):
        selection = searched.selection
        refined = Refined(_without_confidence(selection) if isinstance(request.rule, str) else selection)
        compared = None
        clock.begin("fitting trajectories")
        with clock.optional("trajectory fits"):
            compared = _compared(refined.selection, prepared, request, form, clock)
            if compared is not None and not isinstance(prepared.k_max, Total):
                constraints = by_equation(selection.path.problem, request.constraints) or ()
                settings = clock.share(_FIT_SHARE)
                refined = concluded(refined.selection, compared, prepared.k_max, settings, constraints)
        if refined.whiteness is not None or searched.enough or is_interrupted(refined.selection) or clock.is_over():
            break
        clock.begin("searching the best supports of every size")
    if is_cut_short(refined.selection):
        clock.cut.append("the search of the best supports of every size")
    return refined, compared if refined.whiteness is not None else None


def _compared(
    selection: Selection, prepared: Prepared, request: Request, form: MapForm, clock: Clock
) -> Comparison | None:
    """Return the model with the most likely trajectory; None if there is none, or what was asked for forbids fits."""
    data, k_max = prepared.data, prepared.k_max
    if not request.allows_trajectory_fits or isinstance(k_max, Total) or is_interrupted(selection):
        return None
    constraints = by_equation(selection.path.problem, request.constraints)
    if constraints is None or not isinstance(data, Trajectories) or data.n_samples > _MOST_SAMPLES:
        return None
    samples = measured_map(data, prepared.library, form)
    return compare_maps(selection, samples, prepared.library, k_max, clock.share(_FIT_SHARE), constraints)


def _without_confidence(selection: Selection) -> Selection:
    """Return a selection by the growth ratio without its probability, which was measured on rows of another kind."""
    choices = tuple(replace(choice, confidence=math.nan) for choice in selection.choices)
    return replace(selection, choices=choices)


def _notices(
    measured: Measurement, prepared: Prepared, refined: Refined, compared: Comparison | None, proved: Proved
) -> list[Notice]:
    """Return what a reader should know about the data and the choice."""
    selection, data = refined.selection, prepared.data
    assert isinstance(data, Trajectories)
    assert isinstance(measured.data, Trajectories)
    k_max = prepared.k_max.k if isinstance(prepared.k_max, Total) else prepared.k_max
    warnings = [notice for notice in measured.data.warnings if notice.kind != "gap"]
    notices = [*measured.notices, *prepared.notices, *warnings, *selection_notices(selection, k_max)]
    if len(data) > len(measured.data):
        text = f"Samples are missing at {len(data) - len(measured.data)} places: no step of the map goes across them."
        notices.append(Notice("gap", text))
    if refined.whiteness is not None:
        residuals = residual_notices(refined.whiteness, (), selection.solution.coef)
        notices += [_CLEAN if notice.kind == "clean" else notice for notice in residuals]
        if (refined.whiteness.ratio < SMALL_RESIDUAL).all():
            notices = [notice for notice in notices if notice.kind != "size"]  # no term is missing from rounding
    if proved.pool is not None:
        notices += ambiguity_notices(proved.pool)
    noise = None if compared is None else getattr(compared.measured, "noise", None)
    sizes = {choice.equation: choice.k for choice in selection.choices}
    return [*notices, *step_notices(data, noise, sizes)]
