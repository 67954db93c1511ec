"""Conditions on coefficients (Lemmas 12 to 14): lemmas against enumeration, true claims, false ones."""

from __future__ import annotations

import copy
import itertools
from fractions import Fraction

import numpy as np
import pytest

import check_oracle as oracle
import constrained_prover as constrained
import reference_prover as prover
from exactsindy_check import check
from exactsindy_check.bounds import ground
from exactsindy_check.conditions import read_conditions
from exactsindy_check.constrained import decided
from exactsindy_check.exact import ExactFits
from exactsindy_check.instance import Equation, scaled
from exactsindy_check.linear import solve
from exactsindy_check.node_bounds import node_exceeds
from exactsindy_check.scan import Scanner

LIMIT = 2.0**27


def write(folder, equations, document, records):
    blocks = [(numbers[0], [(numbers[1], numbers[2])]) for numbers in equations]
    problem, fingerprint = oracle.problem_bytes(blocks)
    (folder / "problem.npz").write_bytes(problem)
    (folder / "a.proof").write_bytes(prover.seal(records, {**document, "problem": fingerprint}))
    return check(folder / "problem.npz", folder / "a.proof", jobs=0)


@pytest.mark.parametrize("kind", oracle.KINDS)
def test_lists_hold_every_support_at_or_below_the_cut(kind):
    """Lemma 12: admissible or not."""
    rng = np.random.default_rng(1)
    for _ in range(4):
        numbers = oracle.make(kind, rng, 6)
        used = [j for j in range(6) if numbers[0][:, j].any()]
        fits = {s: f for s, (f, _) in oracle.all_fits(*numbers, 3, LIMIT).items()}
        for value in sorted(set(fits.values()))[::7]:
            cut, equation = Fraction(float(value)), Equation(*numbers)
            base = ground(scaled(equation, LIMIT, cut))
            inside = tuple(sorted(rng.permutation(used)[: rng.integers(0, 2)].tolist()))
            free = np.array([j for j in used if j not in inside])
            scanner = Scanner(base, ExactFits(equation, LIMIT), cut, exactly=False, listing=True)
            scanner.look(inside, free, 2)
            below = {s for s, f in fits.items() if f <= cut and set(inside) <= set(s) and len(s) <= len(inside) + 2}
            # A list may leave out a support only if it needs coefficients beyond their limit.
            for support in below - scanner.survivors:
                coef = oracle.fraction_fit(*numbers, support)[1]
                assert coef is None or not oracle.admissible(*numbers, support, LIMIT)[1]
            assert scanner.survivors <= below


def test_lists_leave_out_terms_that_depend_on_each_other_but_for_rounding():
    """Their exact value is at or below the cut, but only by coefficients of 1e15 that do not count."""
    rng = np.random.default_rng(2)
    a = np.triu(rng.integers(1, 4, (5, 5))).astype(float)
    a[:, 2] = a[:, 0] + a[:, 1]
    a[2, 2] = 2.0**-52  # the third column stands in the middle of the support
    z = np.array([1.0, 1.0, 1.0, 1.0, 2.0])
    equation, cut = Equation(a, z, np.zeros(1), np.zeros(5)), Fraction(1, 100)
    base, exact = ground(scaled(equation, LIMIT, cut)), ExactFits(equation, LIMIT)
    support = (0, 1, 2, 3, 4)
    assert exact.fit(support).value <= cut
    scanner = Scanner(base, exact, cut, exactly=False, listing=True)
    scanner.look((0, 1, 2), np.array([3, 4]), 2)
    assert support not in scanner.survivors


