"""Who checks the checker: a fault planted into a copy of its source must be seen by its own tests.

A few faults in every run, all of them with `make campaign` (about five minutes).
"""

from __future__ import annotations

import pytest

from planted_faults import FAULTS

_SLICE = [fault for fault in FAULTS if "::test_computed_bounds" in fault.test][:2]
_SLICE += [fault for fault in FAULTS if fault.test.startswith("test_claims.py")][:2]


def _name(fault):
    return f"{fault.file}: {fault.text.strip().splitlines()[0][:50]}"


@pytest.mark.parametrize("fault", _SLICE, ids=_name)
def test_some_planted_faults_are_seen(fault, tmp_path):
    assert not fault.survives(tmp_path)


@pytest.mark.campaign
@pytest.mark.parametrize("fault", FAULTS, ids=_name)
def test_every_planted_fault_is_seen(fault, tmp_path):
    assert not fault.survives(tmp_path)


def test_the_list_is_long_and_a_copy_without_a_fault_passes(tmp_path):
    assert len(FAULTS) >= 80
    assert len({(fault.file, fault.text, fault.replacement) for fault in FAULTS}) == len(FAULTS)
    idle = type(FAULTS[0])("bounds", "TINY = 2.0**-960", "TINY = 2.0**-959", FAULTS[0].test)
    assert idle.survives(tmp_path)
