"""Whole files: true proofs are accepted, false ones never are."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import check_oracle as oracle
import exactsindy_check
import reference_prover as prover
from exactsindy_check import check, sharing
from exactsindy_check.instance import read_instance
from exactsindy_check.proof_file import read_proof


def write(folder, numbers, sections, records):
    problem, fingerprint = oracle.problem_bytes([(numbers[0], [(numbers[1], numbers[2])])])
    (folder / "problem.npz").write_bytes(problem)
    (folder / "a.proof").write_bytes(prover.seal(records, prover.footer_of(fingerprint, sections)))
    return check(folder / "problem.npz", folder / "a.proof", jobs=0)


@pytest.mark.parametrize("kind", oracle.KINDS)
@pytest.mark.parametrize("how", ["plain", "exactly", "pool", "terms", "rows"])
def test_true_proofs_are_accepted(tmp_path, kind, how):
    rng = np.random.default_rng(11)
    for _ in range(3):
        numbers = oracle.make(kind, rng, 7)
        options = {
            "plain": {},
            "exactly": {"exactly": True},
            "pool": {"pool": True, "exactly": True},
            "terms": {"required": (1,), "forbidden": (4,)},
            "rows": {"rows": ((((0, 1), (1, 1)), 1), (((2, 1), (5, -1)), 0))},
        }[how]
        section, records = prover.prove(numbers, 4, rng, **options)
        report = write(tmp_path, numbers, [section], records)
        assert report.ok, report.sentences
        proved = report.sections[0].proved
        claim = section["claim"]
        if claim["support"] is None:
            assert proved.support is None
            continue
        assert proved.objective == pytest.approx(float.fromhex(claim["objective"]), rel=1e-12, abs=1e-30)
        if claim["runner_up"] is not None and kind not in ("exact", "tiny"):
            assert proved.runner_up == pytest.approx(float.fromhex(claim["runner_up"]), rel=1e-12)


def claims_hold(numbers, document):
    """Whether the claims of a footer are true, by enumeration; ties and thresholds are accepted as the checker may."""
    for section in document["sections"]:
        k = section["k"]
        a, z, rest, _ = numbers
        ridge = np.array([float.fromhex(x) for x in section["ridge"]])
        rows = tuple((tuple(map(tuple, row["coefficients"])), row["limit"]) for row in section["rows"])
        limit = float.fromhex(section["coefficient_limit"])
        fits = oracle.all_fits(a, z, rest, ridge, k, limit, section["required"], section["forbidden"])
        fits = {
            s: fit
            for s, fit in fits.items()
            if all(sum(c for j, c in row if j in s) <= most for row, most in rows)
            and (len(s) == k or not section["exactly"])
        }
        claim = section["claim"]
        sure = {s: f for s, (f, ok) in fits.items() if ok}
        y2 = sum(Fraction(x) ** 2 for x in [*z.tolist(), *rest.tolist()])
        blur = y2 / 2**110

        def near(one, other, blur=blur):
            return abs(one - other) <= max(one, other) / 10**11 + blur

        if claim["support"] is None:
            if sure:
                return False
            continue
        support = tuple(sorted(claim["support"]))
        if support not in fits or fits[support][1] is False:
            return False
        value = fits[support][0]
        if not near(value, Fraction(float.fromhex(claim["objective"]))):
            return False
        if any(f < value and not near(f, value) for f in sure.values()):
            return False
        if float.fromhex(claim["lower_bound"]) > float(value) * (1 + 1e-11) + float(blur):
            return False
        rest2 = sum(Fraction(x) ** 2 for x in rest.tolist())
        allowed = [j for j in range(len(z)) if a[:, j].any() and j not in section["forbidden"]]
        whole = oracle.fraction_fit(a, z, rest, ridge, allowed)[0]
        if claim["at_most"] != k and (claim["at_most"] < k or not (value <= rest2 + blur or near(value, whole))):
            return False
        if claim["runner_up"] is not None:
            others = [f for s, f in sure.items() if s != support and len(s) == len(support)]
            said = float.fromhex(claim["runner_up"])
            if (said == float("inf")) != (not others) or (others and not near(min(others), Fraction(said))):
                return False
        if claim["pool"] is not None:
            top = float.fromhex(claim["pool"]["limit"])
            top = max([top_of(fits), Fraction(0)]) + 1 if top == float("inf") else Fraction(top)
            listed = {tuple(sorted(s)) for s in claim["pool"]["supports"]}
            inside = {s for s, f in sure.items() if len(s) == k and f < top and not near(f, top)}
            if not inside <= listed or any(
                s not in fits or fits[s][0] > top * (1 + Fraction(1, 10**11)) for s in listed
            ):
                return False
            for s, said in zip(claim["pool"]["supports"], claim["pool"]["objectives"], strict=True):
                if not near(fits[tuple(sorted(s))][0], Fraction(float.fromhex(said))):
                    return False
    return True


def top_of(fits):
    return max((f for f, _ in fits.values()), default=Fraction(0))


def mutate(rng, section, records, numbers):
    """Return a changed copy of (section, records) and what was changed."""
    section, records = copy.deepcopy(section), list(records)
    claim = section["claim"]
    d = len(numbers[1])

    def moved(text):
        factor = float(rng.choice([1 + 1e-9, 1 - 1e-9, 0.9, 1.1, 0.5, 2.0, 0.0, -1.0]))
        return (float.fromhex(text) * factor).hex()

    what = int(rng.integers(0 if records else 7, 16))
    at = int(rng.integers(len(records))) if records else 0
    number, chunk, data = records[at] if records else (0, 0, b"")
    place = int(rng.integers(len(data))) if data else 0
    if what == 0:  # a step becomes another one
        records[at] = (number, chunk, data[:place] + bytes([int(rng.integers(0, 8 + d))]) + data[place + 1 :])
    elif what == 1:  # a step is left out
        records[at] = (number, chunk, data[:place] + data[place + 1 :])
    elif what == 2:  # cut short
        records[at] = (number, chunk, data[:place])
    elif what == 3:  # an end instead of what follows
        records[at] = (number, chunk, data[:place] + bytes([int(rng.choice([0, 1, 2, 3, 7]))]))
    elif what == 4:  # two steps swapped
        data = bytearray(data)
        other = int(rng.integers(len(data))) if data else 0
        if data:
            data[place], data[other] = data[other], data[place]
        records[at] = (number, chunk, bytes(data))
    elif what == 5:
        records.pop(at)
    elif what == 6:
        records.append(records[at])
    elif what == 7:
        section["cut"] = moved(section["cut"])
    elif what == 8 and claim["support"] is not None:
        claim["objective"] = moved(claim["objective"])
    elif what == 9:
        claim["lower_bound"] = moved(claim["lower_bound"])
    elif what == 10 and claim["runner_up"]:
        claim["runner_up"] = moved(claim["runner_up"])
    elif what == 11:
        claim["support"] = sorted(rng.permutation(d)[: int(rng.integers(0, section["k"] + 2))].tolist())
    elif what == 12:
        section["k"] += int(rng.choice([-1, 1]))
        claim["at_most"] += int(rng.choice([-1, 0, 1]))
    elif what == 13:
        key = str(rng.choice(["required", "forbidden"]))
        section[key] = sorted({*section[key], int(rng.integers(d))})
    elif what == 14 and claim["pool"]:
        pool = claim["pool"]
        if rng.random() < 0.5 and pool["supports"]:
            i = int(rng.integers(len(pool["supports"])))
            pool["supports"].pop(i)
            pool["objectives"].pop(i)
        else:
            pool["limit"] = moved(pool["limit"])
    else:
        section["exactly"] = not section["exactly"]
    return section, records, what


def try_mutants(folder, seed, count):
    rng = np.random.default_rng(seed)
    accepted = refused = 0
    while accepted + refused < count:
        kind = str(rng.choice(oracle.KINDS))
        numbers = oracle.make(kind, rng, 6)
        exactly = bool(rng.random() < 0.4)
        section, records = prover.prove(numbers, 3, rng, exactly=exactly, pool=exactly)
        assert write(folder, numbers, [section], records).ok
        for _ in range(20):
            changed, changed_records, what = mutate(rng, section, records, numbers)
            if rng.random() < 0.2:
                changed, changed_records, _ = mutate(rng, changed, changed_records, numbers)
            report = write(folder, numbers, [changed], changed_records)
            if report.ok:
                accepted += 1
                assert claims_hold(numbers, {"sections": [changed]}), (kind, what, changed)
            else:
                refused += 1
                assert len(report.sentences) >= 1
    return accepted, refused


def test_no_mutant_with_a_false_claim_is_accepted(tmp_path):
    accepted, refused = try_mutants(tmp_path, 21, 500)
    assert refused > accepted


@pytest.mark.campaign
def test_thousands_of_mutants(tmp_path):
    for seed in range(8):
        try_mutants(tmp_path, 100 + seed, 2000)


@pytest.mark.parametrize("kind", oracle.KINDS)
def test_forged_optima_are_refused(tmp_path, kind):
    """The claim is the second best support; the tree is the true one with single ends replaced."""
    rng = np.random.default_rng(31)
    for _ in range(3):
        numbers = oracle.make(kind, rng, 6)
        section, records = prover.prove(numbers, 3, rng)
        ranked = prover.truth(numbers, 3)
        scale = sum(Fraction(x) ** 2 for x in [*numbers[1].tolist(), *numbers[2].tolist()])
        worse = [e for e in ranked if e[0] > ranked[0][0] * (1 + Fraction(1, 10**9)) + scale / 2**100]
        if not worse:
            continue
        forged = copy.deepcopy(section)
        claim = forged["claim"]
        claim |= {"support": list(worse[0][2]), "runner_up": None}
        claim["objective"] = claim["lower_bound"] = float(worse[0][0]).hex()
        for cut in (float(worse[0][0]) * (1 + 1e-15), float(ranked[0][0]) * (1 - 1e-13), 0.0):
            forged["cut"] = float(cut).hex()
            assert not write(tmp_path, numbers, [forged], records).ok
            number, chunk, data = records[0]
            for place in range(len(data)):
                for end in (0, 1, 2, 3):
                    false = [(number, chunk, data[:place] + bytes([end]) + data[place + 1 :]), *records[1:]]
                    assert not write(tmp_path, numbers, [forged], false).ok


def test_changed_problem_is_refused(tmp_path):
    rng = np.random.default_rng(41)
    numbers = oracle.make("plain", rng, 6)
    section, records = prover.prove(numbers, 3, rng)
    assert write(tmp_path, numbers, [section], records).ok
    proof = (tmp_path / "a.proof").read_bytes()
    numbers[0][0, 3] += 1e-9
    write(tmp_path, numbers, [section], records)
    (tmp_path / "a.proof").write_bytes(proof)
    report = check(tmp_path / "problem.npz", tmp_path / "a.proof")
    assert report.outcome == "false"
    assert report.sentences == ("the proof is about another problem (the fingerprints differ).",)


def test_damaged_files_end_in_one_sentence(tmp_path):
    rng = np.random.default_rng(42)
    numbers = oracle.make("plain", rng, 6)
    section, records = prover.prove(numbers, 3, rng)
    assert write(tmp_path, numbers, [section], records).ok
    for name in ("a.proof", "problem.npz"):
        good = (tmp_path / name).read_bytes()
        for _ in range(300):
            bad = bytearray(good)
            if rng.random() < 0.3:
                bad = bad[: int(rng.integers(len(bad)))]
            else:
                bad[int(rng.integers(len(bad)))] ^= 1 << int(rng.integers(8))
            (tmp_path / name).write_bytes(bytes(bad))
            report = check(tmp_path / "problem.npz", tmp_path / "a.proof", jobs=0)
            assert report.ok == (bytes(bad) == good) or name == "problem.npz"  # zip files have bytes without meaning
            assert report.ok or len(report.sentences) == 1
        (tmp_path / name).write_bytes(good)


def test_a_file_of_another_version_is_not_checked(tmp_path):
    rng = np.random.default_rng(43)
    numbers = oracle.make("plain", rng, 5)
    section, records = prover.prove(numbers, 2, rng)
    write(tmp_path, numbers, [section], records)
    proof = (tmp_path / "a.proof").read_bytes()
    (tmp_path / "a.proof").write_bytes(proof.replace(b"exactsindy-proof 1\n", b"exactsindy-proof 2\n"))
    assert check(tmp_path / "problem.npz", tmp_path / "a.proof").outcome == "not checked"
    document = json.loads(proof[proof.index(b'{"version"') : -40])
    (tmp_path / "a.proof").write_bytes(prover.seal(records, {**document, "version": 7}))
    report = check(tmp_path / "problem.npz", tmp_path / "a.proof")
    assert report.outcome == "not checked"
    assert report.sentences == ("a.proof: version 7 is not known; 5 and 6 are.",)


def perspective_file(numbers, share, slots=2):
    """A tree that branches on the strongest term and ends the rest by a perspective bound."""
    a, z, _, ridge = numbers
    d = len(z)
    gram = a.T @ a + np.diag(ridge)
    delta = np.full(d, share * np.linalg.eigvalsh(gram)[0])
    ranked = prover.truth(numbers, slots)
    best, second = ranked[0], next(e for e in ranked[1:] if e[1] == ranked[0][1])
    cut = float(np.nextafter(float(second[0]), np.inf))
    (first,) = set(best[2]) & set(second[2])
    free = [j for j in range(d) if j != first]
    v = np.linalg.solve(gram[np.ix_(free, free)], a[:, free].T @ z)
    exponents = [3 - j for j in range(d)]
    point = np.ldexp(v, [-exponents[j] for j in free]).astype("<f4")
    data = prover.varint(8 + first) + bytes([1, 6]) + point.tobytes()
    section, _ = prover.prove(numbers, slots, np.random.default_rng(0))
    section |= {"cut": cut.hex(), "delta": [float(x).hex() for x in delta], "exponents": exponents}
    return section, [(0, 0, data)]


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_perspective_ends_are_accepted_where_they_hold(tmp_path, ridge):
    rng = np.random.default_rng(51)
    accepted = 0
    for _ in range(8):
        d = 6
        a = np.triu(np.eye(d) + 0.01 * rng.standard_normal((d, d)))
        z = np.array([2.0, 1.8, 1.2, 1.2, 1.2, 1.2]) + 0.02 * rng.standard_normal(d)
        numbers = (a, z, np.array([0.3]), np.full(d, ridge))
        try:
            section, records = perspective_file(numbers, 0.99)
        except (ValueError, StopIteration):  # best and next best do not share one term
            continue
        good = write(tmp_path, numbers, [section], records)
        assert good.ok, good.sentences
        accepted += 1
        section, records = perspective_file(numbers, 1.1)  # not semidefinite
        assert "delta is missing or not proved" in write(tmp_path, numbers, [section], records).sentences[0]
        section, records = perspective_file(numbers, 1e-3)  # too weak a bound
        assert "the perspective bound of" in write(tmp_path, numbers, [section], records).sentences[0]
        section, records = perspective_file(numbers, 0.99)
        section["delta"] = None
        assert not write(tmp_path, numbers, [section], records).ok
        section, records = perspective_file(numbers, 0.99)
        records = [(0, 0, records[0][2][:-4] + np.array([np.nan], dtype="<f4").tobytes())]
        assert not write(tmp_path, numbers, [section], records).ok
    assert accepted > 2


@pytest.mark.parametrize(
    "records, sentence",
    [
        ([], "the section has no records."),
        ([(0, 0, b"\x08\x01")], "chunk 0, step 2: a number is cut short."),
        ([(0, 0, b"\x08\x08\x01\x01\x01")], "chunk 0, step 2: term 0 is not free."),
        ([(0, 0, b"\x7f")], "chunk 0, step 1: term 119 is not free."),
        ([(0, 0, b"\x01")], "chunk 0, step 1: a scan with 3 terms to choose; at most 2 are scanned."),
        ([(0, 0, b"\x02")], "chunk 0, step 1: 5 free terms but only 3 to choose."),
        ([(0, 0, b"\x08\x01\x02")], "chunk 0, step 3: 4 free terms but only 3 to choose."),
        ([(0, 0, b"\x08\x09\x0a\x0b\x01\x01\x01\x01\x01")], "chunk 0, step 4: term 3 is not free."),
        ([(0, 0, b"\x07")], "chunk 0, step 1: step 7 is not known."),
        ([(0, 0, b"\x03\x03")], "chunk 0: 1 bytes are left over."),
        ([(0, 0, b"\x03"), (0, 5, b"\x03")], "chunk 5 is never entered."),
        ([(0, 0, b"\x04\x05")], "chunk 5 is missing or entered twice."),
        ([(0, 0, b"\x04\x00")], "chunk 0 is missing or entered twice."),
        ([(0, 0, b"\x08\x04\x01\x04\x01"), (0, 1, b"\x01")], "chunk 1 is missing or entered twice."),
        ([(0, 0, b"\x05\x00")], "chunk 0, step 1: 0 terms to miss of 5."),
        (
            [(0, 0, b"\x05\x01\x00\x01\x02\x02")],
            "chunk 0, step 1: the terms (0, 1, 2, 2) are not 4 distinct free ones.",
        ),
        (
            [(0, 0, b"\x05\x01\x00\x01\x02\x09")],
            "chunk 0, step 1: the terms (0, 1, 2, 9) are not 4 distinct free ones.",
        ),
        ([(0, 0, b"\x06\x00\x00")], "chunk 0, step 1: the vector is cut short."),
        ([(0, 0, b"\x03")], "chunk 0, step 1: the terms [] are independent."),
    ],
)
def test_steps_that_cannot_be_are_named(tmp_path, records, sentence):
    rng = np.random.default_rng(71)
    numbers = oracle.make("plain", rng, 5)
    section, _ = prover.prove(numbers, 3, rng)
    report = write(tmp_path, numbers, [section], records)
    assert report.outcome == "false"
    assert report.sentences == (f"section 0 (x00', k = 3): {sentence}",)


def test_claims_about_more_terms_need_a_fit_that_none_can_beat(tmp_path):
    a = np.triu(np.ones((5, 5)))
    a[:, 3] = a[:, 0] + a[:, 1] - a[:, 2]  # four columns span three directions; nothing reaches the fourth row
    a[:, 4] = 0.0
    numbers = (a, np.array([1.0, -2.0, 3.0, 2.0, 0.0]), np.array([1.0]), np.zeros(5))
    section, records = prover.prove(numbers, 3, np.random.default_rng(81))
    section["claim"]["at_most"] = 5
    assert write(tmp_path, numbers, [section], records).ok
    section, records = prover.prove(numbers, 2, np.random.default_rng(82))
    section["claim"]["at_most"] = 5
    (sentence,) = write(tmp_path, numbers, [section], records).sentences
    assert "the proof is about 2 terms only, and more terms may fit better than" in sentence


def test_the_command_gives_the_products_one_thread():
    pytest.importorskip("threadpoolctl")
    program = (
        "import exactsindy_check.__main__, threadpoolctl as t;"
        "print({p['num_threads'] for p in t.threadpool_info() if p['user_api'] == 'blas'})"
    )
    free = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run([sys.executable, "-c", program], env=free, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "{1}"


def test_the_package_has_only_the_names_it_offers():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = exactsindy_check.nothing


@pytest.mark.parametrize(
    "change",
    [{"ridge": [(-1.0).hex()] * 5}, {"coefficient_limit": (0.0).hex()}, {"exponents": [5000] * 5}, {"k": -1}],
)
def test_sections_that_cannot_be_are_unreadable(tmp_path, change):
    rng = np.random.default_rng(91)
    numbers = oracle.make("plain", rng, 5)
    section, records = prover.prove(numbers, 2, rng)
    assert write(tmp_path, numbers, [section], records).ok
    report = write(tmp_path, numbers, [section | change], records)
    assert report.outcome == "unreadable"
    assert len(report.sentences) == 1


def test_processes_that_read_other_files_prove_nothing(tmp_path, capsys):
    """Each process of a shared check says so if it was given a file that is not the one the claims were read from."""
    rng = np.random.default_rng(4)
    numbers = oracle.make("plain", rng, 5)
    section, records = prover.prove(numbers, 2, rng)
    write(tmp_path, numbers, [section], records)
    problem, proof = str(tmp_path / "problem.npz"), str(tmp_path / "a.proof")
    digests = f"{read_instance(problem).fingerprint} {read_proof(proof).digest}"
    sharing.main(0, 1, problem, proof, digests)
    assert '"end": true' in capsys.readouterr().out
    sharing.main(0, 1, problem, proof, digests[:-1] + "-")
    said = capsys.readouterr().out
    assert "replaced while they were checked" in said
    assert '"end"' not in said