def test_bounds_hold_for_all_coefficients_within_their_limit():
    """Lemma 12: no vector of a node that is proved above the cut has a value at or below it, fitted or not."""
    rng = np.random.default_rng(2)
    proved = 0
    for _ in range(200):
        numbers = oracle.make(str(rng.choice(["plain", "near", "ridge", "copies"])), rng, 5)
        a, z, rest, ridge = numbers
        x = np.zeros(5)
        support = np.sort(rng.permutation(5)[:2])
        x[support] = np.linalg.lstsq(a[:, support], z, rcond=None)[0] * (1 + 10.0 ** rng.integers(-9, 1) * rng.normal())
        if (np.abs(x) * np.linalg.norm(a, axis=0) > LIMIT * np.linalg.norm(z)).any():
            continue
        exact = [Fraction(v) for v in x.tolist()]
        left = [
            Fraction(t) - sum(Fraction(c) * v for c, v in zip(line, exact, strict=True))
            for line, t in zip(a, z, strict=True)
        ]
        value = sum(r**2 for r in left) + sum(Fraction(w) * v**2 for w, v in zip(ridge.tolist(), exact, strict=True))
        value += sum(Fraction(v) ** 2 for v in rest.tolist())
        for step in (1e-12, 1e-9, 1e-3, 0.5, 1 - 1e-6):
            for cut in (float(value), float(value) * (1 + step), float(value) * (1 - step)):
                base = ground(scaled(Equation(*numbers), LIMIT, Fraction(cut)))
                if node_exceeds(base, support[:1], np.setdiff1d(np.arange(5), support[:1]), 1):
                    proved += 1
                    assert value > Fraction(cut)
    assert proved


@pytest.mark.parametrize("kind", oracle.KINDS)
def test_lowered_values_are_the_least_ones(kind):
    """Lemma 13: the least of the objective plus a linear function, against the normal equations in fractions."""
    rng = np.random.default_rng(3)
    unbounded = 0
    for _ in range(20):
        numbers = oracle.make(kind, rng, 5)
        exact = ExactFits(Equation(*numbers), LIMIT)
        support = tuple(sorted(rng.permutation(5)[: rng.integers(0, 4)].tolist()))
        linear = {j: Fraction(int(rng.integers(-9, 10)), int(rng.integers(1, 8))) for j in support}
        terms = [(0, j) for j in support]
        h, b, c = constrained.quadratic([numbers], [Fraction(1)], terms)
        right = [v - linear[j] / 2 for v, j in zip(b, support, strict=True)]
        x, value = constrained.eliminate(h, right), exact.lowered(support, linear)
        if x is not None:
            assert value == c - sum(v * r for v, r in zip(x, right, strict=True))
        for _ in range(3):  # any point is above
            point = [Fraction(int(rng.integers(-50, 50)), 7) for _ in support]
            at = c + sum(
                v * (sum(m * w for m, w in zip(line, point, strict=True)) - 2 * r)
                for v, line, r in zip(point, h, right, strict=True)
            )
            assert value is None or value <= at
        unbounded += value is None
    assert kind != "dependent" or unbounded


def test_linear_equations_are_solved_or_refused():
    rng = np.random.default_rng(4)
    refused = 0
    for _ in range(300):
        n = int(rng.integers(1, 6))
        matrix = [[Fraction(int(v)) for v in line] for line in rng.integers(-1, 2, (n, n))]
        right = [Fraction(int(v)) for v in rng.integers(-1, 2, n)]
        x = solve(matrix, right)
        if x is None:
            refused += 1
            assert np.linalg.matrix_rank(np.array(matrix, float)) < np.linalg.matrix_rank(
                np.column_stack([np.array(matrix, float), np.array(right, float)])
            )
        else:
            assert [sum(a * v for a, v in zip(line, x, strict=True)) for line in matrix] == right
    assert refused


