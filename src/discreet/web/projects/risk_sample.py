"""The risk of a sample of the initial microdata under other probabilities, fast enough for a slider.

A sample of at most 20,000 records stays in memory for a while, with its codes: other probabilities change only the sums. Counts
are those of the sample, so every answer says how many records it is about; the whole table is measured by a job.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet import registry
from discreet.convert import read_source
from discreet.errors import DiscreetError
from discreet.model.attribute import Attribute, Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.report.histograms import histogram
from discreet.web.errors import InvalidRequest, TooManyRequests

MOST_RECORDS = 20_000
_MOST_SETS = 3_000
_SAMPLES_KEPT = 3
_WAIT_SECONDS = 10.0
_SEED = 20_181
_WITHOUT = ("decide", "tolerance", "population", "population_table", "sampling_fraction", "size")
"""Parameters of known_sets that a sample does without: narrowing takes long, and the population is not that of a sample."""


@dataclass(frozen=True)
class Unit:
    """Attributes with one slider: one attribute, or several that are known together."""

    names: tuple[str, ...]
    known: float

    @property
    def label(self) -> str:
        return " + ".join(self.names)


def units_of(policy: Policy, columns: list[str]) -> list[Unit]:
    """The attributes of a table whose probability of being known can be set, in the order of the columns."""
    grouped = {name: tuple(member for member in unit if member in columns) for unit in policy.known_together for name in unit}
    units: dict[tuple[str, ...], Unit] = {}
    for name in columns:
        attribute = policy.attributes.get(name, Attribute())
        if attribute.role in (Role.IDENTIFIER, Role.PERSON, Role.WEIGHT, Role.HOUSEHOLD):
            continue
        if attribute.role is Role.KEY or attribute.known > 0:
            names = grouped.get(name, (name,))
            units.setdefault(names, Unit(names, float(attribute.known)))
    return list(units.values())


def read_known(typed: Mapping[str, str], units: list[Unit]) -> dict[str, float]:
    """The probabilities of a form or address by attribute; every attribute of a unit has that of its first."""
    known: dict[str, float] = {}
    names = {f"known.{unit.names[0]}": unit for unit in units}
    for field, text in typed.items():
        if not field.startswith("known."):
            continue
        unit = names.get(field)
        if unit is None:
            raise InvalidRequest(f"the table has no slider for '{field.removeprefix('known.')[:80]}'; reload the page")
        try:
            value = float(str(text).replace(",", "."))
        except ValueError:
            value = math.nan
        if not 0 <= value <= 1:
            raise InvalidRequest(f"the probability of {unit.label} is a number from 0 to 1; got '{str(text)[:40]}'")
        known |= dict.fromkeys(unit.names, value)
    return known


class RiskSamples:
    """The samples that were used last. One measurement runs at a time, so that sliders never slow a server down for others."""

    def __init__(self) -> None:
        self._samples: OrderedDict[tuple[Any, ...], tuple[Microdata, int]] = OrderedDict()
        self._lock = threading.Lock()

    def measure(self, file: Path, policy: Policy, known: Mapping[str, float]) -> dict[str, Any]:
        """The distribution of the risk with these probabilities: summary, histogram, and how many records it is about."""
        if not self._lock.acquire(timeout=_WAIT_SECONDS):
            raise TooManyRequests("the server is measuring other samples; try again in a few seconds", seconds=5)
        try:
            sample, records = self._sample(file, policy)
            return _measure(sample, records, policy, known)
        finally:
            self._lock.release()

    def _sample(self, file: Path, policy: Policy) -> tuple[Microdata, int]:
        """The sample of a table with the columns that take part, and the records of the whole table."""
        bare = {
            name: attribute.model_copy(update={"known": 0.0, "allow_absent": True, "hierarchy": None})
            for name, attribute in policy.attributes.items()
            if attribute.role not in (Role.IDENTIFIER, Role.PERSON)
            and (attribute.role is Role.KEY or attribute.known > 0 or attribute.sensitivity > 0)
        }
        stamp = file.stat().st_mtime_ns  # raises where the content was purged, whatever is in memory
        key = (str(file), stamp, repr(bare), policy.missing)
        if key not in self._samples:
            self._samples[key] = read_sample(file, bare, policy)
        self._samples.move_to_end(key)
        while len(self._samples) > _SAMPLES_KEPT:
            self._samples.popitem(last=False)
        return self._samples[key]


def read_sample(file: Path, attributes: Mapping[str, Attribute], policy: Policy) -> tuple[Microdata, int]:
    """A sample of at most ``MOST_RECORDS`` records with the columns of these attributes, and the records of the whole table."""
    columns = [name for name in pl.read_parquet_schema(file) if name in attributes]
    frame, _, records = draw_rows(file, columns)
    if not columns or not records:
        raise InvalidRequest("no attribute of the table is a key, known or sensitive, so there is no risk to measure")
    kept = policy.with_(
        attributes={name: attributes[name] for name in columns}, scenarios={}, known_together=(), limits={}, risk={}, cells={}
    )
    return read_source(frame, kept), records


def draw_rows(file: Path, columns: list[str] | None) -> tuple[pl.DataFrame, NDArray[np.int64], int]:
    """A random sample of a table with some columns (None: all), always the same; its row numbers, and the table's records."""
    table = pl.scan_parquet(file, glob=False, hive_partitioning=False)
    records = int(table.select(pl.len()).collect().item())
    rows = table if columns is None else table.select(columns)
    if records <= MOST_RECORDS:
        return rows.collect(engine="streaming"), np.arange(records), records
    chosen = np.sort(np.random.default_rng(_SEED).choice(records, MOST_RECORDS, replace=False))
    numbered = rows.with_row_index("\0row").filter(pl.col("\0row").is_in(pl.Series(chosen, dtype=pl.UInt32).implode()))
    return numbered.drop("\0row").collect(engine="streaming"), chosen.astype(np.int64), records


