"""A small prover for small problems: plain branching with ends chosen at random, values from the oracle."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from itertools import combinations

import numpy as np

import check_oracle as oracle

MAGIC = b"exactsindy-proof 1\n"
LIMIT = 2.0**27


def varint(n):
    out = bytearray()
    while n >= 128:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes([*out, n])


def seal(records, footer):
    """Return the bytes of a proof file from [(section, chunk, bytes)] and the footer's document."""
    body = MAGIC
    for section, chunk, data in records:
        body += varint(section + 1) + varint(chunk) + varint(len(data)) + data
    if not isinstance(footer, bytes):
        footer = json.dumps({"version": 6, "budgets": [], "conditions": [], **footer}).encode()
    text = footer
    body += b"\0" + text + len(text).to_bytes(8, "little")
    return body + hashlib.sha256(body).digest()


class Prover:
    """Writes the tree of one section as chunks."""

    def __init__(self, numbers, k, cut, rng, *, delta=None, wild=True, listing=False, independent=False):
        self.listing = listing and not independent
        self.numbers, self.rng, self.delta, self.wild = numbers, rng, delta, wild
        self.cut = None if cut == float("inf") else Fraction(cut)
        self.values: dict[tuple[int, ...], tuple] = {}
        self.chunks = [[]]
        self.scale = sum(Fraction(x) ** 2 for x in [*numbers[1].tolist(), *numbers[2].tolist()])

    def fit(self, support):
        support = tuple(sorted(support))
        if support not in self.values:
            self.values[support] = oracle.fraction_fit(*self.numbers, support)
        return self.values[support]

    def above(self, support):
        """Whether a bound of these columns surely exceeds the cut, also for a checker that rounds."""
        if self.cut is None:
            return False
        return self.fit(support)[0] > self.cut * (1 + Fraction(1, 10**4)) + self.scale / 10**6

    def tree(self, inside, free, slots, chunk=0):
        """Append the record of a node to a chunk."""
        out, rng = self.chunks[chunk], self.rng
        free = list(free)
        while True:
            if self.wild and rng.random() < 0.1:
                self.chunks.append([])
                out.append(bytes([4]) + varint(len(self.chunks) - 1))
                return self.tree(inside, free, slots, len(self.chunks) - 1)
            end = self.end(inside, free, slots)
            if end is not None:
                out.append(end)
                return None
            j = free.pop(int(rng.integers(len(free)))) if self.wild else free.pop(0)
            out.append(varint(8 + j))
            self.tree([*inside, j], free, slots - 1, chunk)

    def end(self, inside, free, slots):
        everything, rng = (*inside, *free), self.rng
        if not self.listing and inside and min(self.fit(inside)[2]) < Fraction(1, 10**27):
            return bytes([3])
        if self.above(everything) and (not self.wild or rng.random() < 0.8):
            return bytes([0])
        for misses in (1, 2):
            if slots + misses <= len(free) and rng.random() < 0.7:
                terms = rng.permutation(free)[: slots + misses].tolist()
                if all(self.above(set(everything) - set(drop)) for drop in combinations(terms, misses)):
                    return bytes([5]) + varint(misses) + b"".join(varint(j) for j in terms)
        if len(free) <= slots:
            return bytes([2])
        if slots == 0 or (slots <= 2 and rng.random() < 0.6):
            return bytes([1])
        return None


def footer_of(fingerprint, sections):
    return {"writer": "reference", "problem": fingerprint, "sections": sections}


def truth(numbers, k, required=(), forbidden=(), rows=()):
    """Return the admissible supports [(f, size, support)], best first."""
    fits = oracle.all_fits(*numbers, k, LIMIT, required, forbidden)
    return sorted(
        (f, len(s), s)
        for s, (f, ok) in fits.items()
        if ok is not False and all(sum(c for j, c in row if j in s) <= limit for row, limit in rows)
    )


def prove(numbers, k, rng, *, exactly=False, required=(), forbidden=(), rows=(), pool=False, wild=True):
    """Return (section of the footer, records) for the true claims."""
    ranked = truth(numbers, k, required, forbidden, rows)
    if exactly:
        ranked = [entry for entry in ranked if entry[1] == k]
    best = ranked[0] if ranked else (None, k, None)
    others = [entry for entry in ranked[1:] if entry[1] == best[1]]
    last = (ranked or [best])[:5][-1] if pool else others[0] if others else (None,)  # no other one: the cut is infinite
    cut = float("inf") if last[0] is None else float(last[0])
    cut = cut if last[0] is None or Fraction(cut) >= last[0] else float(np.nextafter(cut, np.inf))
    prover = Prover(numbers, k, cut, rng, wild=wild)
    used = [j for j in range(len(numbers[1])) if numbers[0][:, j].any() and j not in (*required, *forbidden)]
    prover.tree(list(required), used, k - len(required))
    members = [entry for entry in ranked if entry[1] == k and (prover.cut is None or entry[0] <= prover.cut)]
    rival = None if pool or not ranked else float(others[0][0]).hex() if others else "inf"
    section = {
        "section": 0,
        "target": "x00'",
        "equation": 0,
        "k": k,
        "exactly": exactly,
        "coefficient_limit": LIMIT.hex(),
        "cut": cut.hex(),
        "required": list(required),
        "forbidden": list(forbidden),
        "rows": [{"coefficients": [list(pair) for pair in row], "limit": limit} for row, limit in rows],
        "ridge": [float(x).hex() for x in numbers[3]],
        "delta": None,
        "exponents": None,
        "claim": {
            "support": list(best[2]) if ranked else None,
            "objective": float(best[0]).hex() if ranked else None,
            "lower_bound": float(best[0]).hex() if ranked else "inf",
            "runner_up": rival,
            "at_most": k,
            "pool": {
                "limit": cut.hex(),
                "supports": [list(s) for _, _, s in members],
                "objectives": [float(f).hex() for f, _, _ in members],
            }
            if pool
            else None,
        },
    }
    records = [(0, n, b"".join(steps)) for n, steps in enumerate(prover.chunks)]
    return section, records
