"""The risk of each original record, stored by the job that made a release: it replaces the preview in the workspace."""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl

from discreet.convert.writing.atomic import write_bytes
from discreet.errors import PolicyError
from discreet.model.microdata import Microdata
from discreet.model.results import Assessment, Release
from discreet.web.workspace.risks import RecordRisks, align_risks, choose_measure

RISKS_FILE = "risks-confidential.parquet"
"""Beside the masked table; a purge deletes it with the link."""


def write_risks(folder: Path, data: Microdata, release: Release, assessment: Assessment) -> None:
    """Store the risk of each record before and after masking; nothing where no measure that ranks records was taken."""
    names = [name for name in assessment.before if name in assessment.after]
    try:
        measure = choose_measure(data.policy, names)
    except PolicyError:
        return
    if measure not in names:
        return
    risks = align_risks(measure, data, release, assessment, np.arange(len(data)), len(data))
    buffer = BytesIO()
    named = pl.Series([measure], dtype=pl.Categorical).new_from_index(0, len(data))
    pl.DataFrame({"before": risks.before, "after": risks.after, "measure": named}).write_parquet(buffer)
    write_bytes(folder / RISKS_FILE, buffer.getvalue(), private=True)


@lru_cache(maxsize=4)
def read_risks(file: Path, _written: int, measure: str, threshold: float) -> RecordRisks | None:
    """The stored risks; None where they are those of another measure."""
    frame = pl.read_parquet(file, glob=False, hive_partitioning=False)
    if not len(frame) or frame["measure"][0] != measure:
        return None
    rows = np.arange(len(frame))
    return RecordRisks(measure, rows, frame["before"].to_numpy(), frame["after"].to_numpy(), len(frame), threshold)
