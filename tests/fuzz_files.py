"""A fuzzer of everything that reads files or text: ``python tests/fuzz_files.py --seconds 60``.

With atheris (``pip install atheris``) the coverage of the code guides the mutations; without it they are drawn at
random from the same seeds. A reader may answer or raise an error of the package; anything else ends the fuzzer and is
printed with the input that caused it.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import hashlib
import json
import lzma
import random
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from files_hostile import NPZ, RECORDS, SMALL, matlab, packed, tables

try:
    import atheris
except ImportError:
    atheris = None


def _targets(folder):
    """Return, by name, a function of bytes and seeds to start from."""
    import exactsindy as es
    import exactsindy_check.checking  # noqa: F401 - now, so that its coverage guides, too: the package loads it late
    from exactsindy.certificate.condition_text import read_text
    from exactsindy.constraints import parse_constraint
    from exactsindy.library import OpenTerm, Variables, parse_term

    variables = Variables(("x", "y", "u"), ("c",), "t", ("a", "b"))
    problem = es.Problem.from_arrays(np.eye(4, 3), np.arange(4.0))
    buffer = folder / "seed.npz"
    problem.save(buffer)
    es.Model.from_coefficients({"x'": {"x": 1.0, "sin(y)": -2.0}, "y'": {"x y": 1.0}}).save(folder / "seed.json")
    np.savez(folder / "table.npz", t=np.arange(9.0), x=np.arange(9.0) ** 2)
    t = np.arange(0.0, 5.0, 0.05)
    run = es.discover(np.exp(-t), t, states=("x",), degree=1, threads=1).save(folder / "run")
    results = (run / "results.json").read_bytes()
    table = b"t,x,y\n0,1,2\n0.1,1.5,2e3\n0.2,nan,-1\n# note\n"

    rng = np.random.default_rng(0)
    long = es.Problem.from_arrays(rng.normal(size=(24, 20)), rng.normal(size=24))
    limit, proof, checkpoint = es.Settings(threads=1, nodes=40), folder / "seed.proof", folder / "seed.checkpoint"
    es.solve(long, 3, proof=proof)
    es.solve(long, 4, settings=limit, checkpoint=checkpoint)
    es.solve(long, 2, constraints=[es.constraints.Bounds(0, 0, -0.1, 0.1)], proof=folder / "conditions.proof")
    proofs = [proof.read_bytes(), (folder / "conditions.proof").read_bytes()]

    def go_on(data):
        checkpoint.write_bytes(data)
        es.solve(long, 4, settings=limit, checkpoint=checkpoint)

    def check(data):
        (folder / "a.proof").write_bytes(data)
        report = es.check_proof(long, folder / "a.proof", jobs=0)
        assert all("\n" not in sentence for sentence in report.sentences), report.sentences

    def file(name, reader):
        def read(data):
            (folder / name).write_bytes(data)
            reader(folder / name)

        return read

    def run_folder(data):
        (run / "results.json").write_bytes(data)
        es.Discovery.load(run)

    return {
        "csv": (file("x.csv", es.load), [table, table.replace(b",", b";"), table.decode().encode("utf-16")]),
        "npz": (file("x.npz", es.load), [(folder / "table.npz").read_bytes(), packed({"x.npy": SMALL})]),
        "npy": (file("x.npy", es.load), [SMALL]),
        "gzip": (file("x.csv.gz", es.load), [gzip.compress(table)]),
        "xz": (file("x.csv.xz", es.load), [lzma.compress(table)]),
        "bzip2": (file("x.csv.bz2", es.load), [bz2.compress(table)]),
        "zip": (file("x.zip", es.load), [packed({"x.csv": table}), packed({"a/b.npz": packed({"x.npy": SMALL})})]),
        "json": (file("x.json", es.load), [RECORDS, b'{"t": [0, 1, 2], "x": [1, null, 3]}']),
        "json lines": (file("x.jsonl", es.load), [b'{"t": 0, "x": 1}\n{"t": 1, "x": 2}\n{"t": 2, "x": null}\n']),
        "mat": (file("x.mat", es.load), [matlab()]),
        **{name: (file(f"x.{name}", es.load), [content]) for name, content in tables().items()},
        "problem": (
            file("p.npz", es.Problem.load),
            [buffer.read_bytes(), *(c for c, _ in NPZ.values() if len(c) < 9999)],
        ),
        "model": (file("m.json", es.Model.load), [(folder / "seed.json").read_bytes()]),
        "run": (run_folder, [results]),
        "proof": (check, proofs),
        "sealed proof": (lambda d: check(sealed_proof(d)), [unsealed(p) for p in proofs]),
        "checkpoint": (go_on, [checkpoint.read_bytes()]),
        "sealed checkpoint": (lambda d: go_on(sealed_checkpoint(d)), [checkpoint.read_bytes().partition(b"\n")[2]]),
        "condition": (
            lambda d: read_text(d.decode("utf-8", "replace")),
            [b"y': x z == -1", b"x': x + 2*x y <= 1e-3", b"x': y == y': x"],
        ),
        "open term": (
            lambda d: OpenTerm.parse(d.decode("utf-8", "replace"), variables, ("K", "w")).at({"K": 0.5, "w": 2.0}),
            [b"x/(K + x)", b"sin(w x + 1) y", b"exp(-K x^2)/(1 + w y)"],
        ),
        "term": (
            lambda d: parse_term(d.decode("utf-8", "replace"), variables),
            [b"x^2 y", b"sin(2 x)/(1 + y)", b"u u_a"],
        ),
        "constraint": (
            lambda d: parse_constraint(d.decode("utf-8", "replace")),
            [b"y': x z == -1", b"x': x + 2*x y <= 1e-3", b"x': y == y': x"],
        ),
    }


def unsealed(proof):
    """Return the records of a proof, a length of four bytes before them, and its claims."""
    length = int.from_bytes(proof[-40:-32], "little")
    records = proof[: -40 - length]
    return len(records).to_bytes(4, "little") + records + proof[-40 - length : -40]


def sealed_proof(data):
    """Return a proof file of such bytes with the right lengths and checksum."""
    count = int.from_bytes(data[:4], "little") % max(len(data) - 3, 1)
    footer = data[4 + count :]
    body = data[4 : 4 + count] + footer + len(footer).to_bytes(8, "little")
    return body + hashlib.sha256(body).digest()


def sealed_checkpoint(data):
    """Return a checkpoint of this JSON with the right checksum."""
    return b"exactsindy checkpoint 1 " + hashlib.sha256(data).hexdigest().encode() + b"\n" + data


def attempt(name, function, data):
    """Run one reader; print and raise what is no answer and no error of the package."""
    from exactsindy.errors import ExactSindyError

    begin = time.monotonic()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(data)
    except ExactSindyError as error:
        if "\n" in str(error):
            raise AssertionError(f"{name}: {data[:400]!r}: more than one line: {error}") from error
    except Exception:
        print(f"{name}: {data[:400]!r}", file=sys.stderr)
        raise
    assert time.monotonic() - begin < 30, f"{name} took too long: {data[:400]!r}"


def mutated(data, rng):
    """Return bytes with some flipped, cut, doubled, replaced by a number, or moved."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        i, j = sorted(rng.randrange(len(out) + 1) for _ in "ab")
        kind = rng.randrange(6)
        if kind == 0 and i < len(out):
            out[i] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del out[i : min(j, i + 40)]
        elif kind == 2:
            out[i:i] = out[i : min(j, i + 40)] * rng.choice((1, 3, 50))
        elif kind == 3:
            out[i:i] = rng.choice((b"1e999", b"-1", b"nan", b"[", b"(" * 60, b"\0", b"'", b'"', b"9" * 30, b"{}", b","))
        elif kind == 4:
            out[i:i] = rng.randbytes(rng.randrange(1, 9))
        else:
            out = out[j:] + out[:j]
    return bytes(out)


