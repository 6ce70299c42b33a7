"""Truta et al. (2003): the probability of linking a target unit, eq. 4.10, and the worked example of Appendix A."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet import registry, verbs
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.reproduce.appendix import compare_appendix_a
from discreet.reproduce.results import Comparison, Generators, Reproduction

_CASES: dict[str, tuple[int, dict[str, Any], str, str]] = {
    "probability of linking the target, the example": (
        482, {"domain": {"age": 50, "zip": 1000}}, "0.024 %", "(4.10) gives 0.024996 %; printed with two digits",
    ),
    "case A, young people are rare": (
        482, {"density": {"age": {"18..28": 1 / 10_000, "28..68": 9_999 / 40_000}}, "domain": {"zip": 1000}}, "4.98 %",
        "(4.10) gives 0.05 / (0.05 + 0.9999) = 4.76 %; the printed number does not follow from the formula",
    ),
    "case B, months and five digits": (
        48201, {"domain": {"age": 600, "zip": 100_000}}, "23.08 %", "23.0787 %, the same when rounded",
    ),
}  # fmt: skip
"""The three cases of section 4: the target's zip code, what the intruder assumes, the printed probability, the explanation."""
_TARGET_ROW = 123


def reproduce_target_linkage(
    generators: Generators,  # noqa: ARG001 - the paper's tables are small enough to be built here
    records: int | None,  # noqa: ARG001 - and have sizes of their own
) -> Reproduction:
    """The three linking probabilities of section 4, and Appendix A."""
    comparisons = []
    for figure, (zip_code, assumptions, paper, explanation) in _CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            targets = Path(folder, "targets.csv")
            pl.DataFrame({"name": ["John Smith"], "age": [26], "zip": [zip_code]}).write_csv(targets)
            parameters = {"population": 200_000_000, "model": "uniform", "targets": str(targets), **assumptions}
            probability = verbs.risk(_microdata_with_target(zip_code), {"target_linkage": parameters})["target_linkage"]["max"]
        comparisons.append(Comparison(figure, paper, f"{probability:.4%}", explanation))
    appendix_comparisons, appendix_chart = compare_appendix_a()
    data = "20,000 generated people, one of them the target; Appendix A on the ten patients it prints"
    citation = registry.load("risk", "target_linkage").citation
    return Reproduction("002", citation, data, (*comparisons, *appendix_comparisons), {"appendix_a": appendix_chart})


def _microdata_with_target(zip_code: int) -> Microdata:
    """20,000 people with ages and zip codes, exactly one of them aged 26 with the target's zip code."""
    row = np.arange(20_000)
    ages, zip_codes = 18 + row * 7 % 50, row * 13 % 1000
    ages[(ages == 26) & (zip_codes == zip_code)] = 27
    ages[_TARGET_ROW], zip_codes[_TARGET_ROW] = 26, zip_code
    policy = Policy.from_dict(
        {"attributes": {"age": {"role": "key"}, "zip": {"role": "key"}, "income": {"role": "confidential"}}}
    )
    return Microdata(pl.DataFrame({"age": ages, "zip": zip_codes, "income": row}), policy)
