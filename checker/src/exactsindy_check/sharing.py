"""One process of a shared check: ``python -m exactsindy_check.sharing i n problem.npz file.proof digests``.

It walks the trees, establishes its share of the leaves and writes what it found to standard output, a JSON document
per line. All processes must have read the same two files: the digests are those of the process that started them.
"""

from __future__ import annotations

import json
import sys

from exactsindy_check.errors import NotChecked, Refuted, Unreadable
from exactsindy_check.instance import read_instance
from exactsindy_check.proof_file import read_proof
from exactsindy_check.section import equation_of, walk


def main(index: int, count: int, problem: str, proof: str, digests: str) -> None:
    """Establish every `count`-th group of leaves, from group `index` on."""
    try:
        instance, content = read_instance(problem), read_proof(proof)
        _require(f"{instance.fingerprint} {content.digest}" == digests)
        for section in content.sections:
            equation = equation_of(instance, section)
            share = (index, count)
            found = walk(content, equation, section, share=share, progress=lambda leaves: _say({"leaves": leaves}))
            survivors = [list(s) for s in sorted(found.survivors)]
            parts = [found.leaves, survivors, found.sentences]
            _say({"section": section.number, "found": parts})
        _require(read_proof(proof).digest == content.digest)
        _say({"end": True})
    except (Unreadable, NotChecked, Refuted) as error:
        _say({"failure": str(error)})


def _require(same: bool) -> None:
    if not same:
        raise NotChecked("the files were replaced while they were checked.")


def _say(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
