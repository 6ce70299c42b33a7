"""Every installed measure and method keeps the contract; a new one is covered as soon as its entry point is there."""

from __future__ import annotations

import pytest

from discreet import registry
from discreet.testing import check_loss, check_masking, check_risk


@pytest.mark.parametrize("name", registry.installed_names("risk"))
def test_the_risk_measure_keeps_the_contract(name: str) -> None:
    found = registry.load("risk", name)
    assert found.name == name
    check_risk(found)


@pytest.mark.parametrize("name", registry.installed_names("masking"))
def test_the_masking_method_keeps_the_contract(name: str) -> None:
    found = registry.load("masking", name)
    assert found.name == name
    check_masking(found)


@pytest.mark.parametrize("name", registry.installed_names("loss"))
def test_the_loss_measure_keeps_the_contract(name: str) -> None:
    found = registry.load("loss", name)
    assert found.name == name
    check_loss(found)