def test_terms_that_are_decided_are_so_in_every_support():
    """Lemma 14, against all sets of terms."""
    rng = np.random.default_rng(5)
    contradictions = known = 0
    for _ in range(600):
        d = 3
        terms = [(e, j) for e in range(2) for j in range(d)]
        presence = []
        for _ in range(int(rng.integers(1, 5))):
            chosen = [terms[i] for i in rng.permutation(len(terms))[: rng.integers(1, 4)]]
            coefficients = [[*t, int(rng.choice([-2, -1, 1, 2]))] for t in chosen]
            presence.append({"coefficients": coefficients, "limit": int(rng.integers(-3, 3))})
        forced = terms[int(rng.integers(len(terms)))]
        equal = bool(rng.random() < 0.5)
        row = {"coefficients": [[*forced, (1.0).hex()]], "limit": (-0.5).hex(), "equal": equal}
        caps = [int(rng.integers(0, 4)) for _ in range(2)]
        entry = {
            **{"equations": [0, 1], "k": int(rng.integers(0, 7)), "caps": caps, "weights": [(1.0).hex()] * 2},
            **{"sections": [], "presence": presence, "rows": [row] if rng.random() < 0.5 else [], "members": []},
            "claim": {"supports": None, "lower_bound": "inf"},
            **{"exactly": False, "rivals": None},
        }
        sets = [
            {t for t, inside in zip(terms, flags, strict=True) if inside}
            for flags in itertools.product([False, True], repeat=len(terms))
        ]
        allowed = [
            s
            for s in sets
            if len(s) <= entry["k"]
            and all(sum(t[0] == e for t in s) <= cap for e, cap in enumerate(caps))
            and all(sum(c for e, j, c in r["coefficients"] if (e, j) in s) <= r["limit"] for r in presence)
            and (not entry["rows"] or forced in s)
        ]
        flags = decided(read_conditions(entry))
        if flags is None:
            contradictions += 1
            assert not allowed
            continue
        known += len(flags)
        assert all((t in s) == present for s in allowed for t, present in flags.items())
    assert contradictions > 50
    assert known > 200


@pytest.mark.parametrize("count", [1, 2])
def test_true_claims_are_accepted(tmp_path, count):
    rng = np.random.default_rng(6 + count)
    accepted = 0
    for _ in range(12):
        equations, entry = constrained.draw(rng, count, 4)
        written = constrained.prove(equations, entry, rng)
        if written is None:
            continue
        report = write(tmp_path, equations, *written)
        assert report.ok, report.sentences
        assert "under" in str(report)
        accepted += 1
    assert accepted > 5


def claim_holds(equations, entry, *, free=False):
    """Whether a claim is true, by enumeration of all joint supports and all active sets."""
    claim = entry["claim"]
    best, _ = constrained.ranked(equations, entry, free=free)
    if claim["supports"] is None:
        return not best
    if not best:
        return False
    supports = tuple(tuple(sorted(s)) for s in claim["supports"])
    own = [value for value, s, *_ in best if s == supports]

    def near(one, other):
        return abs(one - other) <= max(abs(one), abs(other)) / 10**11

    value = Fraction(float.fromhex(claim["objective"]))
    lower = float.fromhex(claim["lower_bound"])
    return bool(own) and near(own[0], value) and near(best[0][0], value) and lower <= float(value) * (1 + 1e-11)


