from importlib.resources import files

import pytest

from exactsindy.datasets import dataset, names, sources
from exactsindy.errors import DataError
from exactsindy.systems import bundled


def test_every_data_set_loads():
    for name in names():
        assert dataset(name).n_samples > 16


def test_unknown_name_says_what_there_is():
    with pytest.raises(DataError, match=r"no bundled data set 'lorentz'\. Did you mean 'lorenz'"):
        dataset("lorentz")


def test_synthetic_data_are_what_their_script_makes():
    """Rounded to four decimals, the file is reproduced up to the integrator's last digits."""
    stored = (files("exactsindy.datasets") / "lorenz.csv").read_text().splitlines()
    made = bundled.lorenz().splitlines()
    assert len(stored) == len(made) == 2501
    for old, new in zip(stored[1:], made[1:], strict=True):
        for a, b in zip(old.split(","), new.split(","), strict=True):
            assert abs(float(a) - float(b)) <= 2e-4


def test_every_data_set_has_a_source_and_a_licence():
    listed = (files("exactsindy.datasets") / "README.md").read_text(encoding="utf-8")
    assert [item.name for item in sources()] == list(names())
    for item in sources():
        assert item.source
        assert item.licence
        assert item.law
        assert f"`{item.file}`" in listed
        assert f"source: {item.source}" in str(item)


def test_the_three_vessels_and_the_measured_rates():
    vessels = dataset("paramecium")
    assert [member.label for member in vessels] == ["aurelia alone", "caudatum alone", "together"]
    assert not vessels[0].states[:, 1].any()
    assert vessels[2].states[-1].tolist() == [350.0, 20.0]
    treated, untreated = dataset("puromycin")
    assert (len(treated), len(untreated)) == (12, 11)
    assert (treated.states[0, 0], treated.derivatives[0, 0]) == (0.02, 76.0)
