"""One process of a shared check: ``python -m exactsindy_check.sharing i n problem.npz file.proof``.

It walks the trees, establishes its share of the leaves and writes what it found to standard output, a JSON document
per line.
"""

from __future__ import annotations

import json
import sys

from exactsindy_check.errors import NotChecked, Refuted, Unreadable
from exactsindy_check.instance import read_instance
from exactsindy_check.proof_file import read_proof
from exactsindy_check.section import equation_of, walk


def main(index: int, count: int, problem: str, proof: str) -> None:
    """Establish every `count`-th group of leaves, from group `index` on."""
    try:
        instance, content = read_instance(problem), read_proof(proof)
        for section in content.sections:
            equation = equation_of(instance, section)
            share = (index, count)
            found = walk(content, equation, section, share=share, progress=lambda leaves: _say({"leaves": leaves}))
            survivors = [list(s) for s in sorted(found.survivors)]
            parts = [found.leaves, survivors, found.sentences]
            _say({"section": section.number, "found": parts})
        _say({"end": True})
    except (Unreadable, NotChecked, Refuted) as error:
        _say({"failure": str(error)})


def _say(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4])
