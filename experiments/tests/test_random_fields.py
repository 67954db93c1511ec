from __future__ import annotations

import numpy as np
import pytest

from exactsindy.systems import FIELD_SYSTEMS
from exactsindy_experiments.random_fields import LINES, PLANES, random_field


@pytest.mark.parametrize("family", [*LINES, *PLANES])
def test_laws_are_in_their_library_and_not_among_the_known(family):
    first, second = random_field(family, 0), random_field(family, 1)
    assert first.truth != second.truth
    assert first.truth == random_field(family, 0).truth
    assert first.truth not in [system.truth for system in FIELD_SYSTEMS.values()]
    points = 16
    clean = first.simulate(np.random.RandomState(0), points=points, times=first.times[:3])
    names = first.library.bind(clean).names
    assert all(term in names for terms in first.truth.values() for term in terms)
    assert clean.shape == (points,) * len(first.lengths) + (3,)
