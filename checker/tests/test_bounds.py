"""Every lemma of the README against enumeration in fractions: nothing is called above the cut that is not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import check_oracle as oracle
from exactsindy_check import twofold
from exactsindy_check.bounds import bounds, exceeds, ground
from exactsindy_check.exact import ExactFits, Verdict
from exactsindy_check.instance import Equation, scaled
from exactsindy_check.node_bounds import dropped_exceeds, node_exceeds
from exactsindy_check.perspective import perspective_exceeds, semidefinite
from exactsindy_check.projection import Projection
from exactsindy_check.scan import Scanner, pairs_exceed, supports_exceed

LIMIT = 2.0**27


def cuts(values, rng):
    """Cuts that are hard: the values themselves, one or a few units in the last place away, and far away."""
    for value in values:
        near = float(value)
        for step in (0.0, 2.0**-53, 2.0**-52, 2.0**-48, 1e-12, 1e-9, 1e-6, 1e-3, 0.5):
            yield near * (1.0 - step)
        yield near * (1.0 + 2.0**-50)


def ground_of(numbers, cut):
    equation = Equation(*numbers)
    return equation, ground(scaled(equation, LIMIT, Fraction(cut)))


@pytest.mark.parametrize("kind", oracle.KINDS)
def test_exact_fits_agree_with_gram_schmidt(kind):
    rng = np.random.default_rng(1)
    for _ in range(4):
        numbers = oracle.make(kind, rng, 6)
        fits = ExactFits(Equation(*numbers), LIMIT)
        for support, (value, verdict) in oracle.all_fits(*numbers, 4, LIMIT).items():
            fit = fits.fit(support)
            assert fit.value == value
            assert fit.verdict is {True: Verdict.YES, False: Verdict.NO, None: Verdict.EITHER}[verdict]


@pytest.mark.parametrize("kind", oracle.KINDS)
def test_reaches_hold(kind):
    rng = np.random.default_rng(2)
    for _ in range(6):
        numbers = oracle.make(kind, rng, 6)
        a, z, rest, ridge = numbers
        fits = oracle.all_fits(*numbers, 4, LIMIT)
        for cut in sorted({float(f) for f, ok in fits.values() if ok})[:10]:
            _, base = ground_of(numbers, cut)
            n = base.numbers
            for support, (f, ok) in fits.items():
                if not ok or f > Fraction(cut):
                    continue
                coef = oracle.fraction_fit(a, z, rest, ridge, support)[1]
                for j, x in zip(support, coef, strict=True):
                    own = x * Fraction(2) ** int(n.exponent[j] - n.target_exponent)
                    assert abs(own) <= Fraction(float(base.reach[j]))


@pytest.mark.parametrize("kind", oracle.KINDS)
def test_bounds_of_nodes_never_lie(kind):
    rng = np.random.default_rng(3)
    proved = tried = 0
    for _ in range(12):
        d = 6
        numbers = oracle.make(kind, rng, d)
        fits = oracle.all_fits(*numbers, d, LIMIT)
        used = [j for j in range(d) if numbers[0][:, j].any()]
        for _ in range(6):
            order = rng.permutation(used)
            inside, free = np.sort(order[: rng.integers(0, 3)]), None
            free = np.sort(order[len(inside) : len(inside) + rng.integers(1, d)])
            slots = int(rng.integers(0, len(free) + 1))
            below = [
                f
                for s, (f, ok) in fits.items()
                if ok and set(inside) <= set(s) <= set(inside) | set(free) and len(s) <= len(inside) + slots
            ]
            least = min(below, default=None)
            whole = oracle.fraction_fit(*numbers, tuple(sorted({*inside.tolist(), *free.tolist()})))[0]
            for cut in cuts([whole] + ([least] if least is not None else []), rng):
                _, base = ground_of(numbers, cut)
                tried += 1
                if node_exceeds(base, inside, free, slots):
                    proved += 1
                    assert least is None or least > Fraction(cut)
                misses = int(rng.integers(1, 3))
                if slots + misses <= len(free):
                    terms = rng.permutation(free)[: slots + misses].tolist()
                    if dropped_exceeds(base, inside, free, slots, terms, misses):
                        assert least is None or least > Fraction(cut)
    assert proved > 0.2 * tried


def exact_bound(base, w, inside, free, slots):
    """Lemma 3 at w, in fractions."""
    numbers, costs = base.numbers, {}
    for j in {*inside, *free}:
        g = abs(sum(Fraction(x) * y for x, y in zip(numbers.a[:, j].tolist(), w, strict=True)))
        ridge, reach = Fraction(float(numbers.ridge[j])), Fraction(float(base.reach[j]))
        costs[j] = g * g / ridge if ridge and g <= ridge * reach else 2 * g * reach - ridge * reach**2
    most = sorted((costs[j] for j in free), reverse=True)[:slots]
    z = [Fraction(x) for x in numbers.z.tolist()]
    plain = sum(2 * x * y - x * x for x, y in zip(w, z, strict=True))
    return plain - sum((costs[j] for j in inside), Fraction(0)) - sum(most, Fraction(0))


@pytest.mark.parametrize("kind", ["plain", "ridge", "scales", "lowrank"])
def test_computed_bounds_are_not_above_the_exact_ones(kind):
    """Lemmas 1 to 3 at the same w: every rounding error is on the safe side, in doubles and in two-fold arithmetic."""
    rng = np.random.default_rng(12)
    proved = 0
    for trial in range(150):
        d = 6
        numbers = oracle.make(kind, rng, d)
        used = [j for j in range(d) if numbers[0][:, j].any()]
        _, base = ground_of(numbers, float(rng.choice([0.3, 3.0, 30.0])))
        order = rng.permutation(used)
        inside = np.sort(order[: rng.integers(0, 3)])
        free = np.sort(order[len(inside) :])
        slots = int(rng.integers(0, len(free) + 1)) if trial % 3 else 0
        if trial % 3 == 0:
            inside = inside[:0]
        w = rng.standard_normal(d)
        if trial % 2:  # orthogonal to all columns that are spent on, but for rounding
            spent = np.concatenate([inside, free])[: d - 1]
            q = np.linalg.qr(base.numbers.a[:, spent])[0]
            w = w - q @ (q.T @ w)
            w = w - q @ (q.T @ w)
            inside, free = np.sort(spent), free[:0]
            slots = 0
        exact = exact_bound(base, [Fraction(x) for x in w.tolist()], inside.tolist(), free.tolist(), slots)
        mask = np.zeros((d, 1), dtype=bool)
        mask[free] = True
        assert Fraction(float(bounds(base, w[:, None], inside, mask, slots)[0])) <= exact
        low = w * 2.0**-54 * rng.uniform(-1, 1, d)
        both = [Fraction(x) + Fraction(y) for x, y in zip(w.tolist(), low.tolist(), strict=True)]
        exact = exact_bound(base, both, inside.tolist(), free.tolist(), slots)
        g = twofold.dots(base.numbers.a, w[:, None], low[:, None])
        for step in (-4, -1, 0, 1, 4):
            cut = float(exact)
            for _ in range(abs(step)):
                cut = float(np.nextafter(cut, np.inf if step > 0 else -np.inf))
            there = replace(base, numbers=replace(base.numbers, cut=cut))
            above = exceeds(there, w, low, g, inside, free, slots)
            proved += above
            assert not above or exact > Fraction(cut)
    assert proved


@pytest.mark.parametrize("kind", oracle.KINDS)
def test_scans_never_lie(kind):
    rng = np.random.default_rng(4)
    proved = tried = 0
    for _ in range(10):
        d = 7
        numbers = oracle.make(kind, rng, d)
        fits = oracle.all_fits(*numbers, 4, LIMIT)
        used = [j for j in range(d) if numbers[0][:, j].any()]
        order = rng.permutation(used)
        inside = np.sort(order[: rng.integers(0, 3)])
        free = np.sort(order[len(inside) :])
        values = sorted({f for s, (f, ok) in fits.items() if ok and set(inside) <= set(s)})
        for cut in cuts(values[:: max(1, len(values) // 4)], rng):
            _, base = ground_of(numbers, cut)
            above = pairs_exceed(base, inside, free, Projection(base).off(inside, free))
            assert np.array_equal(above, above.T)
            pairs = list(combinations(range(len(free)), 2))
            supports = [tuple(sorted((*inside.tolist(), int(free[i]), int(free[j])))) for i, j in pairs]
            singly = supports_exceed(base, np.array(supports))
            for (i, j), support, alone in zip(pairs, supports, singly, strict=True):
                tried += 1
                proved += bool(alone)
                if above[i, j] or alone:
                    for size in range(len(inside), len(support) + 1):
                        for part in combinations(support, size):
                            if set(inside) <= set(part):
                                f, ok = fits[part]
                                assert ok is not True or f > Fraction(cut)
    assert proved > 0.2 * tried


@pytest.mark.parametrize("kind", oracle.KINDS)
@pytest.mark.parametrize("slots", [0, 1, 2])
def test_survivors_of_a_scan_are_all_there(kind, slots):
    rng = np.random.default_rng(5)
    for _ in range(6):
        numbers = oracle.make(kind, rng, 6)
        fits = oracle.all_fits(*numbers, 4, LIMIT)
        used = [j for j in range(6) if numbers[0][:, j].any()]
        inside = tuple(sorted(rng.permutation(used)[: rng.integers(0, 3)].tolist()))
        free = np.array([j for j in used if j not in inside])
        ok_values = sorted({f for s, (f, ok) in fits.items() if ok and set(inside) <= set(s)})
        for value in ok_values[:: max(1, len(ok_values) // 3)]:
            for exactly in (False, True):
                cut = Fraction(float(value))
                equation, base = ground_of(numbers, float(value))
                scanner = Scanner(base, ExactFits(equation, LIMIT), cut, exactly)
                scanner.look(inside, free, slots)
                sizes = [slots] if exactly else range(slots + 1)
                wanted = {
                    s
                    for s, (f, ok) in fits.items()
                    if ok is not False and f <= cut and set(inside) <= set(s) and len(s) - len(inside) in sizes
                }
                assert scanner.survivors == wanted


@pytest.mark.parametrize("kind", oracle.KINDS)
def test_perspective_bounds_never_lie(kind):
    rng = np.random.default_rng(6)
    admitted = proved = 0
    for _ in range(12):
        d = 5
        numbers = oracle.make(kind, rng, d)
        fits = oracle.all_fits(*numbers, d, LIMIT)
        used = np.array([j for j in range(d) if numbers[0][:, j].any()])
        order = rng.permutation(used)
        inside = np.sort(order[: rng.integers(0, 2)])
        free = np.sort(order[len(inside) :])
        slots = int(rng.integers(0, len(free)))
        least = min(
            f
            for s, (f, ok) in {**fits, (): fits[()]}.items()
            if ok and set(inside) <= set(s) and len(s) <= len(inside) + slots
        )
        for cut in cuts([least], rng):
            _, base = ground_of(numbers, cut)
            n = base.numbers
            gram = n.a[:, used].T @ n.a[:, used] + np.diag(n.ridge[used])
            for share in (0.5, 0.9, 1.0, 1.1, None):
                delta = np.zeros(d)
                delta[used] = 0.99 * n.ridge[used] if share is None else share * np.linalg.eigvalsh(gram)[0]
                if (delta < 0).any() or not semidefinite(base, delta):
                    continue
                admitted += 1
                columns = np.concatenate([inside, free])
                v = np.zeros(d)
                v[columns] = np.linalg.lstsq(n.a[:, columns], n.z, rcond=None)[0]
                for shrink in (1.0, 0.9, 0.5, 0.0, -0.01, -0.1, -0.5):
                    at = (shrink * v).astype(np.float32).astype(float)
                    if perspective_exceeds(base, delta, inside, free, slots, at):
                        proved += 1
                        assert least > Fraction(cut)
    if kind == "plain":
        assert admitted
        assert proved


def test_perspective_bounds_with_a_ridge_that_rules():
    rng = np.random.default_rng(61)
    proved = 0
    for _ in range(20):
        d = 4
        a = np.triu(0.1 * np.eye(d) + 0.02 * rng.standard_normal((d, d)))
        numbers = (a, rng.standard_normal(d), np.zeros(1), np.ones(d))
        free, inside = np.arange(d), np.zeros(0, dtype=np.intp)
        least = min(f for s, (f, ok) in oracle.all_fits(*numbers, 2, LIMIT).items() if ok)
        for cut in cuts([least], rng):
            _, base = ground_of(numbers, cut)
            n = base.numbers
            for share in (0.9, 1.0):
                delta = share * n.ridge
                assert semidefinite(base, delta)
                for shrink in (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0):
                    v = shrink * (n.a.T @ n.z) / n.ridge
                    if perspective_exceeds(base, delta, inside, free, 2, v):
                        proved += 1
                        assert least > Fraction(cut)
    assert proved


def test_semidefinite_is_never_claimed_of_an_indefinite_matrix():
    rng = np.random.default_rng(7)
    for _ in range(600):
        d = 4
        a, z, rest, ridge = oracle.make("plain", rng, d)
        _, base = ground_of((a, z, rest, ridge), 1.0)
        n = base.numbers
        least = np.linalg.eigvalsh(n.a.T @ n.a)[0]
        delta = np.full(d, max(0.0, least + float(rng.choice([-1e-3, -1e-9, *(1e-17 * np.arange(-20, 21))]))))
        if not semidefinite(base, delta):
            continue
        rows = [[Fraction(x) for x in row] for row in n.a.tolist()]
        gram = [[sum(r[i] * r[j] for r in rows) for j in range(d)] for i in range(d)]
        for i in range(d):
            gram[i][i] -= Fraction(float(delta[i]))
        for p in range(d):  # exact elimination: all pivots >= 0
            assert gram[p][p] > 0
            for i in range(p + 1, d):
                factor = gram[i][p] / gram[p][p]
                gram[i] = [x - factor * y for x, y in zip(gram[i], gram[p], strict=True)]


def test_twofold_dots_are_within_their_error():
    rng = np.random.default_rng(8)
    for _ in range(300):
        n = int(rng.integers(1, 40))
        a, high = rng.standard_normal(n) * 10.0 ** rng.integers(-9, 3, n), rng.standard_normal(n)
        low = high * 2.0**-53 * rng.uniform(-1, 1, n)
        if n > 2:  # cancel almost everything
            a[-1] = -float(a[:-1] @ high[:-1]) / high[-1]
        true = sum(Fraction(x) * (Fraction(h) + Fraction(e)) for x, h, e in zip(a, high, low, strict=True))
        got = float(twofold.dots(a[:, None], high[:, None], low[:, None])[0])
        bound = 2.0**-52 * abs(got) + twofold.dots_error(n) * np.linalg.norm(a) * np.linalg.norm(high) * 1.001
        assert abs(Fraction(got) - true) <= Fraction(float(bound))


@pytest.mark.parametrize("spoil", [1e-14, 1e-9, 1e-3])
@pytest.mark.parametrize("kind", ["plain", "near", "ridge"])
def test_what_only_guides_may_be_wrong(monkeypatch, kind, spoil):
    """Factorisations choose vectors; spoiled ones give weaker bounds, never wrong ones."""
    rng = np.random.default_rng(9)
    true_qr, true_svd = np.linalg.qr, np.linalg.svd

    def spoiled(x):
        return x * (1.0 + spoil * rng.standard_normal(x.shape)) + spoil * rng.standard_normal(x.shape)

    cases = []
    for _ in range(8):
        numbers = oracle.make(kind, rng, 6)
        fits = oracle.all_fits(*numbers, 4, LIMIT)
        order = rng.permutation(6)
        inside = np.sort(order[: rng.integers(1, 3)])
        cases.append((numbers, fits, inside, np.sort(order[len(inside) :])))
    monkeypatch.setattr(np.linalg, "qr", lambda a, *more: tuple(map(spoiled, true_qr(a))))
    monkeypatch.setattr(np.linalg, "svd", lambda a, **more: tuple(map(spoiled, true_svd(a, full_matrices=False))))
    for numbers, fits, inside, free in cases:
        node = {s: f for s, (f, ok) in fits.items() if ok and set(inside) <= set(s) and len(s) <= len(inside) + 2}
        for cut in cuts(sorted(node.values())[:: max(1, len(node) // 4)], rng):
            _, base = ground_of(numbers, cut)
            assert not node_exceeds(base, inside, free, 2) or min(node.values()) > Fraction(cut)
            terms = free[:3].tolist()
            assert not dropped_exceeds(base, inside, free, 2, terms, 1) or min(node.values()) > Fraction(cut)
            vectors = Projection(base).off(inside, free)
            above = pairs_exceed(base, inside, free, (spoiled(vectors[0]), spoiled(vectors[1])))
            for i, j in combinations(range(len(free)), 2):
                support = tuple(sorted((*inside.tolist(), int(free[i]), int(free[j]))))
                if above[i, j] or supports_exceed(base, np.array([support]))[0]:
                    assert all(f > Fraction(cut) for s, f in node.items() if set(s) <= set(support))


@pytest.mark.parametrize("kind", ["plain", "near", "ridge"])
def test_projected_vectors_do_not_depend_on_what_was_projected_before(kind):
    rng = np.random.default_rng(10)
    numbers = oracle.make(kind, rng, 8)
    _, base = ground_of(numbers, 1.0)
    kept = Projection(base)
    for _ in range(60):
        order = rng.permutation(8)
        inside, free = tuple(order[: rng.integers(0, 4)].tolist()), np.sort(order[4:])
        rows, ridge = kept.off(inside, free)
        alone = Projection(base).off(inside, free)
        assert np.array_equal(rows, alone[0])
        assert np.array_equal(ridge, alone[1])
        chosen = list(inside)
        products = rows @ base.numbers.a[:, chosen] + ridge * base.numbers.ridge[chosen]
        assert np.abs(products).max(initial=0.0) < 1e-10
