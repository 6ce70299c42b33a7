"""Random tables, with and without a planted way to restore one masked column; for the tests of coverage."""

import numpy as np
import polars as pl

from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

KINDS = (
    "sum", "difference", "product", "ratio", "rename", "recode", "function", "date part", "two columns", "group constant",
)  # fmt: skip


def independent(rng, records=None):
    """Columns of many types that know nothing of each other."""
    n = records or int(rng.integers(120, 900))
    days = np.datetime64("1950-01-01") + rng.integers(0, 20_000, n)
    return {
        "small": rng.integers(0, 4, n),
        "count": rng.poisson(2.0, n),
        "skewed": np.where(rng.random(n) < 0.85, 0, rng.integers(1, 9, n)),
        "amount": np.round(rng.lognormal(3, 1, n), 2) + 0.5,
        "length": np.round(rng.uniform(1.2, 2.1, n), 2),
        "day": pl.Series(days).cast(pl.Date),
        "town": np.array([f"town {i}" for i in range(25)])[rng.integers(0, 25, n)],
        "flag": rng.random(n) < 0.3,
        "group": rng.integers(0, max(n // 3, 2), n),
    }


def planted(rng, kind):
    """A table and the column that is planted in it."""
    columns = independent(rng)
    n = len(columns["small"])
    match kind:
        case "sum":
            parts = {f"part {i}": rng.poisson(0.5, n) for i in range(int(rng.integers(2, 47)))}
            columns |= parts
            hidden = sum(parts.values())
        case "difference":
            columns["later"] = rng.integers(0, 500, n)
            hidden = columns["later"] - columns["count"]
        case "product":
            hidden = np.round(columns["amount"] * columns["length"], 2)
        case "ratio":
            hidden = np.round(columns["amount"] / columns["length"], 2)
        case "rename":
            hidden = columns["town"]
        case "recode":
            hidden = np.array(list("wxyz"))[rng.permutation(4)][columns["small"]]
        case "function":
            towns = {f"town {i}": f"region {rng.integers(0, 5)}" for i in range(25)}
            hidden = np.array([towns[one] for one in columns["town"]])
        case "date part":
            part = ("year", "month", "weekday")[int(rng.integers(0, 3))]
            hidden = getattr(columns["day"].dt, part)().to_numpy()
        case "two columns":
            columns["other"] = rng.integers(0, 5, n)
            hidden = rng.permuted(np.arange(20) % 5).reshape(4, 5)[columns["small"], columns["other"]]
        case "group constant":
            columns["ward"] = rng.integers(0, 12, n)
            hidden = rng.permuted(np.arange(12) % 6)[columns["ward"]]
    columns["hidden"] = hidden
    return pl.DataFrame(columns)


def masked_at_random(rng, frame, column):
    """The frame with a column removed, wholly blanked, blanked in part, or shuffled; and the original under a policy."""
    original = Microdata(frame, Policy.from_dict({"attributes": {"small": {"role": "key"}}}))
    how = ("removed", "blanked", "in part", "shuffled")[int(rng.integers(0, 4))]
    match how:
        case "removed":
            return original, original.drop([column]), how
        case "blanked":
            made = pl.Series([None] * frame.height, dtype=frame[column].dtype)
        case "in part":
            made = frame.select(pl.when(pl.Series(rng.random(frame.height) > 0.4)).then(pl.col(column)))[column]
        case "shuffled":
            made = frame[column].gather(rng.permutation(frame.height))
    return original, original.with_columns({column: made}), how