def sample_parameters(policy: Policy) -> dict[str, Any]:
    """The parameters of known_sets on a sample: those of the policy that a sample can do with, and few enough sets."""
    given = {name: value for name, value in policy.risk.get("known_sets", {}).items() if name not in _WITHOUT}
    return given | {"max_sets": min(int(given.get("max_sets", _MOST_SETS)), _MOST_SETS)}


def _measure(sample: Microdata, records: int, policy: Policy, known: Mapping[str, float]) -> dict[str, Any]:
    attributes = {
        name: attribute.model_copy(update={"known": known.get(name, policy.attributes[name].known)})
        for name, attribute in sample.policy.attributes.items()
    }
    together = tuple(unit for unit in policy.known_together if all(name in attributes for name in unit))
    data = sample.with_policy(sample.policy.with_(attributes=attributes, known_together=together))
    try:
        measure = registry.create("risk", "known_sets", sample_parameters(policy), origin=policy.origin)
        score = measure.measure(data)
    except DiscreetError as error:
        raise InvalidRequest(f"the sample could not be measured: {error}") from None
    summary, bars = score.to_dict(), histogram(score, score)
    fields = ("high_risk", "high_risk_share", "mean", "max", "effective_k_min", "reidentification", "reidentification_max")
    return {
        "records": len(data),
        "of": records,
        "is_sample": len(data) < records,
        "known": {name: float(attribute.known) for name, attribute in attributes.items()},
        "fields": [
            {"field": name, "value": summary[name], "meaning": measure.meaning.get(name, "")}
            for name in fields
            if name in summary
        ],
        "quantiles": [
            {"label": f"{float(share):.4g}", "risk": risk, "share": risk / summary["max"] if summary["max"] else 0.0}
            for share, risk in summary["quantiles"].items()
        ],
        "histogram": [] if bars is None else [{"label": row["label"], "records": row["before"]} for row in bars["rows"]],
    }
