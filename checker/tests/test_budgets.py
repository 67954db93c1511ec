"""Budgets that equations share: true claims are accepted, false ones never are (Lemma 11)."""

from __future__ import annotations

import copy
import itertools
from fractions import Fraction

import numpy as np
import pytest

import check_oracle as oracle
import reference_prover as prover
from exactsindy_check import check
from test_proofs import claims_hold, mutate

D = 5


def draw(rng, kind):
    """Return two equations with libraries of their own."""
    return [oracle.make(str(k), rng, D) for k in (kind, rng.choice(oracle.KINDS))]


def fits_of(numbers, sections):
    """Return {support: (f, admissible)} of an equation of a budget."""
    a, z, rest, _ = numbers
    ridge = np.array([float.fromhex(x) for x in sections[0]["ridge"]])
    limit = float.fromhex(sections[0]["coefficient_limit"])
    ends = (sections[0]["required"], sections[0]["forbidden"])
    return oracle.all_fits(a, z, rest, ridge, D, limit, *ends)


def joint(equations, document):
    """Return every joint support of a budget as (value, supports, surely admissible), by enumeration."""
    (budget,) = document["budgets"]
    by_number = {section["section"]: section for section in document["sections"]}
    lists = []
    for e, numbers in enumerate(equations):
        weight, cap = Fraction(float.fromhex(budget["weights"][e])), budget["caps"][e]
        fits = fits_of(numbers, [by_number[n] for n in budget["sections"][e]])
        lists.append([(weight * f, s, ok) for s, (f, ok) in fits.items() if ok is not False and len(s) <= cap])
    for parts in itertools.product(*lists):
        supports = [s for _, s, _ in parts]
        if sum(map(len, supports)) <= budget["k"]:
            yield sum(v for v, _, _ in parts), supports, all(ok for _, _, ok in parts)


def blur_of(equations, budget):
    return (
        sum(
            Fraction(float.fromhex(w)) * sum(Fraction(x) ** 2 for x in [*n[1].tolist(), *n[2].tolist()])
            for w, n in zip(budget["weights"], equations, strict=True)
        )
        / 2**110
    )


def prove(equations, budget, rng, *, weights=(1.0, 2.5), caps=(4, 4), rivals=True):
    """Return (document without fingerprint, records): sections of every size for both equations, and true claims."""
    sections, records, own = [], [], [[], []]
    for e, numbers in enumerate(equations):
        for size, exactly in itertools.product(range(min(budget, caps[e]) + 1), (False, True)):
            section, steps = prover.prove(numbers, size, rng, exactly=exactly)
            number = len(sections)
            section |= {"section": number, "target": f"x{e}0'", "equation": e}
            sections.append(section)
            records += [(number, chunk, data) for _, chunk, data in steps]
            own[e].append(number)
    entry = {"k": budget, "caps": list(caps), "weights": [float(w).hex() for w in weights], "sections": own}
    document = {"writer": "reference", "sections": sections, "budgets": [entry]}
    ranked = sorted((v, sum(map(len, s)), s) for v, s, _ in joint(equations, document))
    value, terms, supports = ranked[0]
    others = [v for v, size, s in ranked if size == terms and s != supports]
    entry["claim"] = {
        "supports": [list(s) for s in supports],
        "objective": float(value).hex(),
        "lower_bound": float(value).hex(),
        "runner_up": (float(others[0]).hex() if others else "inf") if rivals else None,
    }
    return document, records


def write(folder, equations, document, records):
    problem, fingerprint = oracle.problem_bytes([(n[0], [(n[1], n[2])]) for n in equations])
    (folder / "problem.npz").write_bytes(problem)
    (folder / "a.proof").write_bytes(prover.seal(records, {**document, "problem": fingerprint}))
    return check(folder / "problem.npz", folder / "a.proof", jobs=0)


