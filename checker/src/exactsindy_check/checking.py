"""The whole check: files in, a report out; large proofs are shared between processes."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from exactsindy_check import scope
from exactsindy_check.budgets import JointClaims
from exactsindy_check.claims import Claims, Proved
from exactsindy_check.conditions import Conditions, Supports
from exactsindy_check.constrained import ConstrainedClaims
from exactsindy_check.errors import NotChecked, Refuted, Unreadable
from exactsindy_check.instance import Instance, read_instance
from exactsindy_check.proof_file import Budget, Proof, Section, read_proof
from exactsindy_check.section import Walk, equation_of, require_tree, walk

_SMALL = 100  # leaves below which no other process is started
Progress = Callable[[int, int], None]  # leaves done, leaves in all


@dataclass(frozen=True)
class SectionReport:
    """What was established about one section, and what was not."""

    number: int
    target: str
    k: int
    exactly: bool
    cut: float
    leaves: int
    proved: Proved
    terms: tuple[str, ...]  # the names of the proved support
    scope: str  # what is asked of supports and coefficients beside their number; empty: nothing
    sentences: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """True if the tree and the claims hold."""
        return not self.sentences

    def __str__(self) -> str:
        best, size = self.proved, f"{'exactly' if self.exactly else 'at most'} {self.k} terms"
        optimum = "no support"
        if best.support is not None:
            optimum = f"{', '.join(self.terms) or 'no terms'} with objective {best.objective!r}"
        following = "not at or below the cut" if best.runner_up is None else repr(best.runner_up)
        return (
            f"{self.target}, {size}{_about(self.scope)}: best is {optimum}; next best of as many terms: {following}; "
            f"{best.survivors} supports at or below the cut {self.cut!r}; {self.leaves} leaves."
        )


@dataclass(frozen=True)
class BudgetReport:
    """What was established about a budget that all equations share, and what was not."""

    budget: Budget
    terms: tuple[tuple[str, ...], ...]  # the names of the claimed supports
    scope: str
    sentences: tuple[str, ...]

    def __str__(self) -> str:
        budget = self.budget
        supports = "; ".join(", ".join(names) or "no terms" for names in self.terms)
        rival = "not claimed" if budget.runner_up is None else repr(budget.runner_up)
        return (
            f"All equations, at most {budget.k} terms together{_about(self.scope)}: best is ({supports}) with "
            f"objective {budget.objective!r}; next best of as many terms: {rival}."
        )


@dataclass(frozen=True)
class ConditionsReport:
    """What was established about equations under conditions on coefficients, and what was not."""

    conditions: Conditions
    targets: tuple[str, ...]
    terms: tuple[tuple[str, ...], ...]  # the names of the claimed supports
    scope: str
    sentences: tuple[str, ...]

    def __str__(self) -> str:
        claim, about = self.conditions, ", ".join(self.targets)
        if claim.supports is None:
            return f"{about}, under conditions{_about(self.scope)}: nothing satisfies them."
        supports = "; ".join(", ".join(names) or "no terms" for names in self.terms)
        rivals = ""
        if claim.rivals is not None:
            rivals = f"; {len(claim.rivals.members)} others of as many terms are at or below "
            rivals += repr(claim.rivals.limit)
        return (
            f"{about}, under {len(claim.rows)} conditions on coefficients and {len(claim.presence)} on presence, "
            f"{'in all' if claim.exactly else 'at most'} {claim.k} terms{_about(self.scope)}: best is "
            f"({supports}) with objective {claim.objective!r}{rivals}."
        )


def _about(scope: str) -> str:
    return f" ({scope})" if scope else ""


@dataclass(frozen=True)
class Report:
    """The result of a check: ``proved``, ``false``, ``unreadable`` or ``not checked``, and why."""

    outcome: str
    sentences: tuple[str, ...]
    sections: tuple[SectionReport, ...] = ()
    budgets: tuple[BudgetReport, ...] = ()
    conditions: tuple[ConditionsReport, ...] = ()
    seconds: float = 0.0
    silent: tuple[str, ...] = ()  # equations of the problem that no claim of the file is about

    @property
    def ok(self) -> bool:
        """True if every claim of the file is proved."""
        return self.outcome == "proved"

    def __str__(self) -> str:
        end = f"{self.outcome.capitalize()} ({self.seconds:.1f} s)."
        parts: tuple[_Part, ...] = (*self.sections, *self.budgets, *self.conditions)
        proved = [str(part) for part in parts if not part.sentences]
        silent = [f"{name}: nothing is claimed." for name in self.silent]
        return "\n".join(map(scope.one_line, [*proved, *silent, *self.sentences, end]))


_Part = SectionReport | BudgetReport | ConditionsReport


def check(
    problem: str | os.PathLike[str],
    proof: str | os.PathLike[str],
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Check a proof file against the problem file it is about.

    Parameters
    ----------
    problem :
        The npz file of the problem (``Problem.save``).
    proof :
        The proof file.
    jobs :
        Number of processes to start (each with one thread); 0: none, all is done here; None: as many as cores, or 0
        for a small proof.
    progress :
        Called with the number of leaves done and of all leaves.
    """
    begin = monotonic()
    try:
        instance, content = read_instance(problem), read_proof(proof)
        if content.problem != instance.fingerprint:
            raise Refuted("the proof is about another problem (the fingerprints differ).")
        if not content.sections and not content.conditions:
            raise Refuted("the file proves nothing: it has no sections.")
        walks, counts = _walks(os.fspath(problem), instance, content, jobs, progress)
        claims = {s.number: Claims(s, equation_of(instance, s), walks[s.number].survivors) for s in content.sections}
        sections = tuple(
            _report(instance, claims[s.number], walks[s.number], counts[s.number]) for s in content.sections
        )
        budgets = tuple(_budget_report(instance, budget, claims) for budget in content.budgets)
        conditions = tuple(_conditions_report(instance, entry, claims) for entry in content.conditions)
    except Unreadable as error:
        return Report("unreadable", (str(error),), seconds=monotonic() - begin)
    except NotChecked as error:
        return Report("not checked", (str(error),), seconds=monotonic() - begin)
    except Refuted as error:
        return Report("false", (str(error),), seconds=monotonic() - begin)
    parts: tuple[_Part, ...] = (*sections, *budgets, *conditions)
    sentences = tuple(sentence for part in parts for sentence in part.sentences)
    outcome = "false" if sentences else "proved"
    return Report(outcome, sentences, sections, budgets, conditions, monotonic() - begin, _silent(instance, content))


