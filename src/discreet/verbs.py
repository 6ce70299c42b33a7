"""The verbs: each takes the previous value and returns a new one.

read -> analyze -> select -> mask -> assess -> write
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet import registry
from discreet.engine.runtime import dispatch
from discreet.errors import DataError, PolicyError
from discreet.model.attribute import Role
from discreet.model.contracts import LossMeasure, RiskMeasure
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy
from discreet.model.results import Assessment, Release
from discreet.model.score import Score

if TYPE_CHECKING:
    from discreet.analysis.profile import Profile
    from discreet.selection.results import Selection

Measures = Iterable[str | RiskMeasure | LossMeasure] | Mapping[str, Mapping[str, Any]] | str | None

_COVERAGE = "coverage"
"""The risk measure that every assessment takes, whether the policy names it or not."""

_quiet = np.errstate(over="ignore", invalid="ignore", divide="ignore")
"""Numbers near the end of their range become infinite or null, without a word from the library that counts with them."""


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
    from discreet.convert.files.cells_file import check_columns, read_cells, reading_labels_as_text

    if not isinstance(source, str | Path) or "://" in str(source):
        found: Microdata = reader(source, policy)
        return found
    path = Path(source).expanduser()
    cells = read_cells(path)
    made: Microdata = reader(source, reading_labels_as_text(policy, cells)).with_policy(policy)
    check_columns(path, cells, made.columns)
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
    a record as the outcome): ``notice`` is told, and RoomError raised where there is less.
    """
    from discreet.convert import load_policy, scan_source

    loaded = load_policy(policy)
    registry.check_policy(loaded)
    if (reader := dispatch.find_reader(source, engine or loaded.engine)) is not None:
        return _read_on_engine(reader, source, loaded)
    return scan_source(source, loaded, _instances("risk", measures, loaded), notice, by_record=by_record)


def write(data: Microdata | Release, target: str | Path, *, overwrite: bool = False, drop_dependents: bool = False) -> None:
    """Write a table to a file or database table: whole, or not at all.

    Of a release is written what may leave the house: rows shuffled by the release's key, no identifiers that no step worked
    on, no labels of values that are gone (see :func:`discreet.masking.release.released`). Any other table may hold originals:
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
        from discreet.masking.release import released

        data = released(data)
    if dispatch.is_distributed(data):
        from discreet.convert.files.formulas import PATTERN

        data.write(str(target), private=not public, formulas=PATTERN if public else "", overwrite=overwrite)
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
    from discreet.masking.release import link as made

    check_source(target, *_sources(release))
    found = made(release)
    if dispatch.is_distributed(found):
        found.write(str(target), private=True, overwrite=overwrite)
        return
    write_target(found, target, private=True, overwrite=overwrite)


def _sources(data: Microdata | Release) -> set[str]:
    """Where the rows of a table came from."""
    return {data.original.source, data.masked.source} if isinstance(data, Release) else {data.source}


def analyze(data: Microdata) -> Profile:
    """Propose a policy, with a reason for each attribute."""
    from discreet.analysis.analyzer import profile

    dispatch.require_local("analyze", data)
    return profile(data)


@_quiet
def risk(data: Microdata | Release, measures: Measures = None, original: Microdata | None = None) -> dict[str, Score]:
    """Measure risks: those named, or the policy's, or k-anonymity of the keys."""
    if isinstance(data, Release):
        original = original or data.original
        table = data.masked
    else:
        table = _labelled(data) if original is None or dispatch.is_distributed(data) else _placed(data, original)[0]
    made = registry.bind_to_engine("risk", _instances("risk", measures, table.policy), table, original)
    doubts = _check_listed(table, initial=not table.policy.plan.steps) if original is None else []
    found = {one.name: one.measure(table, original=original) for one in made}
    for score in found.values():
        score.notes = (*score.notes, *doubts)
    return found


@_quiet
def loss(original: Microdata, masked: Microdata | Release, measures: Measures = None) -> dict[str, Score]:
    """Measure losses: those named, or the policy's, or the normalized certainty penalty."""
    table, doubts = _placed(masked, original)
    made = registry.bind_to_engine("loss", _instances("loss", measures, original.policy), original, table)
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
    doubts = _check_listed(data)
    chosen = choose_key(with_key(plan, key), data.source)
    run = generate_on_engine if dispatch.is_distributed(data) else generate
    release = run(data, chosen.plan, chosen.secret)
    warnings = (*chosen.warnings, *release.warnings, *doubts)
    return replace(release, warnings=warnings) if warnings != release.warnings else release