def mutate(rng, document, records, equations):
    """Return a changed copy of a proof."""
    document, records = copy.deepcopy(document), list(records)
    entry = document["conditions"][0]
    claim, d = entry["claim"], len(equations[0][1])

    def moved(text):
        factor = float(rng.choice([1 + 1e-9, 1 - 1e-9, 0.9, 1.1, 0.5, 2.0, 0.0, -1.0]))
        return (float.fromhex(text) * factor).hex()

    def one(items):
        return items[int(rng.integers(len(items)))]

    what = int(rng.integers(17))
    if what == 0:
        claim["objective"] = moved(claim["objective"])
    elif what == 1:
        claim["lower_bound"] = moved(claim["lower_bound"])
    elif what == 2:
        e = int(rng.integers(len(equations)))
        claim["supports"][e] = sorted(rng.permutation(d)[: int(rng.integers(0, entry["caps"][e] + 1))].tolist())
    elif what == 3 and claim["active"]:
        claim["active"].pop(int(rng.integers(len(claim["active"]))))
    elif what == 4:
        claim["active"] = sorted({*claim["active"], int(rng.integers(len(entry["rows"]) + 1))})
    elif what in (5, 6):
        held = one(entry["members"])["multipliers"]
        if held:
            pair = one(held)
            pair[1] = moved(pair[1])
    elif what == 7:
        entry["members"].pop(int(rng.integers(len(entry["members"]))))
    elif what == 8 and entry["rows"]:
        row = one(entry["rows"])
        row["limit"] = moved(row["limit"]) if rng.random() < 0.7 else (0.3).hex()
    elif what == 9 and entry["rows"]:
        one(one(entry["rows"])["coefficients"])[2] = float(rng.choice([-1.0, 0.5, 2.0])).hex()
    elif what == 10 and entry["rows"]:
        row = one(entry["rows"])
        row["equal"] = not row["equal"]
    elif what == 11 and entry["presence"]:
        one(entry["presence"])["limit"] += int(rng.choice([-1, 1]))
    elif what == 12:
        entry["k"] += int(rng.choice([-1, 1]))
    elif what == 13:
        e = int(rng.integers(len(equations)))
        entry["caps"][e] = max(0, entry["caps"][e] + int(rng.choice([-1, 1])))
    elif what == 14:
        e = int(rng.integers(len(equations)))
        entry["weights"][e] = float(rng.choice([0.5, 1.0, 4.0])).hex()
    elif what == 15:
        section = one(document["sections"])
        if rng.random() < 0.5:
            section["cut"] = moved(section["cut"])
        else:
            section["k"] += int(rng.choice([-1, 1]))
    elif what == 16:
        if rng.random() < 0.5:
            section = one(document["sections"])
            section[str(rng.choice(["required", "forbidden"]))] = [int(rng.integers(d))]
        elif entry["rows"]:
            entry["rows"].pop()
    return document, records, what


def try_mutants(folder, seed, count):
    rng = np.random.default_rng(seed)
    accepted = refused = 0
    while accepted + refused < count:
        equations, entry = constrained.draw(rng, int(rng.integers(1, 3)), 3)
        written = constrained.prove(equations, entry, rng)
        if written is None:
            continue
        for _ in range(20):
            changed, records, what = mutate(rng, *written, equations)
            if rng.random() < 0.3:
                changed, records, what = mutate(rng, changed, records, equations)
            if changed["conditions"][0]["claim"] == {} or changed == written[0]:
                continue
            report = write(folder, equations, changed, records)
            if report.ok:
                accepted += 1
                assert claim_holds(equations, changed["conditions"][0]), (what, changed)
            else:
                refused += 1
                assert report.sentences
    return accepted, refused


def test_no_mutant_with_a_false_claim_is_accepted(tmp_path):
    accepted, refused = try_mutants(tmp_path, 7, 400)
    assert refused > 100
    assert accepted > 20  # changes that leave the claim true


@pytest.mark.campaign
def test_thousands_of_mutants(tmp_path):
    for seed in range(5):
        try_mutants(tmp_path, 100 + seed, 2000)


def some_proof(seed, accept=lambda document: True):
    """Return (equations, document, records) of a true claim."""
    rng = np.random.default_rng(seed)
    while True:
        equations, entry = constrained.draw(rng, 1, 3)
        written = constrained.prove(equations, entry, rng)
        if written is not None and accept(written[0]):
            return equations, *written


def test_coefficients_beyond_their_limit_do_not_count(tmp_path):
    equations, document, records = some_proof(11, lambda d: any(d["conditions"][0]["claim"]["supports"]))
    assert write(tmp_path, equations, document, records).ok
    document["sections"][0]["coefficient_limit"] = (1e-6).hex()
    (sentence,) = write(tmp_path, equations, document, records).sentences
    assert "the coefficients of the claimed support exceed their limit" in sentence


