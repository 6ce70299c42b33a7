"""Sensitivity weights from a policy: ``weights`` per attribute, ``record_weights`` per record or cell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.disclosure.dictionaries import PERSON_ROLES, side_attributes
from discreet.engine.disclosure.sensitivity import SET_SEPARATOR, Form, Sensitivity
from discreet.engine.encoding.policy_tables import load_table
from discreet.engine.encoding.shared_codes import to_common_type
from discreet.errors import DataError, ParameterError, nearest
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_weights(form: Form, weights: Mapping[str, float], order: int | None) -> None:
    """Raise ValueError where a weight is negative or not a number, or the order does not fit the form."""
    for name, weight in weights.items():
        if math.isnan(weight) or weight < 0:
            raise ValueError(f"the weight of '{name}' must be 0 or more (.inf is allowed); got {weight!r}")
    if order is not None and order > 1 and form in ("phi1", "phi2", "phi3"):
        raise ValueError(f"{form} has no interactions, so order must be 1; got {order} (phi4 and phi5 have interactions)")


def sensitivity_of(
    data: Microdata, form: Form, weights: Mapping[str, float], record_weights: str | None = None, order: int | None = None
) -> Sensitivity:
    """The sensitivity function of a table's records.

    Default weight of an attribute: its ``sensitivity`` in the policy, or 1 where the policy gives no sensitivities.
    """
    single, sets = split_weights(weights, data)
    names = side_attributes(data)
    names += [name for name in single if name in data.columns and name not in names]
    if not weights:
        sensitivities = {name: data.attribute(name).sensitivity for name in names}
        single = sensitivities if any(sensitivities.values()) else dict.fromkeys(names, 1.0)
    of_record, of_cell = _load_record_weights(data, names, record_weights) if record_weights is not None else (None, {})
    degree = order if order is not None else (2 if form == "phi4" else 1)
    if sets and form == "phi5" and order is None:
        degree = max(map(len, sets))
    present = {members: weight for members, weight in sets.items() if all(name in names for name in members)}
    return Sensitivity(form, tuple(names), single, degree, present, of_record, of_cell)


def split_weights(weights: Mapping[str, float], data: Microdata) -> tuple[dict[str, float], dict[tuple[str, ...], float]]:
    """The weights of single attributes, and of sets such as ``age*income``."""
    single: dict[str, float] = {}
    sets: dict[tuple[str, ...], float] = {}
    known = {*data.columns, *data.policy.attributes}
    for name, weight in weights.items():
        members = (name,) if name in known else tuple(part.strip() for part in name.split(SET_SEPARATOR))
        for member in members:
            if member not in known:
                raise ParameterError(
                    f"weights name '{member}', which is not an attribute of {data.source}; {nearest(member, known)}"
                )
        if len(members) == 1:
            single[members[0]] = float(weight)
        elif len(set(members)) < len(members):
            raise ParameterError(f"weights name an attribute twice in '{name}'")
        else:
            sets[members] = float(weight)
    return single, sets


def _load_record_weights(
    data: Microdata, names: Sequence[str], file: str
) -> tuple[NDArray[np.float64] | None, dict[str, NDArray[np.float64]]]:
    """Weights per record (the column ``weight``, or the only other column) and per cell (columns named as attributes)."""
    frame = load_table(file, data.policy)
    who = next((name for name in data.policy.named(*PERSON_ROLES) if name in frame.columns and name in data.columns), None)
    rows = _rows_by_identifier(data, frame, who, file) if who else _rows_by_position(data, frame, file)
    # a single column holds the weights of the records, whatever its name
    lone = len(set(frame.columns) - {who}) == 1
    cells = (
        {} if lone else {name: _weight_column(frame, name, file)[rows] for name in names if name in frame.columns and name != who}
    )
    others = [
        name for name in frame.columns if name not in cells and name != who and (lone or name not in data.policy.attributes)
    ]
    if "weight" in others:
        others = ["weight"]
    if len(others) > 1 or not (others or cells):
        raise DataError(
            f"{file}: record_weights needs a column 'weight', or columns named as attributes; it has {', '.join(frame.columns)}"
        )
    return (_weight_column(frame, others[0], file)[rows] if others else None), cells


def _weight_column(frame: pl.DataFrame, name: str, file: str) -> NDArray[np.float64]:
    series = frame[name].cast(pl.Float64, strict=False)
    wrong = series.is_null() | series.is_nan() | (series < 0)
    if wrong.any():
        row = int(wrong.arg_true()[0])
        raise DataError(f"{file}, row {row + 1}: the weight '{name}' must be a number of 0 or more; got {frame[name][row]!r}")
    return series.to_numpy()


def _rows_by_position(data: Microdata, frame: pl.DataFrame, file: str) -> NDArray[Any]:
    """Rows of weights in the order of the initial records; a simulated record belongs to nobody and takes the first row."""
    if (len(data) and int(data.records.max()) >= frame.height) or (data.is_initial and frame.height != len(data)):
        raise DataError(
            f"{file}: {frame.height:,} rows of weights for {len(data):,} records of {data.source}; give one row per record in "
            "their order, or a column with the identifier"
        )
    return np.maximum(data.records, 0)


def _rows_by_identifier(data: Microdata, frame: pl.DataFrame, who: str, file: str) -> NDArray[Any]:
    record_ids, weight_ids = to_common_type(data.frame[who], frame[who])
    if weight_ids.n_unique() < weight_ids.len():
        raise DataError(f"{file}: the identifier '{who}' has duplicates")
    records = pl.DataFrame({"who": record_ids, "at": np.arange(record_ids.len())})
    joined = records.join(pl.DataFrame({"who": weight_ids, "row": np.arange(weight_ids.len())}), on="who", how="left").sort("at")
    if joined["row"].null_count():
        missing = record_ids[int(joined["row"].is_null().arg_true()[0])]
        raise DataError(f"{file}: there is no weight for '{who}' = '{missing}'")
    return joined["row"].to_numpy()
