"""One row per record, and the records with the largest risk, from the sums of known_sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.known_sets.sums import KnownSets as Sums
from discreet.model.microdata import Microdata
from discreet.risks.known_sets.bounded_sums import sizes_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.risks.known_sets.measure import KnownSets


def tabulate_records(
    plugin: KnownSets,
    data: Microdata,
    sums: Sums,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    original: Microdata | None,
) -> pl.DataFrame:
    """One row per record; the likelihood of records with nothing to learn is counted only now that somebody asks."""
    everybody = sums if len(sums.slots) == len(data) else plugin.sums_of(data, original, everyone=True)
    per_record, slots = everybody.per_record, everybody.slots
    names = pl.Series("top_set", [everybody.set_name(node) for node in range(len(everybody.tree))], dtype=pl.String)
    risk = per_record.risk * plugin.alpha
    share = np.divide(per_record.top * plugin.alpha, risk, out=np.zeros_like(risk), where=risk > 0)

    def spread(values: NDArray[np.float64], at: NDArray[np.int64] = slots) -> NDArray[np.float64]:
        per_row = np.zeros(len(data))
        per_row[at] = values
        return per_row

    sizes = sizes_of(plugin, sums, lower, upper, len(data))
    gap = np.full(len(data), np.nan)

    def sized(values: NDArray[np.float64]) -> pl.Series:
        per_row = gap.copy()
        per_row[sums.slots] = values
        return pl.Series(per_row).fill_nan(None)

    top = np.zeros(len(data), dtype=np.int64)
    top[slots] = np.where(per_record.top > 0, per_record.top_node, 0)  # nothing to learn: every set ties, the smallest is none
    return pl.DataFrame(
        {
            "risk": spread(risk),
            "lower": spread(lower, sums.slots),
            "upper": spread(upper, sums.slots),
            "effective_k": sized(sizes.value),
            "effective_k_lower": sized(sizes.lower),
            "effective_k_upper": sized(sizes.upper),
            "top_set": names[top],
            "top_share": spread(share),
            "likelihood": spread(per_record.likelihood),
            "consequence": spread(everybody.consequence),
        }
    )


def list_riskiest(plugin: KnownSets, sums: Sums, risk: NDArray[np.float64], number: int) -> pl.DataFrame:
    """The records with the largest risk; nobody without something to learn is among them, so nothing is counted again."""
    order = np.lexsort((sums.slots, -risk))[:number]
    order = order[risk[order] > 0]
    return pl.DataFrame(
        {
            "record": sums.slots[order],
            "risk": risk[order],
            "top_set": pl.Series([sums.set_name(int(node)) for node in sums.per_record.top_node[order]], dtype=pl.String),
            "top_share": sums.per_record.top[order] * plugin.alpha / risk[order],
        }
    )