def test_sections_that_list_not_all_supports_are_refused(tmp_path):
    equations, document, records = some_proof(12)
    for change in (
        {"rows": [{"coefficients": [[0, 1]], "limit": 1}]},
        {"claim": prover.prove(equations[0], 1, np.random.default_rng(0))[0]["claim"]},
    ):
        changed = copy.deepcopy(document)
        changed["sections"][0] |= change
        assert any("do not list all supports" in s for s in write(tmp_path, equations, changed, records).sentences)
    wrong = copy.deepcopy(document)
    wrong["conditions"][0]["sections"] = [[5]]
    assert "are not there" in write(tmp_path, equations, wrong, records).sentences[0]


def test_sections_of_another_equation_are_refused(tmp_path):
    rng = np.random.default_rng(15)
    while True:
        equations, entry = constrained.draw(rng, 2, 3)
        if (written := constrained.prove(equations, entry, rng)) is not None:
            break
    document, records = written
    assert write(tmp_path, equations, document, records).ok
    document["conditions"][0]["sections"] = [[1], [0]]
    assert "do not list all supports" in write(tmp_path, equations, document, records).sentences[0]


@pytest.mark.parametrize("key", ["required", "forbidden"])
def test_terms_that_a_list_requires_or_forbids_must_follow_from_the_conditions(tmp_path, key):
    equations, document, _ = some_proof(16, lambda d: not d["conditions"][0]["presence"])
    (numbers,), (section,), (entry,) = equations, document["sections"], document["conditions"]
    entry["rows"], entry["members"] = [], []
    best = constrained.ranked(equations, entry)[0][0]
    wrong = next(j for j in range(3) if (j in best[1][0]) == (key == "required"))
    entry["claim"] |= {"supports": [list(best[1][0])], "active": [], "objective": float(best[0]).hex()}
    entry["claim"]["lower_bound"] = section["cut"] = (float(best[0]) * (1 + 1e-13)).hex()
    tree = prover.Prover(numbers, section["k"], float.fromhex(section["cut"]), np.random.default_rng(0), listing=True)
    inside = [wrong] if key == "required" else []
    tree.tree(inside, [j for j in range(3) if j != wrong], section["k"] - len(inside))
    section[key] = [wrong]
    records = [(0, n, b"".join(steps)) for n, steps in enumerate(tree.chunks)]
    (sentence,) = write(tmp_path, equations, document, records).sentences
    assert "do not follow from the conditions" in sentence
    limit, sign = (-1, -1) if key == "required" else (0, 1)
    entry["presence"] = [{"coefficients": [[0, wrong, sign]], "limit": limit}]
    report = write(tmp_path, equations, document, records)
    assert report.ok, report.sentences


def test_conditions_on_columns_of_zeros_are_refused(tmp_path):
    equations, document, records = some_proof(13)
    for row in ({"coefficients": [[0, 7, (1.0).hex()]], "limit": (0.0).hex(), "equal": False},):
        changed = copy.deepcopy(document)
        changed["conditions"][0]["rows"].append(row)
        assert "one that is not there" in write(tmp_path, equations, changed, records).sentences[0]
    equations[0][0][:, 1] = 0.0
    changed = copy.deepcopy(document)
    row = {"coefficients": [[0, 1, (1.0).hex()]], "limit": (1.0).hex(), "equal": False}
    changed["conditions"][0]["rows"].append(row)
    assert not write(tmp_path, equations, changed, records).ok