def _silent(instance: Instance, content: Proof) -> tuple[str, ...]:
    """Return the equations that the file says nothing about: a true proof of the others is not one of these."""
    claimed = {section.equation for section in content.sections if section.claim is not None}
    claimed |= {e for entry in content.conditions for e in entry.equations}
    return tuple(name for e, name in enumerate(instance.target_names) if e not in claimed)


def _name(section: Section) -> str:
    return f"section {section.number} ({section.target}, k = {section.k})"


def _walks(
    problem: str, instance: Instance, proof: Proof, jobs: int | None, progress: Progress | None
) -> tuple[dict[int, Walk], dict[int, int]]:
    """Return what was found in the tree of each section, and the number of its leaves."""
    total, counts = 0, {}
    for section in proof.sections:
        try:
            counts[section.number] = require_tree(proof, equation_of(instance, section), section)
        except Refuted as error:
            raise Refuted(f"{_name(section)}: {error}") from error
        total += counts[section.number]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    many = jobs if jobs is not None else (cores if total > _SMALL else 0)
    done = [0]

    def advance(leaves: int) -> None:
        done[0] += leaves
        if progress is not None:
            progress(done[0], total)

    if many > 0:
        return _shared(problem, f"{instance.fingerprint} {proof.digest}", proof, many, advance), counts
    return {s.number: walk(proof, equation_of(instance, s), s, progress=advance) for s in proof.sections}, counts


