"""The five adversaries side by side, record by record: who could find it, and what that would take.

Each is asked for a chance between 0 and 1, so that they can be compared:

    known_sets        knows each attribute with its own probability    the likelihood of Orooji & Knapp (2018)
    k_anonymity       knows all keys of his target                     1 / class size
    target_linkage    holds a register to link with                    the probability of a correct link
    repeated_records  knows a person who has several records           the probability of Kartal & Li (2016)
    decision          holds a dictionary of everybody                  1 / people consistent with the record
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl

from discreet import registry
from discreet.errors import DiscreetError
from discreet.model.attribute import Role
from discreet.model.contracts import RiskMeasure
from discreet.model.microdata import Microdata
from discreet.model.score import Score

ADVERSARIES = ("known_sets", "k_anonymity", "target_linkage", "repeated_records", "decision")

_CHANCES: Mapping[str, pl.Expr] = {
    "known_sets": pl.col("likelihood"),
    "k_anonymity": 1 / pl.col("class_size"),
    "target_linkage": pl.col("probability"),
    "repeated_records": pl.col("probability"),
    "decision": pl.when(pl.col("rho") > 0).then(1 / pl.col("rho")).otherwise(0.0),
}
_TAKES: Mapping[str, Callable[[str], pl.Expr]] = {
    "known_sets": lambda _: pl.format(
        "to know {}", pl.when(pl.col("top_set") == "").then(pl.lit("nothing but that it is there")).otherwise(pl.col("top_set"))
    ),
    "k_anonymity": lambda keys: pl.format("to know " + keys + ": a class of {}", pl.col("class_size")),
    "target_linkage": lambda keys: pl.format("a register with " + keys + ": {} candidates", pl.col("candidates")),
    "repeated_records": lambda keys: pl.format("to know " + keys + " of one of {} persons alike", pl.col("persons")),
    "decision": lambda keys: pl.format("a dictionary with " + keys + ": {} fit", pl.col("rho")),
}


def side_by_side(original: Microdata, masked: Microdata, measured: Mapping[str, Score]) -> pl.DataFrame:
    """One row per masked record: the chance of each adversary (null: not measured), the worst one, and what it would take.

    >>> from discreet.testing import table
    >>> data = table({"age": [34, 34, 51], "disease": ["Flu", "Cancer", "Flu"]}, key=["age"], known={"age": 0.5})
    >>> side_by_side(data, data, {}).select("worst", "chance").rows()[2]
    ('k_anonymity', 1.0)
    """
    keys = [name for name in masked.named(Role.KEY) if name in masked.columns]
    key_names = ", ".join(keys).replace("{", "(").replace("}", ")") or "all attributes"
    chances: dict[str, pl.Series] = {}
    takes: dict[str, pl.Series] = {}
    for name in ADVERSARIES:
        frame = _frame(name, original, masked, measured)
        if frame is None or frame.height != len(masked):
            chances[name], takes[name] = (
                pl.Series([None] * len(masked), dtype=pl.Float64),
                pl.Series([None] * len(masked), dtype=pl.String),
            )
            continue
        chance = pl.col("reidentification") if "reidentification" in frame.columns else _CHANCES[name]  # knowledge: independent
        columns = frame.select(chance.cast(pl.Float64).clip(0.0, 1.0).alias("chance"), _TAKES[name](key_names).alias("takes"))
        chances[name], takes[name] = columns["chance"], columns["takes"]
    table = pl.DataFrame(chances)
    worst = table.select(pl.max_horizontal(pl.all()).alias("chance"))["chance"]
    who = pl.coalesce(*(pl.when(pl.col(name) == worst).then(pl.lit(name)) for name in chances))
    table = table.with_columns(who.alias("worst"), worst)
    take = pl.coalesce(*(pl.when(pl.col("worst") == name).then(pl.lit(series)) for name, series in takes.items()))
    return table.with_columns(take.alias("takes"))


def _frame(name: str, original: Microdata, masked: Microdata, measured: Mapping[str, Score]) -> pl.DataFrame | None:
    """What a measure says of each record; None where the table or the policy does not let it say anything."""
    if name in measured:
        return measured[name].per_record
    if name not in registry.installed_names("risk"):
        return None
    try:
        unbound = registry.create("risk", name, original.policy.risk.get(name), origin=original.policy.origin)
        measure: RiskMeasure = registry.bind_to_engine("risk", [unbound], masked)[0]
        return measure.measure(masked, original=original if measure.needs_original(masked) else None).per_record
    except DiscreetError:
        return None
