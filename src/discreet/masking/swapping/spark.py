"""Random swapping within strata on Spark: a window function orders the records of a stratum at random, neighbours swap values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.engine.spark.batches import Masked, collect_extremes
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.hidden_columns import CHANGED, HIDDEN
from discreet.engine.spark.joins import col
from discreet.engine.spark.microdata import SparkMicrodata
from discreet.engine.spark.release_order import KEY, add_order_keys

if TYPE_CHECKING:
    from discreet.engine.draws.draw import KeyedDraw

_POSITION, _NEW = f"{HIDDEN}position", f"{HIDDEN}new "


def swapping(plugin: Any, data: SparkMicrodata, columns: tuple[str, ...], draw: KeyedDraw) -> Masked:
    """Swap values between neighbours among the first 2 floor(share n_h / 2) records of each stratum's keyed random order."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    plugin.check(collect_extremes(data, columns)[0], columns)
    with translate_errors(data.source):
        stratum = Window.partitionBy(*[col(name) for name in plugin.strata])
        order = stratum.orderBy(col(KEY))
        pairs = f.floor(f.lit(1.0 if plugin.share is None else plugin.share) * f.count(f.lit(1)).over(stratum) / 2 + f.lit(1e-9))
        frame = add_order_keys(data.numbered, draw, "").withColumns(
            {_POSITION: f.row_number().over(order), f"{_POSITION}s": 2 * pairs}
        )
        partner = {
            f"{_NEW}{name}": f.when(col(_POSITION) > col(f"{_POSITION}s"), col(name))
            .when(col(_POSITION) % 2 == 1, f.lead(col(name)).over(order))
            .otherwise(f.lag(col(name)).over(order))
            for name in columns
        }
        frame = frame.withColumns(partner)
        differ = [f.when(col(name).eqNullSafe(col(f"{_NEW}{name}")), 0).otherwise(1) for name in columns]
        frame = frame.withColumn(CHANGED, sum(differ[1:], differ[0]))
        frame = frame.withColumns({name: col(f"{_NEW}{name}") for name in columns})
        return Masked(data.replace(frame.drop(KEY, _POSITION, f"{_POSITION}s", *partner)))
