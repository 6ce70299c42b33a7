"""Distributions and shares of the risk of the whole table, stored by the job that made a release: they replace the preview's.

Both are bounded in time, because counting small classes by many sets of a wide table takes longer than masking it; what was not
counted in time stays that of the sample, and the page says so.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from discreet.convert.writing.atomic import write_bytes
from discreet.engine.runtime.progress import OutOfTimeError, stop_after
from discreet.errors import PolicyError
from discreet.model.microdata import Microdata
from discreet.model.results import Assessment, Release
from discreet.web.workspace.multiples import Bars, Multiple, describe_multiples
from discreet.web.workspace.risks import choose_measure, policy_threshold
from discreet.web.workspace.shares import Share, Shares, describe_shares

VIEWS_FILE = "views-confidential.json"
"""Beside the masked table; a purge deletes it with the link."""
_MOST_SECONDS = 60.0


@dataclass(frozen=True)
class StoredViews:
    """What was counted in the whole table."""

    multiples: list[Multiple]
    shares: Shares | None
    """None where no measure ranks records, or where there was no time to count."""
    measure: str
    threshold: float
    """The measure and the threshold that the shares are about."""


def write_views(folder: Path, data: Microdata, release: Release, assessment: Assessment) -> None:
    """Store the distributions and the shares; nothing where there was no time for the distributions."""
    until = time.monotonic() + _MOST_SECONDS
    shares: Shares | None = None
    measure, threshold = "", 0.0
    try:
        with stop_after(until):
            multiples = describe_multiples(release)
    except OutOfTimeError:
        return
    try:
        with stop_after(until):
            measure = choose_measure(data.policy, [name for name in assessment.before if name in assessment.after])
            threshold = policy_threshold(measure, data.policy)
            if measure in assessment.before and measure in assessment.after:
                shares = describe_shares(measure, release, assessment, threshold)
    except (OutOfTimeError, PolicyError):
        pass
    content = {
        "multiples": [asdict(one) for one in multiples], "shares": None if shares is None else asdict(shares),
        "measure": measure, "threshold": threshold,
    }  # fmt: skip
    write_bytes(folder / VIEWS_FILE, json.dumps(content).encode("utf-8", "surrogatepass"), private=True)


def find_views(folder: Path) -> StoredViews | None:
    """The views beside a masked table; None where there are none, as beside a release of an earlier version."""
    file = folder / VIEWS_FILE
    return _read_views(file, file.stat().st_mtime_ns) if file.is_file() else None


@lru_cache(maxsize=8)
def _read_views(file: Path, _written: int) -> StoredViews:
    content = json.loads(file.read_bytes().decode("utf-8", "surrogatepass"))
    shares = content["shares"]
    if shares is not None:
        shares = Shares(
            [Share(**one) for one in shares["attributes"]], [Share(**one) for one in shares["sets"]],
            shares["meaning_of_attributes"], shares["meaning_of_sets"],
        )  # fmt: skip
    return StoredViews(
        [_read_multiple(one) for one in content["multiples"]], shares, content["measure"], float(content["threshold"])
    )


def _read_multiple(content: Mapping[str, Any]) -> Multiple:
    own = content["own_bars"]
    return Multiple(**{**content, "bars": _read_bars(content["bars"]), "own_bars": None if own is None else _read_bars(own)})


def _read_bars(content: Mapping[str, Any]) -> Bars:
    return Bars(tuple(content["labels"]), tuple(content["values"]), tuple(content["edges"]))
