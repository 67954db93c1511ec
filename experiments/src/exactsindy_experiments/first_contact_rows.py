"""Result rows of the first-contact benchmark: one per data set and equation."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import exactsindy
from exactsindy_experiments.results import Table

#: Printed confidence from which an answer is called sure.
SURE = 0.9
EQUAL, UNEQUAL, PIECES = "equal steps", "unequal steps", "5 pieces"


@dataclass(frozen=True)
class ContactCase:
    """One data set.

    ``system`` is ``random-3``, a name of the catalogue, or the family of a drawn law; ``seed`` is that of the draw, of
    the start and of the noise. ``noise`` is a share of the size of the states, ``tolerance`` that of the solver that
    simulated them. ``per_period`` is 0 where the duration is not counted in periods.
    """

    part: str
    system: str
    seed: int
    samples: int
    per_period: float
    noise: float
    solver: str = "LSODA"
    tolerance: float = 1e-12
    sampling: str = EQUAL

    def __str__(self) -> str:
        return f"{self.part} {self.system}, n {self.samples}, noise {100 * self.noise:g} %"


@dataclass(frozen=True)
class ContactRow:
    """What `discover` says about one equation of one data set.

    ``inside``: the library holds the law of this equation; ``confidence``: None where it is withheld; ``spurious`` and
    ``missing``: terms beyond and below the true ones; ``about``: kinds of the warnings that name this equation,
    ``warnings``: of all; ``departure``: share of an outside law that the whole library leaves along clean data;
    ``best_subset``: the best support of the true size is the true one; ``lead``: by how much the likelihood of
    trajectories prefers the true terms to their best rival, for equations outside the library that are printed as sure
    twice the log-likelihood ratio of the law itself against the model chosen; ``seconds``: CPU time of the call;
    ``failure``: the error, if there was one, in place of an answer.
    """

    case: ContactCase
    equation: str
    inside: bool
    right: bool
    confidence: float | None
    size: int
    spurious: int | None
    missing: int | None
    about: str
    warnings: str
    departure: float | None
    best_subset: bool | None
    lead: float | None
    seconds: float
    version: str
    failure: str

    @property
    def key(self) -> tuple[ContactCase, str]:
        """What identifies the row."""
        return self.case, self.equation

    @property
    def sure(self) -> bool:
        """Whether the answer is printed as sure; withheld is not."""
        return self.confidence is not None and self.confidence >= SURE


def contact_table(folder: Path, label: str) -> Table[ContactRow]:
    """Open the rows of one version of the package."""
    return Table(folder / f"first_contact_{label}.csv", ContactRow)


@cache
def version() -> str:
    """Return the version of the package and a digest of its source files, which tells two states of it apart."""
    folder = Path(exactsindy.__file__).parent
    digest = hashlib.sha256()
    for file in sorted([*folder.rglob("*.py"), *folder.rglob("_native*.so")]):
        digest.update(file.read_bytes())
    return f"{exactsindy.__version__}+{digest.hexdigest()[:8]}"