def drawn(targets, seconds, seed):
    """Try random mutations for so long; return how many of each."""
    rng, counts = random.Random(seed), dict.fromkeys(targets, 0)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        name = rng.choice(list(targets))
        function, seeds = targets[name]
        data = mutated(rng.choice(seeds), rng)
        if rng.random() < 0.3 and name in ("model", "run"):
            data = edited(rng.choice(seeds), rng)
        attempt(name, function, data)
        counts[name] += 1
    return counts


def edited(data, rng):
    """Return JSON with one value replaced by another."""
    record = json.loads(data)
    holder = record
    while True:
        key = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if isinstance(holder[key], (dict, list)) and holder[key] and rng.random() < 0.8:
            holder = holder[key]
            continue
        holder[key] = rng.choice(
            (None, True, -1, 0, 2**62, 1e300, 1e-300, "nan", "inf", "", [], {}, "x", [[]], {"a": 1})
        )
        return json.dumps(record).encode()


def _chosen(targets, names):
    unknown = set(names) - set(targets)
    if unknown:
        raise SystemExit(f"--only: no reader is called {', '.join(sorted(unknown))}; there are {', '.join(targets)}.")
    return {name: targets[name] for name in names or targets}


def main():
    """Fuzz for the seconds asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="only these readers, such as term,constraint")
    given = parser.parse_args()
    chosen = [name for name in given.only.split(",") if name]
    with tempfile.TemporaryDirectory() as folder:
        if atheris is None:
            print("atheris is not installed (pip install atheris): random mutations, not guided by coverage.")
            print(drawn(_chosen(_targets(Path(folder)), chosen), given.seconds, given.seed))
            return
        with atheris.instrument_imports(include=["exactsindy", "exactsindy_check"]):
            targets = _chosen(_targets(Path(folder)), chosen)
        print(drawn(targets, given.seconds / 2, given.seed))
        names = sorted(targets)
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for k, name in enumerate(names):
            for i, seed in enumerate(targets[name][1]):
                (corpus / f"{name}{i}").write_bytes(bytes([k]) + seed)

        def one(data):
            if data:
                name = names[data[0] % len(names)]
                attempt(name, targets[name][0], data[1:])

        limit = max(1, round(given.seconds / 2))
        atheris.Setup(
            [
                sys.argv[0],
                f"-max_total_time={limit}",
                f"-seed={given.seed + 1}",
                "-max_len=30000",
                f"-artifact_prefix={folder}/",
                str(corpus),
            ],
            one,
        )
        atheris.Fuzz()  # (ends the process)


if __name__ == "__main__":
    main()