@_quiet
def assess(original: Microdata, masked: Microdata | Release, *, deadline: float | None = None) -> Assessment:
    """Risks before and after, losses, and the verdict against the policy's limits.

    A limit on risk is judged on the worse of two intruders: one who has the release alone and one who knows the original values
    (``judge: release`` in the policy gives the second one up). After the deadline, a moment of ``time.monotonic``, the second one
    is not measured any more, and limits that needed him are incomplete.
    """
    from discreet.assessment.assess import Covering
    from discreet.assessment.assess import assess as run

    table, doubts = _placed(masked, original)
    policy = original.policy
    listed = _check_listed(original)
    named = [name for name in _with_limited("risk", policy) if name != _COVERAGE] or default_measures("risk", policy)
    risks = registry.bind_to_engine("risk", _instances("risk", named, policy), original, table)
    asked = registry.bind_to_engine("loss", _instances("loss", _with_limited("loss", policy), policy), original, table)
    losses = {one.name: one.measure(original, table) for one in asked}
    covers = registry.make("risk", _COVERAGE, policy.risk.get(_COVERAGE), origin=policy.origin)
    made = run(original, table, risks, losses, deadline, doubts, Covering(covers, _as_written(masked, table)))
    plan = masked.plan if isinstance(masked, Release) else policy.plan
    if plan.seed is not None:
        from discreet.keys.choose import SEED_GAP

        listed, made = [*listed, SEED_GAP], replace(made, gaps=(*made.gaps, SEED_GAP))
    return replace(made, warnings=(*made.warnings, *listed)) if listed else made


def _as_written(masked: Microdata | Release, table: Microdata) -> Microdata:
    """The columns of a release as they would be written, under the plan that made it."""
    if not isinstance(masked, Release) or dispatch.is_distributed(table):
        return table
    from discreet.masking.release import withheld

    return table.drop(withheld(masked)).with_policy(table.policy.with_(plan=masked.plan))


def link(original: Microdata, masked: Microdata, records: Any = None) -> Microdata:
    """A masked table as read from a file, with its rows tied to their originals.

    ``records`` is the link that ``discreet mask --link`` wrote: a file, a table or a frame with a column ``record`` that
    holds, for each masked row, the number of its original counted from 1, or nothing where it was simulated. Without it
    the key ring knows which row is whose, where the release was made on this machine and no record was removed or added.
    """
    if records is None:
        return _placed(masked, original)[0]
    if dispatch.is_distributed(masked):
        dispatch.engine_of(masked, original)
        tied: Microdata = masked.linked(original, read(records, engine=masked.engine))
        return tied
    from discreet.convert import read_source
    from discreet.engine.encoding.record_links import with_link

    return with_link(masked, original, read_source(records, Policy()))


def _check_listed(data: Microdata, *, initial: bool = True) -> list[str]:
    """Warnings of values that the policy lists and the table does not hold; an error where that looks like a typing error.

    A table that is measured alone under a policy with a plan may be what the plan made.
    """
    if dispatch.is_distributed(data):  # there the measures check it with the dictionaries that they make
        return []
    from discreet.engine.cells.listed_values import check_listed_values

    return check_listed_values(data, initial=initial)


def _placed(masked: Microdata | Release, original: Microdata) -> tuple[Microdata, list[str]]:
    """The masked table with its rows tied to their originals, and what is in doubt."""
    if isinstance(masked, Release):
        _check_cells(masked.masked, original)
        return masked.masked, []
    masked = _labelled(masked, other=original)
    _check_cells(masked, original)
    if dispatch.engine_of(masked) != dispatch.LOCAL:  # its records' numbers are its link
        return masked, _doubted(masked, original)
    from discreet.engine.encoding.release_order import placed
    from discreet.keys.recognise import order_key

    found = placed(masked, original, original.policy.plan, order_key)
    return found.masked, [found.doubt] if found.doubt else []


def _labelled(data: Microdata, other: Microdata | None = None) -> Microdata:
    """A table with what the policy says of its labels, where no file beside it does.

    The policy speaks of masked columns. A table that is measured alone may be the original: only its columns of text can
    hold labels.
    """
    if dispatch.engine_of(data) != dispatch.LOCAL:
        return data
    if other is not None:
        data = _without_guards(data, other)
    policy = other.policy if other is not None else data.policy
    cells = {name: one for name, one in policy.cells.items() if name in data.columns and name not in data.cells}
    if other is None:
        cells = {name: one for name, one in cells.items() if data.schema[name] == pl.String}
    if not cells:
        return data
    from discreet.convert.files.cells_file import with_labels

    return with_labels(data, cells)


