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
    return run_plan(data, plan, secret).to_release()


@dataclass(frozen=True)
class _StepResult:
    """What a step made of the table before it; the columns that it masked and the seconds that it took."""

    run: _StepRun
    before: Microdata
    masked: Microdata
    columns: tuple[str, ...]
    seconds: float

    def to_log(self) -> StepLog:
        changed, removed, added = _count_changes(self.before, self.masked)
        with _errors_name_step(self.run):
            notes = tuple(self.run.method.notes(self.before, self.masked, self.columns))
        number, method = self.run.number, self.run.step.method
        return StepLog(number, method, self.columns, changed, removed, added, self.seconds, notes)


@dataclass(frozen=True)
class PlanResult:
    """The tables that a plan made of the data, from which a release with its log can be made."""

    data: Microdata
    plan: Plan
    key: bytes
    held_out: tuple[StepLog, ...]
    results: tuple[_StepResult, ...]
    masked: Microdata

    def forget_derived(self) -> None:
        """Forget what was derived from the masked tables, which may take much memory, but not what steps note of themselves."""
        for result in self.results:
            if result.masked is not self.data:
                for name in [name for name in result.masked.cache if name != result.run.step.method]:
                    del result.masked.cache[name]

    def to_release(self) -> Release:
        entries = [result.to_log() for result in self.results]
        warnings = conflict_warnings(self.plan, self.data.policy) + [
            f"step {result.run.number} ({result.run.step.method}): {warning}"
            for result in self.results
            for warning in result.run.method.broken(result.before, result.masked, self.masked, result.columns)
        ]
        stages = tuple(result.masked for result in self.results)
        return Release(self.data, self.masked, self.plan, (*self.held_out, *entries), tuple(warnings), self.key, stages)


def release_key(data: Microdata, plan: Plan, secret: bytes | None = None) -> bytes:
    """The key of all random draws of the release of this table under this plan."""
    release_secret = secret_of_plan(plan) if secret is None else secret
    return derive_draw_key(release_secret, data.policy, plan, table_fingerprint(data, release_secret))


def run_plan(
    data: Microdata, plan: Plan, secret: bytes | None = None, needs_running: Callable[[Step, Microdata], bool] | None = None
) -> PlanResult:
    """Run the steps of a plan, and keep the table after each.

    ``needs_running`` is called with each step and the table that the step would mask. It returns false for a step that would
    change nothing, whose table is then the one before it, and may raise to abandon the plan: for a search that tries many plans.
    """
    key, table = release_key(data, plan, secret), data
    runs = _load_steps(data, plan)
    held_out: tuple[StepLog, ...] = ()
    if plan.holdout:
        table, entry = hold_out(data, plan.holdout, key)
        held_out = (entry,)
    results: list[_StepResult] = []
    for run in runs:
        report_progress(f"step {run.number}, {run.step.method}", run.number - 1, len(plan.steps))
        with _errors_name_step(run):
            is_needed = needs_running is None or needs_running(run.step, table)
            started = time.perf_counter()
            columns = _check_columns(table, run)
            draw = KeyedDraw(key, run.number, run.step.method)
            masked = run.method.mask(table, columns, draw) if is_needed else table
        results.append(_StepResult(run, table, masked, columns, time.perf_counter() - started))
        table = masked
    return PlanResult(data, plan, key, held_out, tuple(results), table)


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
