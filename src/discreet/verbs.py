"""The verbs: each takes the previous value and returns a new one.

read -> analyze -> select -> mask -> assess -> write
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from discreet import registry
from discreet.assessment.measures import Measures, make_measures
from discreet.assessment.row_links import check_listed, link_to_original, with_policy_labels
from discreet.engine.runtime import dispatch
from discreet.engine.runtime.blas_threads import one_blas_thread
from discreet.errors import DataError, PolicyError
from discreet.model.contracts import RiskMeasure
from discreet.model.display import describe_type
from discreet.model.extras import require_libraries
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy, Step
from discreet.model.results import Assessment, Release
from discreet.model.score import Score
from discreet.model.sensitivity import Sensitivity

if TYPE_CHECKING:
    from discreet.analysis.profile import Profile
    from discreet.selection.options import SelectArguments
    from discreet.selection.results import Selection
    from discreet.selection.search.search import SearchMode
    from discreet.selection.trials import OnTrial


def _require_tables(verb: str, *values: object, release: bool = False) -> None:
    """Raise DataError where an argument is not a table (or a release, if the verb takes one)."""
    for value in values:
        if isinstance(value, Microdata) or dispatch.is_distributed(value) or (release and isinstance(value, Release)):
            continue
        expected = "the result of discreet.read" + (" or discreet.mask" if release else "")
        raise DataError(f"discreet.{verb} takes {expected}; got {describe_type(value)}")


_without_overflow_warnings = np.errstate(over="ignore", invalid="ignore", divide="ignore")
"""Numbers near the end of their range become infinite or null, without a warning from NumPy."""


def read(source: Any, policy: Policy | Mapping[str, Any] | str | Path | None = None, *, engine: str | None = None) -> Microdata:
    """Read microdata from a file, a database table, or a frame of pandas, Polars, Arrow or any library with the Arrow interface.

    A table on Spark (``spark://…#table``, ``sc://…#table``, a Spark frame), or any file if ``engine`` or the policy says spark,
    stays on Spark: the result has the interface of Microdata, and the verbs run on that engine.
    """
    from discreet.convert import load_policy, read_source

    loaded = load_policy(policy)
    registry.check_policy(loaded)
    if (reader := dispatch.find_reader(source, engine or loaded.engine)) is not None:
        _require_single_file(source)
        return _read_on_engine(reader, source, loaded)
    return read_source(source, loaded)


def _require_single_file(source: Any) -> None:
    """Raise for sources that only the local engine reads."""
    if isinstance(source, list | tuple) or (isinstance(source, str) and source == "-"):
        raise DataError("standard input and lists of files are read on the local engine; on Spark name a table or a folder")


def _read_on_engine(reader: Callable[..., Any], source: Any, policy: Policy) -> Microdata:
    """Read a table on another engine, with the cell descriptions in the file beside it."""
    from discreet.convert.files.cells_file import check_described_columns, policy_with_labels_as_text, read_cells

    if not isinstance(source, str | Path) or "://" in str(source):
        table: Microdata = reader(source, policy)
        return table
    path = Path(source).expanduser()
    cells = read_cells(path)
    labelled: Microdata = reader(source, policy_with_labels_as_text(policy, cells)).with_policy(policy)
    check_described_columns(path, cells, labelled.columns)
    return labelled.with_cells(cells) if cells else labelled


def scan(
    source: Any,
    policy: Policy | Mapping[str, Any] | str | Path | None = None,
    measures: Measures = None,
    notice: Callable[[str], None] | None = None,
    *,
    by_record: bool = False,
    engine: str | None = None,
) -> Microdata:
    """As :func:`read`, for risk measures alone: a file that can be streamed is read in parts, column by column, as codes.

    So a table much larger than memory can be measured. The memory needed is estimated first (``by_record``: including one row
    per record in the result): ``notice`` is called with the estimate, and MemoryLimitError is raised if there is less.
    """
    from discreet.convert import load_policy, scan_source

    loaded = load_policy(policy)
    registry.check_policy(loaded)
    if (reader := dispatch.find_reader(source, engine or loaded.engine)) is not None:
        _require_single_file(source)
        return _read_on_engine(reader, source, loaded)
    return scan_source(source, loaded, make_measures("risk", measures, loaded), notice, by_record=by_record)


def write(data: Microdata | Release, target: str | Path, *, overwrite: bool = False, drop_dependents: bool = False) -> None:
    """Write a table to a file or database table: whole, or not at all.

    Of a release only what may be published is written: rows shuffled by the release's key, no identifiers that no step worked
    on, no labels of values that no longer occur (see :func:`discreet.masking.release.release_table`). Any other table may hold
    original data: its file is readable by its owner only. The key ring records the release, so that its rows can be linked to
    their originals later.

    A target that exists needs ``overwrite``; the source of the data is never overwritten. A replaced table of PostgreSQL or
    MySQL keeps its grants, comments, indexes, row-level security and views; those that do not fit the new columns are an error
    unless ``drop_dependents`` drops them.
    """
    from discreet.convert import write_target
    from discreet.convert.writing.destinations import check_source

    _require_tables("write", data, release=True)
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
    """Write the link of a release: which original record each written row comes from. Confidential; for :func:`link`.

    A file, and a folder that Spark writes on this machine, are readable by their owner only; a table inherits the permissions of
    its database. A target that exists needs ``overwrite``.
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
    """The sources of a table's rows."""
    return {data.original.source, data.masked.source} if isinstance(data, Release) else {data.source}


@one_blas_thread()
def analyze(data: Microdata) -> Profile:
    """Propose a policy for a table, with a reason for each attribute."""
    from discreet.analysis.analyzer import profile_table

    _require_tables("analyze", data)
    dispatch.require_local("analyze", data)
    return profile_table(data)


@one_blas_thread()
@_without_overflow_warnings
def risk(data: Microdata | Release, measures: Measures = None, original: Microdata | None = None) -> dict[str, Score]:
    """Measure risks; default: those of the policy, or k-anonymity of the keys if it has none."""
    _require_tables("risk", data, *(() if original is None else (original,)), release=True)
    if isinstance(data, Release):
        original = original or data.original
        table = data.masked
    else:
        table = (
            with_policy_labels(data) if original is None or dispatch.is_distributed(data) else link_to_original(data, original)[0]
        )
    bound = registry.bind_to_engine("risk", make_measures("risk", measures, table.policy), table, original)
    doubts = check_listed(table, initial=not table.policy.plan.steps) if original is None else []
    scores = {measure.name: measure.measure(table, original=original) for measure in bound}
    for measure, score in zip(bound, scores.values(), strict=True):
        score.notes = (*score.notes, *doubts)
        if not dispatch.is_distributed(table):
            score.examine = _examiner(measure, table, original)
    return scores


def _examiner(
    measure: RiskMeasure, table: Microdata, original: Microdata | None
) -> Callable[[Mapping[str, float] | None, float], Sensitivity]:
    """How far the verdicts of one measure hold, against the intruder that was measured."""
    from discreet.assessment.sensitivity import examine_measure

    def examine(limits: Mapping[str, float] | None, seconds: float) -> Sensitivity:
        return examine_measure(measure, table, original, limits, seconds, alone=original is None)

    return examine


@one_blas_thread()
@_without_overflow_warnings
def sensitivity(
    data: Microdata | Release, masked: Microdata | None = None, measures: Measures = None, *, seconds: float = 60.0,
    one_by_one: bool = True,
) -> dict[str, Sensitivity]:  # fmt: skip
    """How far the verdicts on the policy's limits hold where the guesses behind them are wrong, by measure.

    Default: the measures that the policy names or limits. With a masked table (or a release) its verdicts are examined: against
    the release alone and, unless the policy says ``judge: release``, an intruder who knows the original values. Measures whose
    numbers rest on no guess are left out. ``seconds`` is about how long it may take. Without ``one_by_one`` guesses are moved
    together only, which is quicker.
    """
    from discreet.assessment.sensitivity import examine_release

    _require_tables("sensitivity", data, *(() if masked is None else (masked,)), release=True)
    if isinstance(data, Release):
        table, original = data.masked, data.original
        doubts: Sequence[str] = ()
    elif masked is not None:
        dispatch.require_local("sensitivity", data)
        dispatch.require_local("sensitivity", masked)
        original = data
        table, doubts = link_to_original(masked, original)
    else:
        dispatch.require_local("sensitivity", data)
        table, original, doubts = with_policy_labels(data), None, check_listed(data, initial=not data.policy.plan.steps)
    return examine_release(table, original, measures, seconds, tuple(doubts), one_by_one=one_by_one)


@one_blas_thread()
@_without_overflow_warnings
def loss(original: Microdata, masked: Microdata | Release, measures: Measures = None) -> dict[str, Score]:
    """Measure information losses; default: those of the policy, or the normalized certainty penalty if it has none."""
    _require_tables("loss", original)
    _require_tables("loss", masked, release=True)
    table, doubts = link_to_original(masked, original)
    bound = registry.bind_to_engine("loss", make_measures("loss", measures, original.policy), original, table)
    scores = {measure.name: measure.measure(original, table) for measure in bound}
    for score in scores.values():
        score.notes = (*score.notes, *doubts)
    return scores


@one_blas_thread()
def mask(
    data: Microdata, plan: Plan | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None, *, key: str | None = None
) -> Release:
    """Run a plan, or a list of steps; default: the policy's plan.

    All random draws come from a secret key. ``key`` (or the plan's) is the id of a key in the key ring, with which an earlier
    release is repeated. Without it a new key is drawn and stored in the ring, and ``release.plan.key`` is its id.
    """
    from discreet.keys.choose import choose_key, with_key
    from discreet.masking.generate import generate
    from discreet.masking.generate_spark import generate_on_engine

    _require_tables("mask", data)
    if plan is None:
        plan = data.policy.plan
    elif not isinstance(plan, Plan):
        plan = _parse_plan(plan)
    doubts = check_listed(data)
    chosen = choose_key(with_key(plan, key), data.source)
    run = generate_on_engine if dispatch.is_distributed(data) else generate
    release = run(data, chosen.plan, chosen.secret)
    warnings = (*chosen.warnings, *release.warnings, *doubts)
    return replace(release, warnings=warnings) if warnings != release.warnings else release


def _parse_plan(plan: object) -> Plan:
    if isinstance(plan, Mapping):
        return Policy.from_dict({"plan": dict(plan)}, origin="the plan").plan
    if isinstance(plan, Sequence) and not isinstance(plan, str | bytes):
        steps = [step.model_dump() if isinstance(step, Step) else step for step in plan]
        return Policy.from_dict({"plan": {"steps": steps}}, origin="the plan").plan
    raise PolicyError(f"a plan is a discreet.Plan, a dict or a list of steps; got {describe_type(plan)}")


@one_blas_thread()
def assess(original: Microdata, masked: Microdata | Release, *, deadline: float | None = None) -> Assessment:
    """Risks before and after, losses, and the verdict against the policy's limits.

    A limit on risk is judged against the worse of two intruders: one who has the release alone, and one who knows the original
    values (with ``judge: release`` in the policy only against the first). After the deadline, a value of ``time.monotonic``, the
    second intruder is no longer measured, and limits that need this evidence are incomplete.
    """
    from discreet.assessment.release import assess_release

    _require_tables("assess", original)
    _require_tables("assess", masked, release=True)
    return assess_release(original, masked, deadline)


def link(original: Microdata, masked: Microdata, records: Any = None) -> Microdata:
    """A masked table as read from a file, with its rows linked to their originals.

    ``records`` is the link that ``discreet mask --link`` wrote: a file, a table or a frame with a column ``record`` that holds
    the number of each masked row's original record, counted from 1, or null for a simulated row. Default: the key ring restores
    the link, if the release was made on this machine and no record was removed or added.
    """
    _require_tables("link", original, masked)
    if records is None:
        return link_to_original(masked, original)[0]
    if dispatch.is_distributed(masked):
        dispatch.engine_of(masked, original)
        linked: Microdata = masked.linked(original, read(records, engine=masked.engine))
        return linked
    from discreet.convert import read_source
    from discreet.engine.encoding.record_links import attach_link

    return attach_link(masked, original, read_source(records, Policy()))


@one_blas_thread()
def select(
    data: Microdata, *, resume: str | Path | None = None, on_trial: OnTrial | None = None, how: SearchMode = "guided",
    **options: Unpack[SelectArguments],
) -> Selection:  # fmt: skip
    """Search for the plan that meets every limit at the least loss: information loss, falsehood and changed associations.

    The options (``seconds``, ``trials``, ``seed``, ``truthful``, ``protect``, ``keep``, ``analyses``, ``prefer`` and the other
    fields of :class:`discreet.selection.options.SelectOptions`) override the policy's ``select`` section. With ``resume`` the
    search is recorded in a file, and continues from it after an interruption. ``on_trial`` is called with a
    :class:`discreet.selection.trials.Trial` for each plan as soon as it was tried. ``how`` is "guided" or "random", for
    comparison.
    """
    _require_tables("select", data)
    dispatch.require_local("select", data)
    require_libraries("select", "optuna")
    check_listed(data)
    from discreet.selection.wizard import select as run_wizard

    return run_wizard(data, resume=resume, on_trial=on_trial, how=how, **options)


@one_blas_thread()
def explain(data: Microdata, record: int, measures: Measures = None, original: Microdata | None = None) -> list[str]:
    """Sentences that explain the risk of one record (counted from 0), from every measure that can explain it."""
    _require_tables("explain", data)
    dispatch.require_local("explain", data)
    if not isinstance(record, int | np.integer) or isinstance(record, bool):
        raise DataError(f"discreet.explain takes the number of a record, counted from 0; got {describe_type(record)}")
    if not 0 <= record < len(data):
        raise DataError(f"there is no record {record + 1:,} in {data.source}, which has {len(data):,}")
    if original is not None:
        data = link_to_original(data, original)[0]
    created = make_measures("risk", measures, data.policy)
    sentences = [sentence for measure in created for sentence in measure.explain(data, record, original=original)]
    return sentences or [f"none of {', '.join(measure.name for measure in created)} explains single records"]


def meanings(kind: str, names: Iterable[str]) -> dict[str, Mapping[str, str]]:
    """The meaning of each summary field of the named measures, in words."""
    return {name: registry.load("risk" if kind == "risk" else "loss", name).meaning for name in names}
