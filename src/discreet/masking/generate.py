"""The Masked Microdata Generator (Truta et al., section 2): the masking methods of a plan, applied one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from discreet import registry
from discreet.engine.draws.context import derive_draw_key
from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.draws.fingerprint import table_fingerprint
from discreet.engine.draws.secret import secret_of_plan
from discreet.engine.encoding.shared_codes import as_text
from discreet.engine.runtime.progress import report_progress
from discreet.errors import DiscreetError, PolicyError, nearest
from discreet.masking.holdout import hold_out
from discreet.model.contracts import MaskingMethod
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy, Step
from discreet.model.results import Release, StepLog


@dataclass(frozen=True)
class _StepRun:
    """An enabled step: its number in the plan, and its method with the step's parameters."""

    number: int
    step: Step
    method: MaskingMethod


def generate(data: Microdata, plan: Plan, secret: bytes | None = None) -> Release:
    """Run a plan: each step masks the previous step's table with draws that depend on the secret and the release's context.

    ``secret`` defaults to that of the plan's numeric seed or, without one, to a new random secret that is not stored; see
    :func:`discreet.mask`.
    """
    key = release_key(data, plan, secret)
    runs = _load_steps(data, plan)
    entries: list[StepLog] = []
    tables = [data]
    held_out: list[StepLog] = []
    if plan.holdout:
        tables[0], entry = hold_out(data, plan.holdout, key)
        held_out = [entry]
    for run in runs:
        report_progress(f"step {run.number}, {run.step.method}", run.number - 1, len(plan.steps))
        entry, masked = _run_step(run, tables[-1], key)
        entries.append(entry)
        tables.append(masked)
    warnings = conflict_warnings(plan, data.policy) + [
        f"step {run.number} ({run.step.method}): {warning}"
        for index, (run, entry) in enumerate(zip(runs, entries, strict=True))
        for warning in run.method.broken(tables[index], tables[index + 1], tables[-1], entry.columns)
    ]
    return Release(data, tables[-1], plan, (*held_out, *entries), tuple(warnings), key, tuple(tables[1:]))


def release_key(data: Microdata, plan: Plan, secret: bytes | None = None) -> bytes:
    """The key of all random draws of the release of this table under this plan."""
    release_secret = secret_of_plan(plan) if secret is None else secret
    return derive_draw_key(release_secret, data.policy, plan, table_fingerprint(data, release_secret))


def mask_without_log(
    data: Microdata, plan: Plan, needs_running: Callable[[Step, Microdata], bool] | None = None, secret: bytes | None = None
) -> Microdata:
    """The table that ``generate`` would release, without its log: for a search that tries many plans and stores no tables.

    ``needs_running`` is called with each step and the table that the step would mask. It returns false for a step that would
    change nothing, which is then skipped, and may raise to abandon the plan.
    """
    key, table = release_key(data, plan, secret), data
    if plan.holdout:
        table, _ = hold_out(data, plan.holdout, key)
    for run in _load_steps(data, plan):
        report_progress(f"step {run.number}, {run.step.method}", run.number - 1, len(plan.steps))
        with _errors_name_step(run):
            if needs_running is not None and not needs_running(run.step, table):
                continue
            table = run.method.mask(table, _check_columns(table, run), KeyedDraw(key, run.number, run.step.method))
    return table


def _load_steps(data: Microdata, plan: Plan) -> list[_StepRun]:
    """The enabled steps with their methods, all built before the first one runs, so that a wrong parameter changes nothing."""
    return [
        _StepRun(number, *registry.resolve_step(step, data.policy, origin=f"{data.policy.origin}, step {number}"))
        for number, step in enumerate(plan.steps, 1)
        if step.enabled
    ]


def conflict_warnings(plan: Plan, policy: Policy) -> list[str]:
    """Warnings about steps whose risk parameters differ from those in the policy's risk section."""
    return [
        f"step {number} ({step.method}): {sentence}"
        for number, step in enumerate(plan.steps, 1)
        if step.enabled
        for sentence in registry.conflicting_parameters(step, policy)
    ]


def _run_step(run: _StepRun, data: Microdata, key: bytes) -> tuple[StepLog, Microdata]:
    """Mask a table by one step; returns the log entry and the masked table."""
    started = time.perf_counter()
    with _errors_name_step(run):
        columns = _check_columns(data, run)
        masked = run.method.mask(data, columns, KeyedDraw(key, run.number, run.step.method))
        seconds = time.perf_counter() - started
        notes = tuple(run.method.notes(data, masked, columns))
    changed, removed, added = _count_changes(data, masked)
    return StepLog(run.number, run.step.method, columns, changed, removed, added, seconds, notes), masked


@contextmanager
def _errors_name_step(run: _StepRun) -> Iterator[None]:
    """Errors name the step in which they arose; numbers out of range become infinite or null without a warning."""
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            yield
    except DiscreetError as error:
        raise type(error)(f"step {run.number} ({run.step.method}): {error}") from error


def _check_columns(data: Microdata, run: _StepRun) -> tuple[str, ...]:
    """The columns of a step, after checking that they exist and that the method can mask them."""
    columns = tuple(run.method.choose(data)) if run.step.columns is None else run.step.columns
    for name in columns:
        if name not in data.columns:
            raise PolicyError(f"there is no column '{name}' any more; {nearest(name, data.columns)}")
    run.method.check(data, columns)
    return columns


def _count_changes(before: Microdata, after: Microdata) -> tuple[int, int, int]:
    """Counts of values changed, records removed and records added, from a comparison of the two tables.

    A value in a dropped column counts as changed. Records are matched by their record numbers.
    """
    aligned = len(before) == len(after) and bool((before.records == after.records).all())
    retained = np.ones(len(before), np.bool_) if aligned else np.isin(before.records, after.records)
    matched = retained if aligned else np.isin(after.records, before.records)
    old_frame = before.frame.filter(retained) if not retained.all() else before.frame
    new_frame = after.frame.filter(matched) if not matched.all() else after.frame
    order_old, order_new = np.argsort(before.records[retained], kind="stable"), np.argsort(after.records[matched], kind="stable")
    changed = 0
    for name in before.columns:
        if name not in after.columns:
            changed += len(before)
            continue
        old_values, new_values = old_frame[name], new_frame[name]
        if not aligned:
            old_values, new_values = old_values[order_old], new_values[order_new]
        if old_values.dtype != new_values.dtype:
            if old_values.dtype.is_numeric() and new_values.dtype.is_numeric():
                old_values, new_values = old_values.cast(float), new_values.cast(float)
            else:
                old_values, new_values = as_text(old_values), as_text(new_values)
        changed += int(old_values.ne_missing(new_values).sum())
    return changed, int((~retained).sum()), int((~matched).sum())
