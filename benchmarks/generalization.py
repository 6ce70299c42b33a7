"""Generalization of a million records: the proven optimum against ARX's time, partitions against a sort of the same table.

Prints one Markdown table of ratios. Without arguments on ``students(1,009,993)``; with a Parquet file and a folder of hierarchies
(``<attribute>.csv``, as ARX reads them) on those: ``python benchmarks/generalization.py table.parquet hierarchies/``. ARX's
figures were measured on a machine like this one (2 cores, 24 GiB) on a table of this shape with its hierarchies: same keys,
k = 5, 12,288 nodes.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import discreet
from discreet.masking.generalization.full_domain import full_domain
from discreet.masking.generalization.mondrian import mondrian
from discreet.masking.generalization.privacy_model import PrivacyModel
from discreet.model.microdata import Microdata
from discreet.testing import students

ARX_SECONDS = {0.05: 123.0, 1.0: 302.0}
KEYS = ["gender", "ethnicity", "age", "parish", "grade", "lunch", "language", "birth_year"]
CUT_KEYS = [*KEYS[:-1], "birth_month"]


def table(arguments: list[str]) -> Callable[[], Microdata]:
    """A fresh table each time, so that nothing is kept from the run before."""
    if not arguments:
        made = students(1_009_993)
        return lambda: Microdata(made.frame, made.policy)
    frame, folder = pl.read_parquet(arguments[0]), Path(arguments[1]).absolute()
    attributes = {key: {"role": "key", "hierarchy": str(folder / f"{key}.csv")} for key in dict.fromkeys(KEYS + CUT_KEYS)}
    return lambda: discreet.read(frame, {"attributes": attributes})


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    made = work()
    return time.perf_counter() - started, made


def main() -> None:
    fresh = table(sys.argv[1:])
    small = fresh().frame.head(2000)
    warm = Microdata(small, fresh().policy)
    full_domain(warm, KEYS, PrivacyModel(k=5), [], limit=2000, loss="loss_metric")
    mondrian(warm, CUT_KEYS, PrivacyModel(k=5), [], relaxed=False)
    print("| work | seconds | against | ratio |\n|---|---|---|---|")
    for limit, arx in ARX_SECONDS.items():
        data = fresh()
        model, most = PrivacyModel(k=5), math.floor(limit * len(data))
        took, found = timed(lambda d=data, m=model, n=most: full_domain(d, KEYS, m, [], limit=n, loss="loss_metric"))
        what = f"loss {found.node.loss:.8f}, {found.node.suppressed:,} suppressed, {found.counted:,} of {found.nodes:,} nodes"
        print(f"| full_domain, k=5, {limit:.0%} ({what}) | {took:.1f} | ARX {arx:.0f} s | {arx / took:.1f} times faster |")
    for relaxed in (False, True):
        data = fresh()
        sort, _ = timed(lambda d=data: d.frame.sort(CUT_KEYS))
        took, columns = timed(lambda d=data, r=relaxed: mondrian(d, CUT_KEYS, PrivacyModel(k=5), [], relaxed=r))
        loss = discreet.loss(data, data.with_columns(columns), {"ncp": {"attributes": CUT_KEYS}})["ncp"]["loss"]
        name = "relaxed" if relaxed else "strict"
        print(f"| partition, {name}, k=5 (NCP {loss:.4f}) | {took:.2f} | sort {sort:.2f} s | {took / sort:.2f} sorts |")


if __name__ == "__main__":
    main()
