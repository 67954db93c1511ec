"""Measure `discover` on what people try first; every case is on disk as soon as it is measured, a failure too."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from exactsindy.discovery import Discovery, discover
from exactsindy_experiments.first_contact_data import ContactData, load
from exactsindy_experiments.first_contact_rows import SURE, ContactCase, ContactRow, contact_table, version
from exactsindy_experiments.likelihood_ceiling import law_lead, truth_leads
from exactsindy_experiments.selection_benchmark import at_true_size
from exactsindy_experiments.workers import Json, Worker, command, run_bundles

#: Time limit of one call of `discover`, and how long a worker may take for a case altogether.
SECONDS, PATIENCE = 120.0, 400.0
# Where the likelihood of the true terms and the best subset of the true size are computed as well.
_CEILING_PARTS = ("heavy", "random")
# Equations of second order that follow from laws outside the library and are inside it, by family and equation.
_SECOND_ORDER = {
    ("position_only", "x''"): (frozenset({"x", "x'"}), frozenset({"x", "x'", "x^2 x'"})),
    ("hidden_roessler", "x''"): (frozenset({"1", "x", "z", "x'", "x z"}),),
    ("hidden_lorenz", "x''"): (frozenset({"x", "x'", "x z"}),),
}


def run_contact(
    cases: Sequence[ContactCase], folder: Path, label: str, *, processes: int = 1, say: Callable[[str], None] = print
) -> None:
    """Measure the cases that ``folder`` does not hold yet.

    Cases of one system follow one another in one process, so that it is drawn once.
    """
    table = contact_table(folder, label)
    present = {row.case for row in table}
    bundles: dict[tuple[str, int], list[ContactCase]] = {}
    for case in cases:
        if case not in present:
            bundles.setdefault((case.system, case.seed), []).append(case)
    todo = sum(map(len, bundles.values()))
    say(f"{len(cases) - todo} data sets present, {todo} to measure.")
    begin, done = time.monotonic(), 0

    def take(case: ContactCase, rows: list[ContactRow]) -> None:
        nonlocal done
        done += 1
        table.append(*rows)
        left = (time.monotonic() - begin) / done * (todo - done) / 60
        told = rows[0].failure or f"{sum(row.right for row in rows)} of {len(rows)} right, {rows[0].seconds:.1f} s"
        say(f"[{done}/{todo}] {case}: {told}; {left:.0f} min left")

    run_bundles(list(bundles.values()), processes, _ask, take, command=command(__name__))


def _ask(worker: Worker, case: ContactCase) -> list[ContactRow]:
    try:
        told = worker.ask(dataclasses.asdict(case), PATIENCE)
    except TimeoutError:
        worker.stop()
        return [_failure(case, f"no answer within {PATIENCE:g} s")]
    except ConnectionError as error:
        return [_failure(case, str(error))]
    return [ContactRow(case=case, **row) for row in told["rows"]]


def answer(request: Json) -> Json:
    """Measure one case in a worker process."""
    rows = measure_contact(ContactCase(**request))
    values = [{f.name: getattr(row, f.name) for f in dataclasses.fields(row) if f.name != "case"} for row in rows]
    return {"rows": values}


def measure_contact(case: ContactCase) -> list[ContactRow]:
    """Return the rows of one case; if `discover` raises, they say so."""
    try:
        loaded = load(case)
    except Exception as error:
        return [_failure(case, f"no data: {type(error).__name__}: {error}")]
    begin = time.process_time()
    try:
        found = discover(loaded.data, library=loaded.library, seconds=SECONDS, threads=1)
    except Exception as error:
        text, seconds = f"{type(error).__name__}: {error}", time.process_time() - begin
        return [
            _failure(case, text, target, inside=terms is not None, seconds=seconds)
            for target, terms in loaded.truth.items()
        ]
    return _rows(case, loaded, found, time.process_time() - begin)


def _rows(case: ContactCase, loaded: ContactData, found: Discovery, seconds: float) -> list[ContactRow]:
    known = {target: terms for target, terms in loaded.truth.items() if terms is not None}
    best: dict[str, bool] = {}
    leads: dict[str, float] = {}
    if case.part in _CEILING_PARTS:
        at_size = at_true_size(found, known)
        best = {target: support == known[target] for target, support in zip(known, at_size, strict=True)}
        leads = _leads(loaded, known, found)
    if loaded.clean is not None and case.noise > 0:
        leads = _law_leads(loaded, found)
    rows = []
    for target, terms in loaded.truth.items():
        answered = _answered(found, target)
        chosen = frozenset(found.solution.terms[answered])
        confidence = found.confidence.get(answered)
        if chosen in _SECOND_ORDER.get((case.system, answered), ()):
            confidence = None  # another equation than this one, and a right one
        notices = [notice for notice in found.warnings if notice.equation in (None, answered)]
        rows.append(
            ContactRow(
                case=case,
                equation=target,
                inside=terms is not None,
                right=chosen == terms,
                confidence=None if confidence is None or math.isnan(confidence) else confidence,
                size=len(chosen),
                spurious=None if terms is None else len(chosen - terms),
                missing=None if terms is None else len(terms - chosen),
                about=_kinds(notice.kind for notice in notices if notice.equation == answered),
                warnings=_kinds(notice.kind for notice in notices),
                departure=loaded.departure.get(target),
                best_subset=best.get(target),
                lead=leads.get(target),
                seconds=seconds,
                version=version(),
                failure="",
            )
        )
    return rows


def _answered(found: Discovery, target: str) -> str:
    """Return the equation that was found for a target: x'' where second order was taken in place of x'."""
    return target if target in found.solution.terms else f"{target}'"


def _leads(loaded: ContactData, truth: dict[str, frozenset[str]], found: Discovery) -> dict[str, float]:
    """Return by how much the likelihood prefers the true terms, for the equations where that is known."""
    chosen = [frozenset(found.solution.terms[target]) for target in truth]
    try:
        leads = truth_leads(loaded.data, loaded.library, list(truth.values()), chosen)
    except Exception:  # the ceiling of a case is no reason to lose the case
        return {}
    return {target: lead for target, lead in zip(truth, leads, strict=True) if not math.isnan(lead)}


def _law_leads(loaded: ContactData, found: Discovery) -> dict[str, float]:
    """Return by how much the likelihood prefers the law to the model chosen, for wrong equations printed as sure."""
    outside = [target for target, terms in loaded.truth.items() if terms is None]
    sure = [target for target in outside if (found.confidence.get(target) or 0.0) >= SURE]
    if not sure or loaded.clean is None or any(target not in found.solution.terms for target in loaded.truth):
        return {}
    try:
        chosen = [frozenset(found.solution.terms[target]) for target in loaded.truth]
        lead = law_lead(loaded.data, loaded.library, loaded.clean, chosen)
    except Exception:  # as above
        return {}
    return {} if math.isnan(lead) else dict.fromkeys(sure, lead)


def _kinds(kinds: Iterable[str]) -> str:
    return ";".join(sorted(set(kinds)))


def _failure(
    case: ContactCase, text: str, equation: str = "", *, inside: bool = True, seconds: float = math.nan
) -> ContactRow:
    return ContactRow(
        case=case,
        equation=equation,
        inside=inside,
        right=False,
        confidence=None,
        size=0,
        spurious=None,
        missing=None,
        about="",
        warnings="",
        departure=None,
        best_subset=None,
        lead=None,
        seconds=seconds,
        version=version(),
        failure=text,
    )
