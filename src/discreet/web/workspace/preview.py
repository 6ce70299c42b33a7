"""A draft tried on a sample: masked and judged in the server within about a second, with what the views of the workspace show.

A sample of at most 20,000 records of each table stays in memory for a while, and so do the last drafts that were tried on it.
Coverage is left to the job on the whole table, because it costs more than everything else; the verdict of a preview says so.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet import verbs
from discreet.assessment.assess import assess
from discreet.assessment.measures import make_measures, measures_for_limits
from discreet.engine.encoding.columns import encode
from discreet.engine.runtime.progress import OutOfTimeError, stop_after
from discreet.errors import DiscreetError
from discreet.masking.generate import generate
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.results import Assessment, Release
from discreet.model.score import Score
from discreet.web.errors import InvalidRequest, TooManyRequests
from discreet.web.projects.risk_sample import draw_rows, sample_parameters
from discreet.web.workspace.multiples import BARS, Multiple, describe_multiples
from discreet.web.workspace.risks import RecordRisks, align_risks, choose_measure
from discreet.web.workspace.shares import SMALL_CLASSES, Shares, describe_shares

_SAMPLES_KEPT = 3
_TABLES_KEPT = 4
_PREVIEWS_KEPT = 12
_WAIT_SECONDS = 10.0
_MOST_SECONDS = 15.0
"""A plan that takes longer on the sample is left to the job on the whole table."""
NOT_COVERED = (
    "the preview does not look for columns that nobody examined, nor for values that could be restored; the whole table does"
)


@dataclass(frozen=True)
class Preview:
    """What a draft does to a sample."""

    original: Microdata
    release: Release
    assessment: Assessment
    risks: RecordRisks
    seconds: float

    @cached_property
    def multiples(self) -> list[Multiple]:
        """The distribution of every attribute before and after masking."""
        return describe_multiples(self.release)

    @cached_property
    def shares(self) -> Shares:
        """Where the risk comes from, by attribute and by set."""
        return describe_shares(self.risks.measure, self.release, self.assessment, self.risks.threshold)


class SampleTable:
    """A sample under a policy, and what is the same for all drafts: its scores, codes, bars and small classes."""

    def __init__(self) -> None:
        self.scores: dict[str, Score] = {}
        self._data: Microdata | None = None

    def prepare(self, frame: pl.DataFrame, policy: Policy) -> Microdata:
        """The sample under the policy of a draft, which differs from that of other drafts in plan, limits and losses alone."""
        if self._data is None:
            self._data = verbs.read(frame, policy)
            encode(self._data, self._data.columns)  # before masking, so that columns that no step changes keep their codes
        data = self._data.with_policy(policy.with_(attributes=self._data.policy.attributes))
        data.cache.update({part: self._data.cache.setdefault(part, {}) for part in (BARS, SMALL_CLASSES)})
        return data


class Previews:
    """The previews that were used last. One is computed at a time, so that previews never slow a server down for others."""

    def __init__(self) -> None:
        self._samples: OrderedDict[tuple[str, int], tuple[pl.DataFrame, NDArray[np.int64], int]] = OrderedDict()
        self._tables: OrderedDict[str, SampleTable] = OrderedDict()
        self._previews: OrderedDict[str, Preview] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, file: Path, policy: Mapping[str, Any]) -> Preview | None:
        """The preview of a policy document if it is in memory."""
        key = _digest(file, policy)
        if (preview := self._previews.get(key)) is not None:
            self._previews.move_to_end(key)
        return preview

    def compute(self, file: Path, policy: Mapping[str, Any], parsed: Policy) -> Preview:
        """The preview of a policy document, from memory or computed now."""
        if not self._lock.acquire(timeout=_WAIT_SECONDS):
            raise TooManyRequests("the server is computing other previews; try again in a few seconds", seconds=5)
        try:
            if (preview := self.find(file, policy)) is not None:
                return preview
            frame, rows, records = self._sample(file)
            key = _digest(file, policy, without=("plan", "limits", "presets", "loss"))
            table = self._tables.get(key) or SampleTable()
            preview = compute_preview(frame, rows, records, parsed, table)
            _keep(self._tables, key, table, _TABLES_KEPT)
            _keep(self._previews, _digest(file, policy), preview, _PREVIEWS_KEPT)
            return preview
        finally:
            self._lock.release()

    def _sample(self, file: Path) -> tuple[pl.DataFrame, NDArray[np.int64], int]:
        key = (str(file), file.stat().st_mtime_ns)
        if key not in self._samples:
            _keep(self._samples, key, draw_rows(file, None), _SAMPLES_KEPT)
        return self._samples[key]


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def compute_preview(
    frame: pl.DataFrame, rows: NDArray[np.int64], records: int, policy: Policy, table: SampleTable | None = None
) -> Preview:
    """Mask and judge a sample. ``table`` holds what earlier drafts with the same attributes found out about the original."""
    started = time.monotonic()
    table = SampleTable() if table is None else table
    try:
        with stop_after(started + _MOST_SECONDS):
            data = table.prepare(frame, _policy_of_sample(policy))
            release = generate(data, data.policy.plan)
            names = [name for name in measures_for_limits("risk", data.policy) if name != "coverage"]
            shown = choose_measure(data.policy, names)
            risks = make_measures("risk", list(dict.fromkeys([*names, shown])), data.policy)
            losses = make_measures("loss", measures_for_limits("loss", data.policy), data.policy)
            lost = {measure.name: measure.measure(data, release.masked) for measure in losses}
            last = started + _MOST_SECONDS
            assessment = assess(data, release.masked, risks, lost, last, last=last, before=table.scores)
            table.scores |= assessment.before
            aligned = align_risks(shown, data, release, assessment, rows, records)
    except OutOfTimeError:
        raise InvalidRequest(
            f"the plan takes more than {_MOST_SECONDS:g} seconds on the sample; run it on the whole table instead"
        ) from None
    except DiscreetError as error:
        raise InvalidRequest(f"the draft cannot be previewed: {error}") from None
    return Preview(data, release, assessment, aligned, time.monotonic() - started)


def _policy_of_sample(policy: Policy) -> Policy:
    """The policy with what a sample cannot have: every listed value, the population, and time to narrow bounds."""
    attributes = {name: attribute.model_copy(update={"allow_absent": True}) for name, attribute in policy.attributes.items()}
    risk = dict(policy.risk)
    if "known_sets" in measures_for_limits("risk", policy):
        risk["known_sets"] = sample_parameters(policy)
    plan = policy.plan.model_copy(update={"key": None, "seed": None})
    return policy.with_(attributes=attributes, risk=risk, plan=plan)


def _digest(file: Path, policy: Mapping[str, Any], without: tuple[str, ...] = ()) -> str:
    content = {name: value for name, value in policy.items() if name not in without}
    text = json.dumps([str(file), file.stat().st_mtime_ns, content], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _keep(store: OrderedDict[Any, Any], key: Any, value: Any, most: int) -> None:
    store[key] = value
    store.move_to_end(key)
    while len(store) > most:
        store.popitem(last=False)


PREVIEWS = Previews()
"""The previews of this process."""