def _report(instance: Instance, claims: Claims, found: Walk, leaves: int) -> SectionReport:
    section = claims.section
    faults = found.sentences or list(claims.faults())
    if not faults and found.leaves != leaves:
        faults = [f"{found.leaves} of {leaves} leaves were looked at."]
    proved = claims.proved()
    return SectionReport(
        section.number,
        section.target,
        section.k,
        section.exactly,
        section.cut,
        leaves,
        proved,
        tuple(instance.names(section.equation)[j] for j in proved.support or ()),
        scope.of_section(section, instance.names(section.equation)),
        tuple(f"{_name(section)}: {fault}" for fault in faults),
    )


def _budget_report(instance: Instance, budget: Budget, claims: dict[int, Claims]) -> BudgetReport:
    faults = JointClaims(budget, claims, len(instance.target_names)).faults()
    sentences = tuple(f"{JointClaims.name(budget)}: {fault}" for fault in faults)
    names = [instance.names(e) for e in range(len(instance.target_names))]
    sections = [claims[own[0]].section for own in budget.sections]
    return BudgetReport(budget, _named(names, budget.supports), scope.of_budget(budget, sections, names), sentences)


def _conditions_report(instance: Instance, entry: Conditions, claims: dict[int, Claims]) -> ConditionsReport:
    constrained = ConstrainedClaims(entry, claims, len(instance.target_names))
    sentences = tuple(f"{ConstrainedClaims.name(entry)}: {fault}" for fault in constrained.faults())
    targets = tuple(instance.target_names[e] for e in entry.equations)
    names = [instance.names(e) for e in entry.equations]
    sections = [claims[own[0]].section for own in entry.sections if entry.supports is not None]
    about = scope.of_conditions(entry, sections, targets, names)
    return ConditionsReport(entry, targets, _named(names, entry.supports or ((),) * len(names)), about, sentences)


def _named(names: Sequence[Sequence[str]], supports: Supports) -> tuple[tuple[str, ...], ...]:
    """Return the names of the terms of a joint support."""
    chosen = zip(names, supports, strict=True)
    return tuple(tuple(terms[j] for j in support if j < len(terms)) for terms, support in chosen)


def _shared(problem: str, digests: str, proof: Proof, jobs: int, advance: Callable[[int], None]) -> dict[int, Walk]:
    """Walk all sections in `jobs` processes, each with its share of the leaves."""
    results: dict[int, Walk] = {section.number: Walk() for section in proof.sections}
    lock, failures = threading.Lock(), list[str]()
    one_thread = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    with contextlib.ExitStack() as stack:
        processes = []
        for i in range(jobs):
            share = [str(i), str(jobs), problem, proof.path, digests]
            command = [sys.executable, "-m", "exactsindy_check.sharing", *share]
            environment = {**os.environ, **one_thread, "PYTHONPATH": path}
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment)
            stack.enter_context(process)
            stack.callback(process.kill)
            processes.append(process)

        def follow(process: subprocess.Popen[bytes]) -> None:
            assert process.stdout is not None
            complete = False
            for line in process.stdout:
                message = json.loads(line)
                with lock:
                    if "leaves" in message:
                        advance(message["leaves"])
                    elif "failure" in message:
                        failures.append(message["failure"])
                    elif "end" in message:
                        complete = True
                    else:
                        _merge(results[message["section"]], message)
            if not complete:
                failures.append("a process of the check ended before its share was done.")

        followers = [threading.Thread(target=follow, args=(process,)) for process in processes]
        for follower in followers:
            follower.start()
        for follower in followers:
            follower.join()
    if failures:
        raise NotChecked(failures[0])
    return results


def _merge(result: Walk, message: dict[str, Any]) -> None:
    """Add what one process found in a section."""
    leaves, survivors, sentences = message["found"]
    result.leaves += leaves
    result.survivors |= {tuple(support) for support in survivors}
    result.sentences += sentences


def progress_lines(every: float = 1.0) -> Progress:
    """Return a progress function that writes a line to standard error about once per second."""
    begin = monotonic()
    last = [begin]

    def show(done: int, total: int) -> None:
        now = monotonic()
        if now - last[0] >= every:
            last[0] = now
            sys.stderr.write(f"{done} of {total} leaves, {now - begin:.0f} s\n")
            sys.stderr.flush()

    return show
