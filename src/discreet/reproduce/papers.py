"""The five papers by their numbers, and the function that reproduces each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from discreet.errors import PolicyError, nearest
from discreet.reproduce.decision import reproduce_decision
from discreet.reproduce.known_sets import reproduce_known_sets
from discreet.reproduce.repeated_records import reproduce_repeated_records
from discreet.reproduce.results import Generators, Reproduction
from discreet.reproduce.target_linkage import reproduce_target_linkage
from discreet.reproduce.targeted_suppression import reproduce_targeted_suppression

PAPERS: Mapping[str, Callable[[Generators, int | None], Reproduction]] = {
    "000": reproduce_known_sets,
    "001": reproduce_targeted_suppression,
    "002": reproduce_target_linkage,
    "003": reproduce_repeated_records,
    "004": reproduce_decision,
}
"""Orooji & Knapp (2018a and 2018b), Truta et al. (2003), Kartal & Li (2016), Lebanon et al. (2006), in this order."""


def reproduce(number: str, generators: Generators, records: int | None = None) -> Reproduction:
    """Reproduce one paper on generated data of about ``records`` records (default: a size that suits the paper)."""
    if number not in PAPERS:
        raise PolicyError(f"there is no paper '{number}'; {nearest(number, PAPERS)}")
    return PAPERS[number](generators, records)
