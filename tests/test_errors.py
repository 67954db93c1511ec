from __future__ import annotations

import pytest

import exactsindy as es
from exactsindy.errors import listed, nearest

NAMES = ["lorenz", "hopf", "roessler"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lorentz", "Did you mean 'lorenz'? Known are lorenz, hopf, roessler."),
        ("rossler", "Did you mean 'roessler'? Known are lorenz, hopf, roessler."),
        ("??", "Known are lorenz, hopf, roessler."),
        (7, "Known are lorenz, hopf, roessler."),
    ],
)
def test_near_names_are_suggested_and_all_are_listed(name, text):
    assert nearest(name, NAMES) == text


def test_long_lists_are_cut():
    assert listed(f"x{i}" for i in range(12)).endswith("x10, x11")
    assert listed(f"x{i}" for i in range(13)).endswith("x10, x11, ... (13 in all)")


def test_keywords_of_other_packages_are_answered_with_ours():
    with pytest.raises(TypeError, match=r"discover\(\) has no argument 't'. Did you mean time=\?"):
        es.discover([[1.0]], t=0.1)
    with pytest.raises(TypeError, match=r"has no argument .constraint.\. Did you mean 'constraints'"):
        es.discover([[1.0]], constraint=())
    with pytest.raises(TypeError, match=r"has no argument 'periodic'. Fields are described before: discover\(Field"):
        es.discover([[1.0]], periodic=("x",))