@pytest.mark.parametrize(
    "change",
    [
        {"weights": [(0.0).hex()]},
        {"weights": [(1.0).hex()] * 2},
        {"caps": [-1]},
        {"k": -1},
        {"equations": [3]},
        {"rows": [{"coefficients": [[0, 1, "0x1p0"], [0, 1, "0x1p0"]], "limit": "0x1p0", "equal": True}]},
        {"rows": [{"coefficients": [[0, -1, "0x1p0"]], "limit": "0x1p0", "equal": True}]},
        {"rows": [{"coefficients": [[0, 1, "nan"]], "limit": "0x1p0", "equal": True}]},
        {"members": [{"supports": [[1]], "multipliers": []}, {"supports": [[1]], "multipliers": []}]},
        {"members": [{"supports": [[1], [2]], "multipliers": []}]},
    ],
)
def test_claims_that_cannot_be_end_in_a_sentence(tmp_path, change):
    equations, document, records = some_proof(14)
    document["conditions"][0] |= change
    report = write(tmp_path, equations, document, records)
    assert report.outcome == ("false" if "equations" in change else "unreadable")
    assert report.sentences


def test_a_section_with_a_list_refuses_dependent_terms(tmp_path):
    equations, document, _ = some_proof(8)
    report = write(tmp_path, equations, document, [(0, 0, b"\x03")])
    assert not report.ok
    assert "terms that depend on each other count in this section" in report.sentences[0]


def test_contradictions_of_presence_are_proved_and_nothing_else_is(tmp_path):
    equations = [oracle.make("plain", np.random.default_rng(9), 3)]
    entry = {
        **{"equations": [0], "k": 1, "caps": [1], "weights": [(1.0).hex()], "sections": [], "rows": [], "members": []},
        **{"exactly": False, "rivals": None},
        "presence": [{"coefficients": [[0, 0, -1]], "limit": -1}, {"coefficients": [[0, 1, -1]], "limit": -1}],
        "claim": {"supports": None, "active": [], "objective": None, "lower_bound": "inf"},
    }
    document = {"writer": "reference", "sections": [], "budgets": [], "conditions": [entry]}
    report = write(tmp_path, equations, document, [])
    assert report.ok, report.sentences
    assert "nothing satisfies them" in str(report)
    entry["k"] = entry["caps"][0] = 2
    report = write(tmp_path, equations, document, [])
    assert "those on presence do not show it" in report.sentences[0]


def rivals_of(seed, count=4):
    """Return equations and a true proof with rivals (seeds without any are passed over)."""
    while True:
        rng = np.random.default_rng([77, seed])
        equations, entry = constrained.draw(rng, int(rng.integers(1, 3)), 4)
        proof = constrained.prove(equations, entry, rng, rivals=count)
        if proof is not None and len(proof[0]["conditions"][0]["rivals"]["members"]) == count:
            return equations, *proof
        seed += 1000


@pytest.mark.parametrize("seed", range(6))
def test_rivals_are_accepted_and_false_ones_refused(tmp_path, seed):
    """Lemma 15, against enumeration: nothing may be missing, nothing may be added."""
    equations, document, records = rivals_of(seed)
    report = write(tmp_path, equations, document, records)
    assert report.ok, report.sentences
    assert "4 others of as many terms" in str(report)
    values = [float.fromhex(m["objective"]) for m in document["conditions"][0]["rivals"]["members"]]
    refused = 0
    for what in ("missing", "limit", "objective", "size", "part", "same part"):
        changed = copy.deepcopy(document)
        (entry,) = changed["conditions"]
        rivals = entry["rivals"]
        first = rivals["members"][0]
        if what == "missing":
            rivals["members"].pop(0)
        elif what == "limit":
            rivals["limit"] = (values[1] * (1 - 1e-9)).hex()
        elif what == "objective":
            first["objective"] = (values[0] * (1 + 1e-9)).hex()
        elif what == "size":
            first["supports"] = [[], *first["supports"][1:]]
        else:  # a part that is none, or as large as the whole
            part = {**rivals["members"][1]} if what == "part" else dict(first)
            rivals["parts"] = [{"supports": rivals["members"].pop(0)["supports"], "part": part}]
        report = write(tmp_path, equations, changed, records)
        if values[0] < values[-1] * (1 - 1e-9) and values[1] < values[-1] * (1 - 1e-9):
            assert not report.ok, what
            refused += 1
    assert refused or values[1] >= values[-1] * (1 - 1e-9)


