"""Every method of this folder passes the kit that a stranger's plug-in has to pass."""

from __future__ import annotations

import pytest

from discreet.masking.global_recoding.method import GlobalRecoding
from discreet.masking.microaggregation.method import Microaggregation
from discreet.masking.noise.method import Noise
from discreet.masking.pram.method import Pram
from discreet.masking.pseudonymization.method import Pseudonymization
from discreet.masking.remove_identifiers.method import RemoveIdentifiers
from discreet.masking.rounding.method import Rounding
from discreet.masking.sampling.method import Sampling
from discreet.masking.shuffling import Shuffling
from discreet.masking.simulation import Simulation
from discreet.masking.swapping.method import Swapping
from discreet.masking.top_bottom_coding.method import TopBottomCoding
from discreet.testing.masking_checks import check_masking

METHODS = [
    GlobalRecoding(width=10),
    GlobalRecoding(breaks=(30, 60)),
    GlobalRecoding(level=1),
    GlobalRecoding(unit="year"),
    TopBottomCoding(top_share=0.1, bottom_count=2),
    TopBottomCoding(top_share=0.1, replace="label"),
    Microaggregation(size=3),
    Microaggregation(size=3, how="optimal"),
    Microaggregation(size=2, aggregate="mode"),
    Noise(level=0.1),
    Noise(level=0.2, how="kim", within=True),
    Noise(level=0.2, how="multiplicative"),
    Pram(),
    Pram(retention=0.5, invariant=True, strata=("smoker",)),
    Pseudonymization(),
    Pseudonymization(length=20),
    RemoveIdentifiers(),
    Rounding(base=10),
    Rounding(base=2.5, how="controlled"),
    Sampling(fraction=0.5),
    Sampling(fraction=0.5, strata=("smoker",)),
    Shuffling(given=("age", "education")),
    Simulation(factor=0.3),
    Simulation(factor=1, how="bootstrap"),
    Swapping(window=20),
    Swapping(how="random", strata=("smoker",)),
    Swapping(how="targeted", keys=("age",)),
]


@pytest.mark.parametrize(
    "method", METHODS, ids=lambda method: f"{method.name}{ {k: v for k, v in method.parameters.items() if v} }"
)
def test_the_method_passes_the_conformance_kit(method):
    check_masking(method)


@pytest.mark.parametrize(
    "method", sorted({type(method) for method in METHODS}, key=lambda cls: cls.name), ids=lambda cls: cls.name
)
def test_the_class_passes_with_its_own_example(method):
    check_masking(method)