def _without_guards(data: Microdata, original: Microdata) -> Microdata:
    """Texts as the original has them: a released CSV file has an apostrophe before what a spreadsheet would run."""
    from discreet.convert.files.formulas import unguarded

    shared = [name for name in data.columns if name in original.columns and data.schema[name] == pl.String]
    made = {name: unguarded(data.frame[name], original.frame[name]) for name in shared}
    changed = {
        name: series for name, series in made.items() if series is not data.frame[name] and not series.equals(data.frame[name])
    }
    return data.with_columns(changed) if changed else data


def _check_cells(masked: Microdata, original: Microdata) -> None:
    """A label that nobody can explain is an error, never a value of its own."""
    if dispatch.engine_of(masked) == dispatch.LOCAL:
        from discreet.engine.cells.unexplained import check_explained

        check_explained(original, masked)


def _doubted(masked: Any, original: Microdata) -> list[str]:
    """A table that was read again on another engine has numbers of its own, which a shuffle took apart from the original's."""
    plan = original.policy.plan
    if not masked.is_initial or masked.source == original.source or plan.order == "kept" or not plan.steps:
        return []
    rows = f"the rows of {masked.source} are taken for those of {original.source} in their order"
    return [f"{rows}; a release is written in another, so give its link, or read both on the local engine"]


def _with_limited(kind: str, policy: Policy) -> list[str]:
    """The measures a policy names and those its limits need."""
    said = policy.risk if kind == "risk" else policy.loss
    limited = [limit.split(".")[0] for limit in policy.limits if registry.direction(limit, origin=policy.origin)[0] == kind]
    return list(dict.fromkeys([*said, *limited])) or default_measures(kind, policy)


def select(data: Microdata, *, resume: str | Path | None = None, **options: Any) -> Selection:
    """Search for the plan that keeps every limit at the least loss: seconds, trials, seed, sample, risk, loss, cost.

    The options go over the policy's ``select`` section. With ``resume`` the search is kept in a file and goes on from it.
    ``on_trial`` is called with each plan as soon as it was tried: a :class:`discreet.selection.trials.Trial`.
    """
    from discreet.selection.wizard import select as run

    dispatch.require_local("select", data)
    _check_listed(data)
    return run(data, resume=resume, **options)


def explain(data: Microdata, record: int, measures: Measures = None, original: Microdata | None = None) -> list[str]:
    """Sentences on why one record is at risk, from every measure that can say so."""
    dispatch.require_local("explain", data)
    if not 0 <= record < len(data):
        raise DataError(f"there is no record {record + 1:,} in {data.source}, which has {len(data):,}")
    if original is not None:
        data = _placed(data, original)[0]
    made = _instances("risk", measures, data.policy)
    told = [sentence for one in made for sentence in one.explain(data, record, original=original)]
    return told or [f"none of {', '.join(one.name for one in made)} explains single records"]


def meanings(kind: str, found: Iterable[str]) -> dict[str, Mapping[str, str]]:
    """What each field of some measures says, for people."""
    return {name: registry.load("risk" if kind == "risk" else "loss", name).meaning for name in found}


def _instances(kind: Any, measures: Measures, policy: Policy) -> list[Any]:
    said: Mapping[str, Mapping[str, Any]] = policy.risk if kind == "risk" else policy.loss
    if measures is None:
        measures = list(said) or default_measures(kind, policy)
    if isinstance(measures, str):
        measures = [measures]
    if isinstance(measures, Mapping):
        return [registry.make(kind, name, parameters, origin="the call") for name, parameters in measures.items()]
    return [
        one if not isinstance(one, str) else registry.make(kind, one, said.get(one), origin=policy.origin) for one in measures
    ]


def default_measures(kind: str, policy: Policy) -> list[str]:
    """What is measured where the policy names nothing: all that its limits need, and the plainest measure."""
    limited = [name.split(".")[0] for name in policy.limits if registry.direction(name, origin=policy.origin)[0] == kind]
    if limited:
        return list(dict.fromkeys(limited))
    if kind == "loss":
        return ["ncp"]
    if any(a.known > 0 and a.role is not Role.IDENTIFIER for a in policy.attributes.values()) and "known_sets" in registry.names(
        "risk"
    ):
        return ["known_sets"]
    if policy.named(Role.KEY):
        return ["k_anonymity"]
    raise PolicyError(
        f"{policy.origin}: nothing to measure: give an attribute the role key or a known probability, or name a measure"
    )
