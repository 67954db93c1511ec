from importlib.resources import files

import pytest

from exactsindy.datasets import dataset, names
from exactsindy.errors import DataError
from exactsindy.systems import bundled


def test_every_data_set_loads():
    for name in names():
        assert dataset(name).n_samples > 20


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
