"""Faults planted into a copy of the checker's own source: each lemma weakened once, and the tests that must see it.

A fault is (file, text, replacement); the text stands once in the file. `tests` are the tests that are run against the
copy: at least one of them must fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).parent
_SOURCE = _HERE.parent / "src" / "exactsindy_check"


@dataclass(frozen=True)
class Fault:
    """An edit of one file, and the test that it must not survive."""

    file: str
    text: str
    replacement: str
    test: str = ""

    def survives(self, folder: Path) -> bool:
        """Plant the fault into a copy in `folder`, and return whether its test still passes there."""
        copy = folder / "exactsindy_check"
        shutil.copytree(_SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        file = copy / f"{self.file}.py"
        source = file.read_text()
        if source.count(self.text) != 1:
            raise ValueError(f"{self.file}: {self.text!r} stands there {source.count(self.text)} times")
        file.write_text(source.replace(self.text, self.replacement))
        module, _, name = self.test.partition("::")
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not campaign"]
        command += [str(_HERE / module) + (f"::{name}" if name else "")]
        path = os.pathsep.join([str(folder), str(_HERE)])
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=_HERE.parents[1])
        if done.returncode not in (0, 1):
            raise RuntimeError(done.stdout + done.stderr)
        return done.returncode == 0


# fmt: off
FAULTS = (
    # Lemma 1 and 3: the plain bound
    Fault("bounds", "    plain = 2.0 * (numbers.z @ w) - (w * w).sum(axis=0)", "    plain = 2.0 * (numbers.z @ w) - 0.9 * (w * w).sum(axis=0)", "test_bounds.py::test_computed_bounds_are_not_above_the_exact_ones[plain]"),  # noqa: E501
    Fault("bounds", "    lost = gamma * norm * (2.0 * numbers.z_norm + norm)", "    lost = 0.0 * norm", "test_bounds.py::test_computed_bounds_are_not_above_the_exact_ones[plain]"),  # noqa: E501
    Fault("bounds", "np.abs(numbers.a.T @ w) + gamma * numbers.norm[:, None] * norm + TINY", "np.abs(numbers.a.T @ w)", "test_bounds.py::test_computed_bounds_are_not_above_the_exact_ones[scales]"),  # noqa: E501
    Fault("bounds", "    g = np.abs(numbers.a.T @ w)", "    g = (numbers.a.T @ w)", "test_bounds.py::test_computed_bounds_are_not_above_the_exact_ones[plain]"),  # noqa: E501
    Fault("bounds", "        held = (2.0 * g - edge) * reach", "        held = (1.0 * g - edge) * reach", "test_bounds.py::test_computed_bounds_are_not_above_the_exact_ones[plain]"),  # noqa: E501
    Fault("bounds", "        free = g * g / ridge", "        free = 0.5 * g * g / ridge", "test_bounds.py::test_computed_bounds_are_not_above_the_exact_ones[ridge]"),  # noqa: E501
    Fault("bounds", "(ridge > 0) & (g <= edge)", "(ridge > 0) & (g > edge)", "test_bounds.py::test_computed_bounds_are_not_above_the_exact_ones[ridge]"),  # noqa: E501
    Fault("bounds", "    fixed = cost[inside].sum(axis=0)\n", "    fixed = 0.0 * cost[inside].sum(axis=0)\n", "test_bounds.py::test_computed_bounds_are_not_above_the_exact_ones[plain]"),  # noqa: E501
    Fault("bounds", "        take = min(slots, len(cost))", "        take = max(min(slots, len(cost)) - 1, 0)", "test_bounds.py::test_computed_bounds_are_not_above_the_exact_ones[plain]"),  # noqa: E501
    Fault("bounds", "np.partition(open_costs, len(cost) - take, axis=0)[len(cost) - take :]", "np.partition(open_costs, len(cost) - take, axis=0)[:take]", "test_bounds.py::test_computed_bounds_are_not_above_the_exact_ones[plain]"),  # noqa: E501
    Fault("bounds", "(lost + spent(cost, inside, free, slots))", "(lost - spent(cost, inside, free, slots))", "test_bounds.py::test_computed_bounds_are_not_above_the_exact_ones[plain]"),  # noqa: E501
    # Lemma 2: two-fold arithmetic
    Fault("twofold", "    return s + e\n", "    return s\n", "test_bounds.py::test_twofold_dots_are_within_their_error"),  # noqa: E501
    Fault("twofold", "product_error(a, high, p) + a * low", "product_error(a, high, p)", "test_bounds.py::test_twofold_dots_are_within_their_error"),  # noqa: E501
    Fault("twofold", "product_error(a, high, p) + a * low", "a * low", "test_bounds.py::test_twofold_dots_are_within_their_error"),  # noqa: E501
    Fault("twofold", "        low = low + error.sum(axis=0)\n", "", "test_bounds.py::test_twofold_dots_are_within_their_error"),  # noqa: E501
    Fault("twofold", "_SPLITTER = 2.0**27 + 1.0", "_SPLITTER = 2.0**40 + 1.0", "test_bounds.py::test_twofold_dots_are_within_their_error"),  # noqa: E501
    Fault("twofold", "(levels + 6) * UNIT**2", "(levels + 6) * UNIT**3", "test_bounds.py::test_twofold_dots_are_within_their_error"),  # noqa: E501
    Fault("bounds", "    return bool(over + rest - loss > 8.0 * UNIT * (np.abs(over) + np.abs(rest) + loss))", "    return bool(over + rest > 8.0 * UNIT * (np.abs(over) + np.abs(rest) + loss))", "test_bounds.py::test_computed_bounds_are_not_above_the_exact_ones[plain]"),  # noqa: E501
    Fault("bounds", "    over = value - numbers.cut\n    return bool", "    over = value - 0.999 * numbers.cut\n    return bool", "test_bounds.py::test_computed_bounds_are_not_above_the_exact_ones[plain]"),  # noqa: E501
    Fault("bounds", "+ 2.0 * low * (z - high)", "", "test_bounds.py::test_computed_bounds_are_not_above_the_exact_ones[plain]"),  # noqa: E501
    Fault("bounds", "twofold.product_error(-high, high, second)", "0.0 * second", "test_bounds.py::test_computed_bounds_are_not_above_the_exact_ones[plain]"),  # noqa: E501
    Fault("bounds", "    size = np.abs(g) * (1.0 + 4.0 * UNIT) + error * numbers.norm * norm + TINY\n    mask", "    size = 0.0 * np.abs(g)\n    mask", "test_bounds.py::test_computed_bounds_are_not_above_the_exact_ones[plain]"),  # noqa: E501
    # Lemma 4: drops
    Fault("node_bounds", "            mask[list(drop), i] = False", "            mask[list(free), i] = False", "test_bounds.py::test_what_only_guides_may_be_wrong[plain-0.001]"),  # noqa: E501
    Fault("node_bounds", "    return all(_refined(", "    return not left or any(_refined(", "test_bounds.py::test_what_only_guides_may_be_wrong[plain-0.001]"),  # noqa: E501
    Fault("node_bounds", "list(combinations(terms, t)))", "list(combinations(terms, t))[:1])", "test_bounds.py::test_bounds_of_nodes_never_lie[plain]"),  # noqa: E501
    Fault("node_bounds", "        left += [drop for drop, fine in zip(part, passed, strict=True) if not fine]\n", "", "test_bounds.py::test_bounds_of_nodes_never_lie[plain]"),  # noqa: E501
    Fault("node_bounds", "    if not math.isfinite(cut):\n        return False\n", "    if not math.isfinite(cut):\n        return True\n", "test_claims.py::test_nothing_exceeds_an_infinite_cut"),  # noqa: E501
    Fault("node_bounds", "    if cut < 0.0:\n        return True\n", "    if cut < 1e-3:\n        return True\n", "test_bounds.py::test_bounds_of_nodes_never_lie[plain]"),  # noqa: E501
    # Lemma 5: reach
    Fault("bounds", "    error = math.sqrt(numbers.cut) * (1.0 + 4.0 * UNIT) + TINY", "    error = 0.5 * math.sqrt(numbers.cut)", "test_bounds.py::test_reaches_hold[plain]"),  # noqa: E501
    Fault("bounds", "        spread = np.sqrt((left**2).sum(axis=1)) * (1.0 + gamma) * error", "        spread = 0.0 * np.sqrt((left**2).sum(axis=1))", "test_bounds.py::test_reaches_hold[plain]"),  # noqa: E501
    Fault("bounds", "        centre = np.abs(left @ numbers.z)", "        centre = 0.0 * np.abs(left @ numbers.z)", "test_bounds.py::test_reaches_hold[plain]"),  # noqa: E501
    Fault("bounds", "(centre + spread + defect @ reach * (1.0 + gamma))", "(centre + spread)", "test_bounds.py::test_reaches_hold[dependent]"),  # noqa: E501
    Fault("bounds", "error / np.sqrt(numbers.ridge) * (1.0 + 8.0 * UNIT), np.inf)", "0.7 * error / np.sqrt(numbers.ridge), np.inf)", "test_bounds.py::test_reaches_hold[ridge]"),  # noqa: E501
    Fault("bounds", "        defect = np.abs(np.eye(len(used)) - left @ a) + rounding + 4.0 * UNIT", "        defect = np.abs(np.eye(len(used)) - left @ a) * 0.0", "test_bounds.py::test_reaches_hold[dependent]"),  # noqa: E501
    Fault("instance", "limit * y_norm / np.maximum(lower, 0.0) * (1.0 + 8.0 * UNIT)", "limit * 1e-9 * y_norm / np.maximum(lower, 0.0)", "test_bounds.py::test_reaches_hold[plain]"),  # noqa: E501
    # Lemma 6: scans
    Fault("scan", "                 - (lean[m]".strip(), "- (0.0 * lean[m]", "test_bounds.py::test_what_only_guides_may_be_wrong[plain-1e-09]"),  # noqa: E501
    Fault("scan", "        part += 2.0 * (t[:m] - c)\n", "", "test_bounds.py::test_what_only_guides_may_be_wrong[plain-0.001]"),  # noqa: E501
    Fault("scan", "2.0001 * reach, out=g)", "0.0 * reach, out=g)", "test_bounds.py::test_scans_never_lie[dependent]"),
    Fault("scan", "2.0001 * reach, out=g)", "1.0 * reach, out=g)", "test_bounds.py::test_scans_never_lie[copies]"),
    Fault("scan", "np.abs(beta, out=term), per, out=term)", "np.abs(beta, out=term), 0.0 * per, out=term)", "test_bounds.py::test_scans_never_lie[copies]"),  # noqa: E501
    Fault("scan", "    delta = 4.0 * (n + p + 32) * UNIT", "    delta = 0.0", "test_bounds.py::test_what_only_guides_may_be_wrong[plain-1e-14]"),  # noqa: E501
    Fault("scan", "(np.abs(g, out=g), ", "(g, ", "test_bounds.py::test_what_only_guides_may_be_wrong[plain-0.001]"),
    Fault("scan", "        part, term = beta * (d + 4.0 * delta * size**2), alpha * own\n        part += term", "        part, term = beta * (d + 4.0 * delta * size**2), alpha * own", "test_bounds.py::test_scans_never_lie[near]"),  # noqa: E501
    Fault("scan", "np.subtract(constant, total, out=total) > numbers.cut)", "np.subtract(constant, total, out=total) > 0.999 * numbers.cut)", "test_bounds.py::test_scans_never_lie[plain]"),  # noqa: E501
    # Lemmas 7 and 8: perspective
    Fault("perspective", "    shift = entries + 4.0 * unit * float((diagonal + delta).sum()) + TINY", "    shift = 0.0", "test_bounds.py::test_semidefinite_is_never_claimed_of_an_indefinite_matrix"),  # noqa: E501
    Fault("perspective", "    gram[np.diag_indices(n)] = diagonal - delta - shift", "    gram[np.diag_indices(n)] = diagonal - 0.5 * delta - shift", "test_bounds.py::test_semidefinite_is_never_claimed_of_an_indefinite_matrix"),  # noqa: E501
    Fault("perspective", "    if not (np.isfinite(delta).all() and (delta >= 0.0).all()):\n        return False\n", "", "test_claims.py::test_delta_must_be_finite_and_not_negative"),  # noqa: E501
    Fault("perspective", "    if not np.isfinite(numbers.cut):\n        return False\n", "    if not np.isfinite(numbers.cut):\n        return True\n", "test_claims.py::test_nothing_exceeds_an_infinite_cut"),  # noqa: E501
    # Lemma 10: coverage
    Fault("tree", "            if not free & bit or slots < 1:", "            if not free & bit:", "test_proofs.py::test_steps_that_cannot_be_are_named"),  # noqa: E501
    Fault("tree", "            waiting.discard(chunk)\n".replace("            ", "        "), "", "test_proofs.py::test_steps_that_cannot_be_are_named"),  # noqa: E501
    Fault("tree", "    if waiting:\n        raise Refuted", "    if False:\n        raise Refuted", "test_proofs.py::test_steps_that_cannot_be_are_named"),  # noqa: E501
    Fault("tree", "    if reader.at != len(reader.data):", "    if False:", "test_proofs.py::test_steps_that_cannot_be_are_named"),  # noqa: E501
    Fault("tree", "    if code == SCAN and slots > 2:", "    if code == SCAN and slots > 9:", "test_proofs.py::test_steps_that_cannot_be_are_named"),  # noqa: E501
    Fault("tree", "    if code == ALL and free.bit_count() > slots:", "    if code == ALL and free.bit_count() > slots + 1:", "test_proofs.py::test_steps_that_cannot_be_are_named"),  # noqa: E501
    Fault("tree", "        if len(set(terms)) != slots + misses or", "        if len(set(terms)) < slots or", "test_proofs.py::test_steps_that_cannot_be_are_named"),  # noqa: E501
    Fault("section", "        if scanner.listing and not scanner.independent:\n            return \"terms", "        if False:\n            return \"terms", "test_constrained.py::test_a_section_with_a_list_refuses_dependent_terms"),  # noqa: E501
    Fault("section", "    if root(equation, section) is not None and not proof.chunks(section.number):\n        raise Refuted", "    if False:\n        raise Refuted", "test_proofs.py::test_steps_that_cannot_be_are_named"),  # noqa: E501
    # Lemma 9 and whole numbers
    Fault("exact", "_DISTANCE = Fraction(1, 10**13)", "_DISTANCE = Fraction(1, 10**9)", "test_bounds.py::test_exact_fits_agree_with_gram_schmidt"),  # noqa: E501
    Fault("exact", "_PRODUCT = Fraction(1, 2**80)", "_PRODUCT = Fraction(1, 2**20)", "test_bounds.py::test_exact_fits_agree_with_gram_schmidt"),  # noqa: E501
    Fault("exact", "                entry += int(Fraction(self._equation.ridge[i]) * (1 << (2 * self._shift[i])))", "                entry += 0", "test_bounds.py::test_exact_fits_agree_with_gram_schmidt"),  # noqa: E501
    Fault("exact", "        self._limit = Fraction(limit) ** 2 * equation.target_square", "        self._limit = Fraction(limit) * equation.target_square", "test_bounds.py::test_exact_fits_agree_with_gram_schmidt"),  # noqa: E501
    Fault("exact", "        return triangle.square * least.denominator > least.numerator * triangle.volume", "        return triangle.square * least.denominator >= least.numerator * triangle.volume", "test_bounds.py::test_survivors_of_a_scan_are_all_there"),  # noqa: E501
    Fault("exact", "            if pivot == 0:\n", "            if pivot <= 1:\n", "test_bounds.py::test_exact_fits_agree_with_gram_schmidt"),  # noqa: E501
    Fault("section", "        if scanner.exact.independence(leaf.inside) is Verdict.YES:", "        if False:", "test_proofs.py::test_steps_that_cannot_be_are_named"),  # noqa: E501
    # Lemma 11: shared budgets
    Fault("budgets", "        return None if None in bounds else max(b for b in bounds if b is not None)", "        return None", "test_budgets.py::test_no_changed_file_with_a_false_claim_is_accepted"),  # noqa: E501
    Fault("budgets", "            choices = [(True, value(e, size, support if size == len(support) else None))]", "            choices = []", "test_budgets.py::test_no_changed_file_with_a_false_claim_is_accepted"),  # noqa: E501
    Fault("budgets", "        if least is not None and not self._near(value, least) and value > least:", "        if False:", "test_budgets.py::test_worse_supports_with_their_own_objectives_are_refused"),  # noqa: E501
    Fault("budgets", "        if not self._near(Fraction(budget.objective), value):", "        if False:", "test_budgets.py::test_no_changed_file_with_a_false_claim_is_accepted"),  # noqa: E501
    Fault("budgets", "        if least is not None and least < value and not self._near(least, value):", "        if False:", "test_budgets.py::test_no_changed_file_with_a_false_claim_is_accepted"),  # noqa: E501
    Fault("budgets", "        if met is None or (met > value and not self._near(met, value)):", "        if False:", "test_budgets.py::test_no_changed_file_with_a_false_claim_is_accepted"),  # noqa: E501
    # Lemma 12: lists
    Fault("constrained", "            if not alike or not parts[0].section.listing or parts[0].section.rows:", "            if not alike or parts[0].section.rows:", "test_constrained.py::test_sections_that_list_not_all_supports_are_refused"),  # noqa: E501
    Fault("scan", "            if self.independent and self.exact.independence(support) is not Verdict.YES:\n                return False", "            if self.independent:\n                return False", "test_constrained.py::test_lists_hold_what_conditions_may_make_small_enough"),  # noqa: E501
    # Lemma 13: multipliers
    Fault("constrained", "        if not self._near(Fraction(claim.objective), value):", "        if False:", "test_constrained.py::test_no_mutant_with_a_false_claim_is_accepted"),  # noqa: E501
    Fault("exact", "                bounded = bounded and row[size] == 0\n", "", "test_constrained.py::test_lowered_values_are_the_least_ones"),  # noqa: E501
    Fault("linear", "    if any(line[size] for line in rows[len(pivots) :]):\n        return None\n", "", "test_constrained.py::test_linear_equations_are_solved_or_refused"),  # noqa: E501
    # Lemma 14: presence
    Fault("constrained", "            if least > rule.limit:\n                return None", "            if least >= rule.limit:\n                return None", "test_constrained.py::test_terms_that_are_decided_are_so_in_every_support"),  # noqa: E501
    Fault("constrained", "                    flags[t] = c < 0\n", "                    flags[t] = c > 0\n", "test_constrained.py::test_terms_that_are_decided_are_so_in_every_support"),  # noqa: E501
    # Lemma 15: rivals
    Fault("constrained", "                if fewer and sum(map(len, part.supports)) < terms:", "                if sum(map(len, part.supports)) < terms:", "test_constrained.py::test_a_part_must_be_one"),  # noqa: E501
    # Claims of a section
    Fault("claims", "        if cut is not None and fit.value > cut:", "        if False:", "test_claims.py::test_false_claims_of_a_section_are_refused"),  # noqa: E501
    Fault("claims", "        if not self._tied(fit.value, least):", "        if False:", "test_claims.py::test_false_claims_of_a_section_are_refused"),  # noqa: E501
    Fault("claims", "_TIE = Fraction(1, 2**76)", "_TIE = Fraction(1, 2**20)", "test_claims.py::test_a_support_that_is_a_little_worse_is_no_tie"),  # noqa: E501
    Fault("claims", "CLAIM = Fraction(1, 10**12)", "CLAIM = Fraction(1, 10**6)", "test_claims.py::test_false_claims_of_a_section_are_refused"),  # noqa: E501
    Fault("claims", "            if self.section.exact_cut is not None:\n                yield \"the claim is that there is no other", "            if False:\n                yield \"the claim is that there is no other", "test_claims.py::test_false_claims_of_a_section_are_refused"),  # noqa: E501
    Fault("claims", "        for other in below[:1]:", "        for other in below[:0]:", "test_claims.py::test_false_claims_of_a_section_are_refused"),  # noqa: E501
    Fault("claims", "        if cut is not None and (limit is None or limit > cut):", "        if False:", "test_claims.py::test_false_pools_are_refused"),  # noqa: E501
    Fault("claims", "            if len(support) == k and inside and support not in listed:", "            if False:", "test_claims.py::test_false_pools_are_refused"),  # noqa: E501
    Fault("claims", "        if claim.at_most > self.section.k and not self._unbeatable(fit.value):", "        if False:", "test_claims.py::test_false_claims_of_a_section_are_refused"),  # noqa: E501
    Fault("claims", "        if claim.at_most > self.section.k:\n            yield", "        if False:\n            yield", "test_claims.py::test_nothing_feasible_is_proved_of_the_searched_size_only"),  # noqa: E501
    Fault("claims", "        if self.section.exact_cut is not None:\n            yield \"the claim is that no support", "        if False:\n            yield \"the claim is that no support", "test_claims.py::test_false_claims_of_a_section_are_refused"),  # noqa: E501
)
# fmt: on