@pytest.mark.parametrize("kind", oracle.KINDS)
def test_true_claims_are_accepted(tmp_path, kind):
    rng = np.random.default_rng(91)
    for budget, caps in ((0, (4, 4)), (2, (4, 4)), (4, (2, 3))):
        equations = draw(rng, kind)
        document, records = prove(equations, budget, rng, caps=caps)
        report = write(tmp_path, equations, document, records)
        assert report.ok, report.sentences
        (found,) = report.budgets
        assert f"at most {budget} terms together" in str(report)
        assert found.budget.objective == float.fromhex(document["budgets"][0]["claim"]["objective"])


def joint_claim_holds(equations, document):
    """Whether the claim about a budget is true, by enumeration; what is within rounding is accepted."""
    (budget,) = document["budgets"]
    claim, blur = budget["claim"], blur_of(equations, budget)

    def near(one, other):
        return abs(one - other) <= max(abs(one), abs(other)) / 10**11 + blur

    everything = list(joint(equations, document))
    supports = [tuple(s) for s in claim["supports"]]
    mine = [v for v, s, _ in everything if s == supports]
    sure = [(v, s) for v, s, ok in everything if ok]
    least = min((v for v, _ in sure), default=None)
    if not mine or not near(mine[0], Fraction(float.fromhex(claim["objective"]))):
        return False
    if least is not None and least < mine[0] and not near(least, mine[0]):
        return False
    if float.fromhex(claim["lower_bound"]) > float(mine[0]) * (1 + 1e-11) + float(blur):
        return False
    if claim["runner_up"] is None:
        return True
    size = sum(map(len, supports))
    others = [v for v, s in sure if sum(map(len, s)) == size and s != supports]
    said = float.fromhex(claim["runner_up"])
    if said == float("inf") or not others:
        return said == float("inf") and not others
    return near(min(others), Fraction(said))


def change(rng, document, records, equations):
    """Return a changed copy, and whether one section alone was changed."""
    document, records = copy.deepcopy(document), list(records)
    (budget,) = document["budgets"]
    claim = budget["claim"]

    def moved(text):
        factor = float(rng.choice([1 + 1e-9, 1 - 1e-9, 0.9, 1.1, 0.5, 2.0, 0.0, -1.0]))
        return (float.fromhex(text) * factor).hex()

    e = int(rng.integers(2))
    what = int(rng.integers(9))
    if what == 0:
        section = document["sections"][int(rng.integers(len(document["sections"])))]
        mine = [r for r in records if r[0] == section["section"]]
        changed, new, _ = mutate(rng, section, mine, equations[section["equation"]])
        section |= changed
        records = [r for r in records if r[0] != section["section"]] + new
    elif what == 1:
        budget["k"] += int(rng.choice([-1, 1]))
    elif what == 2:
        budget["caps"][e] += int(rng.choice([-1, 1, 3]))
    elif what == 3:
        budget["weights"][e] = moved(budget["weights"][e])
    elif what == 4:
        budget["sections"][e].pop(int(rng.integers(len(budget["sections"][e]))))
    elif what == 5:
        claim["supports"][e] = sorted(rng.permutation(D)[: int(rng.integers(0, 4))].tolist())
    elif what == 6:
        claim["objective"] = moved(claim["objective"])
    elif what == 7:
        claim["lower_bound"] = moved(claim["lower_bound"])
    elif claim["runner_up"] is not None:
        claim["runner_up"] = moved(claim["runner_up"])
    return document, records


def try_changes(folder, seed, count):
    rng = np.random.default_rng(seed)
    accepted = refused = 0
    while accepted + refused < count:
        equations = draw(rng, rng.choice(oracle.KINDS))
        document, records = prove(equations, 3, rng, caps=(3, 2))
        assert write(folder, equations, document, records).ok
        for _ in range(25):
            changed, steps = change(rng, document, records, equations)
            if rng.random() < 0.2:
                changed, steps = change(rng, changed, steps, equations)
            report = write(folder, equations, changed, steps)
            if not report.ok:
                refused += 1
                assert report.sentences
                continue
            accepted += 1
            assert joint_claim_holds(equations, changed), changed["budgets"]
            for section in changed["sections"]:
                assert claims_hold(equations[section["equation"]], {"sections": [section]})
    return accepted, refused


