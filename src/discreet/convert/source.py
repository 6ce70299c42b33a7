"""Reading sources and writing targets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from discreet.errors import SourceError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy


def read_source(source: Any, policy: Policy) -> Microdata:
    if isinstance(source, pl.DataFrame):
        return Microdata(source, policy, "the frame")
    path = Path(source)
    if path.suffix == ".parquet":
        return Microdata(pl.read_parquet(path), policy, str(path))
    if path.suffix == ".csv":
        return Microdata(pl.read_csv(path), policy, str(path))
    raise SourceError(f"{path}: unknown format")


def write_target(data: Microdata, target: Any) -> None:
    path = Path(target)
    if path.suffix == ".parquet":
        data.frame.write_parquet(path)
    else:
        data.frame.write_csv(path)