def test_parts_stand_for_supports_that_gain_nothing(tmp_path):
    """x1 <= 0 keeps the second term out: the pair gains nothing over the first term alone."""
    a, z = np.eye(3), np.array([3.0, 1.0, 0.5])
    equations = [(a, z, np.array([0.1]), np.zeros(3))]
    rows = [{"coefficients": [[0, 1, (1.0).hex()]], "limit": (0.0).hex(), "equal": False}]
    entry = {"equations": [0], "k": 2, "caps": [2], "weights": [(1.0).hex()], "presence": [], "rows": rows}
    document, records = constrained.prove(equations, entry, np.random.default_rng(0), rivals=2)
    (entry,) = document["conditions"]
    assert entry["claim"]["supports"] == [[0, 2]]
    pair = next(m for m in entry["rivals"]["members"] if m["supports"] == [[0, 1]])
    entry["rivals"]["members"].remove(pair)
    assert not write(tmp_path, equations, document, records).ok
    part = {"supports": [[0]], "active": [], "objective": pair["objective"]}
    entry["rivals"]["parts"] = [{"supports": [[0, 1]], "part": part}]
    report = write(tmp_path, equations, document, records)
    assert report.ok, report.sentences
    part["supports"] = [[2]]
    assert not write(tmp_path, equations, document, records).ok


def test_a_part_must_be_one(tmp_path):
    """The first term alone fits better than the last two, but it is no part of them."""
    a, z = np.eye(4), np.array([3.0, 1.0, 0.5, 0.2])
    equations = [(a, z, np.array([0.1]), np.zeros(4))]
    rows = [{"coefficients": [[0, 1, (1.0).hex()]], "limit": (0.0).hex(), "equal": False}]
    entry = {"equations": [0], "k": 2, "caps": [2], "weights": [(1.0).hex()], "presence": [], "rows": rows}
    document, records = constrained.prove(equations, entry, np.random.default_rng(0), rivals=5)
    (entry,) = document["conditions"]
    assert write(tmp_path, equations, document, records).ok
    members = entry["rivals"]["members"]
    hidden = next(m for m in members if m["supports"] == [[2, 3]])
    alone = {
        "supports": [[0]],
        "active": [],
        "objective": next(m for m in members if 0 in m["supports"][0])["objective"],
    }
    members.remove(hidden)
    entry["rivals"]["parts"] = [{"supports": [[2, 3]], "part": alone}]
    report = write(tmp_path, equations, document, records)
    assert "the joint support [[2, 3]] may be a rival" in report.sentences[0]


@pytest.mark.parametrize("where", ["members", "parts"])
def test_terms_of_rivals_that_are_not_there_are_refused(tmp_path, where):
    equations, document, records = rivals_of(1)
    (entry,) = document["conditions"]
    rivals = entry["rivals"]
    first = rivals["members"][0]
    stranger = {**first, "supports": [[216], *first["supports"][1:]]}
    if where == "members":
        rivals["members"][0] = stranger
    else:
        rivals["parts"] = [{"supports": first["supports"], "part": stranger}]
    (sentence,) = write(tmp_path, equations, document, records).sentences
    assert "a condition or a claimed term is about a column of zeros, or one that is not there" in sentence


def copies(rng):
    """Return equations with a copy of a column, exact or but for rounding, and conditions."""
    equations, entry = constrained.draw(rng, 1, 4)
    for a, *_ in equations:
        a[:3, 2] = a[:3, 0]
        if rng.random() < 0.5:
            a[:3, 2] += 1e-16 * np.abs(a).max() * rng.standard_normal(3)
    return equations, {**entry, "caps": [3] * len(equations), "k": 3 * len(equations)}


