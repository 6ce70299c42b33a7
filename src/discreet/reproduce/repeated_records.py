"""Kartal & Li (2016): several records per person, and why k records in a group are not k persons."""

from __future__ import annotations

import numpy as np
import polars as pl

from discreet import registry, verbs
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.report import charts
from discreet.reproduce.results import Comparison, Generators, Reproduction

_NAMES = [*["Ashley"] * 2, "Bob", *["Charlie"] * 5, *["Diana"] * 2, *["Edward"] * 2, "Fred", "Greg", *["Harry"] * 5]
"""The persons of Table 2, one name per record, in the order of its four groups."""
_GROUP_SIZES = (2, 6, 4, 7)
_PRINTED = {
    "Ashley": 100.0,
    "Bob": 16.7,
    "Charlie": 83.3,
    "Diana": 50.0,
    "Edward": 50.0,
    "Fred": 14.3,
    "Greg": 14.3,
    "Harry": 71.4,
}
"""Probability of re-identification per person, in percent, as Table 2 prints it."""
_UNORDERED = ("race", "medication", "charge")


def reproduce_repeated_records(generators: Generators, records: int | None) -> Reproduction:
    """Table 2, and partitions of generated patients by records and by balance."""
    groups = np.repeat([0, 1, 2, 3], _GROUP_SIZES)
    policy = Policy.from_dict({"attributes": {"name": {"role": "person"}, "group": {"role": "key"}}})
    table_2 = Microdata(pl.DataFrame({"name": _NAMES, "group": groups}), policy)
    per_record = verbs.risk(table_2, "repeated_records")["repeated_records"].per_record
    assert per_record is not None
    comparisons = [
        Comparison(
            f"re-identification of {name}",
            f"{printed} %",
            f"{100 * per_record['probability'][_NAMES.index(name)]:.1f} %",
            "the same",
        )
        for name, printed in _PRINTED.items()
    ]
    data = _with_ordered_keys(generators.patients(records or 5_000))
    masked = {
        name: verbs.mask(data, {"seed": 1, "steps": [{"method": "balanced_partition", **parameters}]}).masked
        for name, parameters in (("10 records", {"criterion": "records", "k": 10}), ("g at least 0.9", {"g": 0.9}))
    }
    share_before = _share_over_threshold(data, data)
    bars = [{"label": "before", "value": share_before}]
    for name, table in masked.items():
        share = _share_over_threshold(table, data)
        bars.append({"label": name, "value": share})
        comparisons.append(
            Comparison(
                f"persons re-identified with more than 50 %, groups of {name}", "not printed", f"{share:.2%}",
                f"the paper omits this experiment; generated patients, {share_before:.1%} before masking",
            )
        )  # fmt: skip
    citation = registry.load("risk", "repeated_records").citation
    chart = charts.share_chart(bars, "persons re-identified with more than 50 %")
    return Reproduction("003", citation, data.source, tuple(comparisons), {"over": chart})


def _share_over_threshold(table: Microdata, original: Microdata) -> float:
    score = verbs.risk(table, "repeated_records", original=original)["repeated_records"]
    return float(score["over_threshold_share"])


def _with_ordered_keys(data: Microdata) -> Microdata:
    """The patients with only those keys that have an order, because a partition cuts along it."""
    attributes = {
        name: attribute.model_copy(update={"role": Role.OTHER}) if name in _UNORDERED else attribute
        for name, attribute in data.policy.attributes.items()
    }
    return data.with_policy(data.policy.with_(attributes=attributes))
