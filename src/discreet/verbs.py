"""The verbs: each takes the previous value and returns a new one.

read -> analyze -> select -> mask -> assess -> write
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import registry
from discreet.assessment.measures import Measures, make_measures
from discreet.assessment.row_links import check_listed, link_to_original, with_policy_labels
from discreet.engine.runtime import dispatch
from discreet.errors import DataError
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy
from discreet.model.results import Assessment, Release
from discreet.model.score import Score

if TYPE_CHECKING:
    from discreet.analysis.profile import Profile
    from discreet.selection.results import Selection

_without_overflow_warnings = np.errstate(over="ignore", invalid="ignore", divide="ignore")
"""Numbers near the end of their range become infinite or null, without a warning from NumPy."""


def read(source: Any, policy: Policy | Mapping[str, Any] | str | Path | None = None, *, engine: str | None = None) -> Microdata:
    """Microdata from a file, a database table, or a frame of pandas, Polars, Arrow or their kin.

    A table on Spark (``spark://…#table``, ``sc://…#table``, a Spark frame), or any file where ``engine`` or the policy says
    spark, stays there: what is returned is asked like Microdata, and the verbs work on it by that engine.
    """
    from discreet.convert import load_policy, read_source

    loaded = load_policy(policy)
    registry.check_policy(loaded)
    if (reader := dispatch.find_reader(source, engine or loaded.engine)) is not None:
        return _read_on_engine(reader, source, loaded)
    return read_source(source, loaded)


def _read_on_engine(reader: Callable[..., Any], source: Any, policy: Policy) -> Microdata:
    """A table on another engine, with what the file beside it says of its labels."""
    from discreet.convert.files.cells_file import check_described_columns, policy_with_labels_as_text, read_cells

    if not isinstance(source, str | Path) or "://" in str(source):
        found: Microdata = reader(source, policy)
        return found
    path = Path(source).expanduser()
    cells = read_cells(path)
    made: Microdata = reader(source, policy_with_labels_as_text(policy, cells)).with_policy(policy)
    check_described_columns(path, cells, made.columns)
    return made.with_cells(cells) if cells else made


def scan(
    source: Any,
    policy: Policy | Mapping[str, Any] | str | Path | None = None,
    measures: Measures = None,
    notice: Callable[[str], None] | None = None,
    *,
    by_record: bool = False,
    engine: str | None = None,
) -> Microdata:
    """As :func:`read`, for risk measures alone: a file that can be streamed is read column by column, as codes, part by part.

    So a table far larger than memory can be measured. What that needs is reckoned before it begins (``by_record``: with a row
    a record as the outcome): ``notice`` is told, and MemoryLimitError raised where there is less.
    """
    from discreet.convert import load_policy, scan_source

    loaded = load_policy(policy)
    registry.check_policy(loaded)
    if (reader := dispatch.find_reader(source, engine or loaded.engine)) is not None:
        return _read_on_engine(reader, source, loaded)
    return scan_source(source, loaded, make_measures("risk", measures, loaded), notice, by_record=by_record)


def write(data: Microdata | Release, target: str | Path, *, overwrite: bool = False, drop_dependents: bool = False) -> None:
    """Write a table to a file or database table: whole, or not at all.

    Of a release is written what may leave the house: rows shuffled by the release's key, no identifiers that no step worked
    on, no labels of values that are gone (see :func:`discreet.masking.release.release_table`). Any other table may hold originals:
    its file can be read by its owner alone. The key ring remembers the release, so that its rows can be laid beside their
    originals later.

    A target that exists needs ``overwrite``; the source of the data is never overwritten. A replaced table of PostgreSQL or
    MySQL keeps its grants, comments, indexes, row-level security and views; what the new columns do not allow is refused
    unless ``drop_dependents`` gives it up.
    """
    from discreet.convert import write_target
    from discreet.convert.writing.destinations import check_source

    release = data if isinstance(data, Release) else None
    public = release is not None
    check_source(target, *_sources(data))
    if isinstance(data, Release):
        from discreet.masking.release import release_table

        data = release_table(data)
    if dispatch.is_distributed(data):
        from discreet.convert.files.formulas import FORMULA_PATTERN

        data.write(str(target), private=not public, formulas=FORMULA_PATTERN if public else "", overwrite=overwrite)
        if "://" not in str(target):
            from discreet.convert.files.cells_file import write_cells

            write_cells(Path(target).expanduser(), data.cells, private=not public)
        return
    write_target(data, target, private=not public, public=public, overwrite=overwrite, drop_dependents=drop_dependents)
    if release is not None:
        from discreet.keys.recognise import remember_release

        remember_release(release, data)


def write_link(release: Release, target: str | Path, *, overwrite: bool = False) -> None:
    """Write which original each written row of a release comes from: for the owner alone, and for :func:`link`.

    A file, and a folder that Spark writes on this machine, can be read by their owner alone; a table has the rights that
    its database gives it. A target that exists needs ``overwrite``.
    """
    from discreet.convert import write_target
    from discreet.convert.writing.destinations import check_source
    from discreet.masking.release import release_link

    check_source(target, *_sources(release))
    table = release_link(release)
    if dispatch.is_distributed(table):
        table.write(str(target), private=True, overwrite=overwrite)
        return
    write_target(table, target, private=True, overwrite=overwrite)


def _sources(data: Microdata | Release) -> set[str]:
    """Where the rows of a table came from."""
    return {data.original.source, data.masked.source} if isinstance(data, Release) else {data.source}


def analyze(data: Microdata) -> Profile:
    """Propose a policy, with a reason for each attribute."""
    from discreet.analysis.analyzer import profile

    dispatch.require_local("analyze", data)
    return profile(data)


@_without_overflow_warnings
def risk(data: Microdata | Release, measures: Measures = None, original: Microdata | None = None) -> dict[str, Score]:
    """Measure risks: those named, or the policy's, or k-anonymity of the keys."""
    if isinstance(data, Release):
        original = original or data.original
        table = data.masked
    else:
        table = (
            with_policy_labels(data) if original is None or dispatch.is_distributed(data) else link_to_original(data, original)[0]
        )
    made = registry.bind_to_engine("risk", make_measures("risk", measures, table.policy), table, original)
    doubts = check_listed(table, initial=not table.policy.plan.steps) if original is None else []
    found = {one.name: one.measure(table, original=original) for one in made}
    for score in found.values():
        score.notes = (*score.notes, *doubts)
    return found


@_without_overflow_warnings
def loss(original: Microdata, masked: Microdata | Release, measures: Measures = None) -> dict[str, Score]:
    """Measure losses: those named, or the policy's, or the normalized certainty penalty."""
    table, doubts = link_to_original(masked, original)
    made = registry.bind_to_engine("loss", make_measures("loss", measures, original.policy), original, table)
    found = {one.name: one.measure(original, table) for one in made}
    for score in found.values():
        score.notes = (*score.notes, *doubts)
    return found


def mask(data: Microdata, plan: Plan | Mapping[str, Any] | None = None, *, key: str | None = None) -> Release:
    """Run a plan: the one given, or the policy's.

    All draws come from a secret key. ``key`` (or the plan's) is the id of one in the key ring, which repeats an earlier release;
    without it a new key is drawn and kept in the ring, and ``release.plan.key`` is its id.
    """
    from discreet.keys.choose import choose_key, with_key
    from discreet.masking.generate import generate
    from discreet.masking.generate_spark import generate_on_engine

    if plan is None:
        plan = data.policy.plan
    elif not isinstance(plan, Plan):
        plan = Policy.from_dict({"plan": dict(plan)}, origin="the plan").plan
    doubts = check_listed(data)
    chosen = choose_key(with_key(plan, key), data.source)
    run = generate_on_engine if dispatch.is_distributed(data) else generate
    release = run(data, chosen.plan, chosen.secret)
    warnings = (*chosen.warnings, *release.warnings, *doubts)
    return replace(release, warnings=warnings) if warnings != release.warnings else release


def assess(original: Microdata, masked: Microdata | Release, *, deadline: float | None = None) -> Assessment:
    """Risks before and after, losses, and the verdict against the policy's limits.

    A limit on risk is judged on the worse of two intruders: one who has the release alone and one who knows the original values
    (``judge: release`` in the policy gives the second one up). After the deadline, a moment of ``time.monotonic``, the second one
    is not measured any more, and limits that needed him are incomplete.
    """
    from discreet.assessment.release import assess_release

    return assess_release(original, masked, deadline)


def link(original: Microdata, masked: Microdata, records: Any = None) -> Microdata:
    """A masked table as read from a file, with its rows tied to their originals.

    ``records`` is the link that ``discreet mask --link`` wrote: a file, a table or a frame with a column ``record`` that
    holds, for each masked row, the number of its original counted from 1, or nothing where it was simulated. Without it
    the key ring knows which row is whose, where the release was made on this machine and no record was removed or added.
    """
    if records is None:
        return link_to_original(masked, original)[0]
    if dispatch.is_distributed(masked):
        dispatch.engine_of(masked, original)
        tied: Microdata = masked.linked(original, read(records, engine=masked.engine))
        return tied
    from discreet.convert import read_source
    from discreet.engine.encoding.record_links import attach_link

    return attach_link(masked, original, read_source(records, Policy()))


def select(data: Microdata, *, resume: str | Path | None = None, **options: Any) -> Selection:
    """Search for the plan that keeps every limit at the least loss: seconds, trials, seed, sample, risk, loss, cost.

    The options go over the policy's ``select`` section. With ``resume`` the search is kept in a file and goes on from it.
    ``on_trial`` is called with each plan as soon as it was tried: a :class:`discreet.selection.trials.Trial`.
    """
    from discreet.selection.wizard import select as run

    dispatch.require_local("select", data)
    check_listed(data)
    return run(data, resume=resume, **options)


def explain(data: Microdata, record: int, measures: Measures = None, original: Microdata | None = None) -> list[str]:
    """Sentences on why one record is at risk, from every measure that can say so."""
    dispatch.require_local("explain", data)
    if not 0 <= record < len(data):
        raise DataError(f"there is no record {record + 1:,} in {data.source}, which has {len(data):,}")
    if original is not None:
        data = link_to_original(data, original)[0]
    made = make_measures("risk", measures, data.policy)
    told = [sentence for one in made for sentence in one.explain(data, record, original=original)]
    return told or [f"none of {', '.join(one.name for one in made)} explains single records"]


def meanings(kind: str, found: Iterable[str]) -> dict[str, Mapping[str, str]]:
    """What each field of some measures says, for people."""
    return {name: registry.load("risk" if kind == "risk" else "loss", name).meaning for name in found}
