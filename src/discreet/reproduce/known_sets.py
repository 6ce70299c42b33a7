"""Orooji & Knapp (2018a): record-level risk as likelihood times consequence, summed over the known sets."""

from __future__ import annotations

import math

import polars as pl

from discreet import registry, verbs
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.report.riskiest import count_agreeing
from discreet.reproduce.results import Comparison, Generators, Reproduction
from discreet.reproduce.risk_histogram import risk_histogram

BY_CONSTRUCTION = (
    "by construction: the generator flags about 1.5 % of the students, and the policy has 111 likely sets, as in the paper"
)
_SAME = "the same"


def five_people() -> Microdata:
    """Tables 1 and 2 of the paper: five people with the weights of its worked example."""
    policy = Policy.from_dict(
        {
            "attributes": {
                "age": {"role": "key", "known": 0.3},
                "gender": {"role": "key", "known": 0.8},
                "race": {"role": "key", "known": 0.7},
                "income": {
                    "role": "confidential", "known": 0.005, "sensitivity": 0.9, "values": {"<40000": 1.0, "40000..70000": 0.7},
                },
                "disease": {"role": "confidential", "known": 0.001, "sensitivity": 1.0, "values": {"Flu": 0.2, "Cancer": 1.0}},
            }
        }
    )  # fmt: skip
    rows = [
        (34, "Male", "Black", 60_000, "Flu"),
        (19, "Female", "White", 36_000, "Flu"),
        (40, "Male", "Asian-Pac-Islander", 45_000, "Flu"),
        (34, "Male", "Black", 50_000, "Cancer"),
        (51, "Female", "Black", 65_000, "Flu"),
    ]
    return Microdata(pl.DataFrame(rows, schema=list(policy.attributes), orient="row"), policy)


def reproduce_known_sets(generators: Generators, records: int | None) -> Reproduction:
    """The worked example, the number of known sets, the share of high-risk records, and the histogram of Figure 2."""
    example = five_people()
    known = ["age", "gender", "race"]
    likelihood = math.prod(example.attribute(name).known for name in known)
    likelihood /= count_agreeing(example, known, 3, wildcard=False)
    example_records = verbs.risk(example, {"known_sets": {}})["known_sets"].per_record
    assert example_records is not None
    data = generators.students(records or 100_000)
    score = verbs.risk(data, {"known_sets": {}})["known_sets"]
    histogram = score["histogram"]
    with_consequence = sum(histogram.values()) - histogram["0"]
    comparisons = (
        Comparison("likelihood of record 4, {age, gender, race} known", "0.084", f"{likelihood:.3g}", _SAME),
        Comparison("consequence of record 4", "1.63", f"{example_records['consequence'][3]:.4g}", _SAME),
        Comparison("known/unknown sets of 27 attributes", "134,217,728", f"{2 ** len(data.columns):,}", _SAME),
        Comparison("known sets above 1 %", "111", f"{score['sets']:,}", BY_CONSTRUCTION),
        Comparison(
            "high-risk records", "15,651 (1.55 %)", f"{score['high_risk']:,} ({score['high_risk_share']:.2%})", BY_CONSTRUCTION
        ),
        Comparison(
            "records with a consequence above 0", "not published", f"{with_consequence:,}",
            "where this equals the row above, every flagged record is high-risk, and that row is no evidence about the measure",
        ),
        Comparison(
            "high-risk status undecided over all sets", "not published", f"{score['undecided']:,}",
            "the pruned sum is a lower bound; an interval that contains the full sum shows how many records could change sides",
        ),
    )  # fmt: skip
    citation = registry.load("risk", "known_sets").citation
    return Reproduction("000", citation, data.source, comparisons, {"figure_2": risk_histogram(score)})