@pytest.mark.parametrize("kind", oracle.KINDS)
def test_lists_of_independent_terms_leave_out_only_others(kind):
    """Lemma 12: terms that depend on each other are left out, and supports with coefficients beyond their limit."""
    rng = np.random.default_rng(1)
    for _ in range(3):
        numbers = oracle.make(kind, rng, 6)
        used = [j for j in range(6) if numbers[0][:, j].any()]
        fits = {s: f for s, (f, _) in oracle.all_fits(*numbers, 3, LIMIT).items()}
        for value in sorted(set(fits.values()))[::7]:
            cut, equation = Fraction(float(value)), Equation(*numbers)
            base = ground(scaled(equation, LIMIT, cut))
            scanner = Scanner(base, ExactFits(equation, LIMIT), cut, exactly=False, listing=True, independent=True)
            inside = tuple(used[:1])
            scanner.look(inside, np.array(used[1:]), 2)
            below = {s for s, f in fits.items() if f <= cut and set(inside) <= set(s)}
            assert scanner.survivors <= below
            for support in below - scanner.survivors:
                assert oracle.admissible(*numbers, support, LIMIT)[1] is not True


@pytest.mark.parametrize("independent", [False, True])
def test_lists_hold_what_conditions_may_make_small_enough(independent):
    """Lemma 12: supports whose own fit needs coefficients beyond the limit, but some point within it is good enough."""
    rng, limit, seen = np.random.default_rng(3), 0.25, 0
    for _ in range(40):
        numbers = oracle.make("plain", rng, 5)
        a, z, rest, _ = numbers
        support = sorted(rng.permutation(5)[:2].tolist())
        box = 0.999 * limit * np.linalg.norm([*z, *rest]) / np.linalg.norm(a[:, support], axis=0)
        own = np.linalg.lstsq(a[:, support], z, rcond=None)[0]
        point = np.clip(own, -box, box)
        seen += (point != own).any()
        value = np.sum((z - a[:, support] @ point) ** 2) + rest @ rest
        equation, cut = Equation(*numbers), Fraction(float(value) * (1 + 1e-9))
        base, exact = ground(scaled(equation, limit, cut)), ExactFits(equation, limit)
        scanner = Scanner(base, exact, cut, exactly=False, listing=True, independent=independent)
        scanner.look(support[:1], np.setdiff1d(np.arange(5), support[:1]), 2)
        assert tuple(support) in scanner.survivors
    assert seen > 10


def test_claims_about_independent_terms_say_so(tmp_path):
    """The same file without the entry is refused: an end `X` leaves supports out."""
    rng = np.random.default_rng(21)
    accepted, refused = 0, list[str]()
    while accepted < 12:
        equations, entry = copies(rng)
        written = constrained.prove(equations, entry, rng, free=True)
        if written is None:
            continue
        report = write(tmp_path, equations, *written)
        assert report.ok, report.sentences
        assert "supports whose terms depend on each other are left out" in str(report)
        accepted += 1
        for section in written[0]["sections"]:
            section["independent"] = False
        refused += write(tmp_path, equations, *written).sentences
    assert any("terms that depend on each other count in this section" in text for text in refused)


def test_no_false_claim_about_independent_terms_is_accepted(tmp_path):
    rng = np.random.default_rng(22)
    tried = accepted = 0
    while tried < 150:
        equations, entry = copies(rng)
        written = constrained.prove(equations, entry, rng, free=True)
        if written is None:
            continue
        for _ in range(15):
            changed, records, what = mutate(rng, *written, equations)
            tried += 1
            if changed["conditions"][0]["claim"] and write(tmp_path, equations, changed, records).ok:
                accepted += 1
                assert claim_holds(equations, changed["conditions"][0], free=True), (what, changed)
    assert 5 < accepted < tried - 40


def test_only_lists_leave_out_supports(tmp_path):
    equations = [oracle.make("plain", np.random.default_rng(1), 4)]
    section, records = prover.prove(equations[0], 2, np.random.default_rng(2))
    document = {"writer": "reference", "sections": [{**section, "independent": True}], "budgets": [], "conditions": []}
    assert write(tmp_path, equations, document, records).outcome == "unreadable"