def test_no_changed_file_with_a_false_claim_is_accepted(tmp_path):
    accepted, refused = try_changes(tmp_path, 5, 100)
    assert refused > accepted


@pytest.mark.campaign
def test_a_thousand_changed_files(tmp_path):
    for seed in range(4):
        try_changes(tmp_path, 300 + seed, 500)


def test_worse_supports_with_their_own_objectives_are_refused(tmp_path):
    """Every number of the claim fits the supports; only that others are better is left to see."""
    rng = np.random.default_rng(8)
    for _ in range(2):
        equations = [oracle.make("plain", rng, D) for _ in "ab"]
        document, records = prove(equations, 3, rng, caps=(3, 2))
        claim = document["budgets"][0]["claim"]
        honest = dict(claim)
        ranked = sorted((v, sum(map(len, s)), s) for v, s, ok in joint(equations, document) if ok)
        for value, _, supports in ranked[1 :: len(ranked) // 5]:
            claim |= {"supports": [list(s) for s in supports], "objective": float(value).hex(), "runner_up": None}
            claim["lower_bound"] = "-inf"
            report = write(tmp_path, equations, document, records)
            assert "the claimed supports are not proved the best" in report.sentences[0]
        claim |= honest
        rivals = [v for v, size, s in ranked if size == ranked[0][1]]
        for objective, sentence in (
            (rivals[2], "is proved above"),
            (rivals[1] * Fraction(99, 100), "no joint support of"),
        ):
            claim["runner_up"] = float(objective).hex()
            assert sentence in write(tmp_path, equations, document, records).sentences[0]


def test_terms_that_do_not_count_are_no_joint_support(tmp_path):
    rng, found = np.random.default_rng(9), 0
    for _ in range(40):
        equations = [oracle.make(str(rng.choice(oracle.KINDS)), rng, D), oracle.make("plain", rng, D)]
        document, records = prove(equations, 3, rng, caps=(3, 2))
        (budget,) = document["budgets"]
        fits = [fits_of(n, [s for s in document["sections"] if s["equation"] == e]) for e, n in enumerate(equations)]
        bad = [(s, f) for s, (f, ok) in fits[0].items() if ok is False and 0 < len(s) <= 3]
        if not bad:
            continue
        weights = [Fraction(float.fromhex(weight)) for weight in budget["weights"]]
        (support, value), alone = bad[-1], fits[1][()][0]
        objective = float(weights[0] * value + weights[1] * alone).hex()
        budget["claim"] |= {"supports": [list(support), []], "objective": objective, "runner_up": None}
        assert "is not one of those searched" in write(tmp_path, equations, document, records).sentences[0]
        found += 1
        if found == 3:
            return
    raise AssertionError("no support that does not count was drawn")


def test_claims_that_sections_do_not_carry_are_refused(tmp_path):
    rng = np.random.default_rng(7)
    equations = draw(rng, "plain")
    document, records = prove(equations, 3, rng)
    (budget,) = document["budgets"]

    def refused(words, **changes):
        other = copy.deepcopy(document)
        other["budgets"][0].update(changes)
        report = write(tmp_path, equations, other, records)
        assert report.outcome == "false"
        assert words in report.sentences[0]

    refused("its lists do not fit the 2 equations.", weights=budget["weights"][:1])
    refused("the sections [] of equation 1 are not there.", sections=[budget["sections"][0], []])
    refused("the sections [99] of equation 1 are not there.", sections=[budget["sections"][0], [99]])
    refused("are not about the same supports.", sections=budget["sections"][::-1])
    refused("have more terms than the budget of 0 and its caps allow.", k=0, caps=[0, 0])
    # Sizes that no section speaks about count with |rest|^2.
    refused("the claimed supports are not proved the best", sections=[own[:1] for own in budget["sections"]])
    other = copy.deepcopy(document)
    other["budgets"][0]["weights"][0] = "-0x1p+0"
    assert write(tmp_path, equations, other, records).outcome == "unreadable"
