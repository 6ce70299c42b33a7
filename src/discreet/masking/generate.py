"""The Masked Microdata Generator (seed 002, section 2): a list of methods applied one at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from discreet import registry
from discreet.engine.draws.context import draw_key
from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.draws.fingerprint import table_fingerprint
from discreet.engine.draws.secret import plan_secret
from discreet.engine.encoding.shared_codes import as_text
from discreet.engine.runtime.progress import tell
from discreet.errors import DiscreetError, PolicyError, nearest
from discreet.model.contracts import MaskingMethod
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Policy, Step
from discreet.model.results import Release, StepLog


@dataclass(frozen=True)
class _Run:
    """One step that runs: its place in the plan, and its method with the step's parameters."""

    number: int
    step: Step
    method: MaskingMethod


def generate(data: Microdata, plan: Plan, secret: bytes | None = None) -> Release:
    """Run a plan: each step gets the previous step's table, and draws that come from the secret and the release's context.

    Without a secret it is that of the plan's numeric seed, or a new one that is not kept; see :func:`discreet.mask`.
    """
    key = release_key(data, plan, secret)
    runs = _runs(data, plan)
    entries: list[StepLog] = []
    tables = [data]
    for run in runs:
        tell(f"step {run.number}, {run.step.method}", run.number - 1, len(plan.steps))
        entry, made = _run(run, tables[-1], key)
        entries.append(entry)
        tables.append(made)
    warnings = conflicts(plan, data.policy) + [
        f"step {run.number} ({run.step.method}): {sentence}"
        for at, (run, entry) in enumerate(zip(runs, entries, strict=True))
        for sentence in run.method.broken(tables[at], tables[at + 1], tables[-1], entry.columns)
    ]
    return Release(data, tables[-1], plan, tuple(entries), tuple(warnings), key, tuple(tables[1:]))


def release_key(data: Microdata, plan: Plan, secret: bytes | None = None) -> bytes:
    """The key of all draws of the release that a plan makes of a table."""
    made = plan_secret(plan) if secret is None else secret
    return draw_key(made, data.policy, plan, table_fingerprint(data, made))


def masked_by(
    data: Microdata, plan: Plan, before: Callable[[Step, Microdata], bool] | None = None, secret: bytes | None = None
) -> Microdata:
    """The table that ``generate`` would release, without its log: for one who tries many plans and keeps none of the tables.

    ``before`` is called with each step and the table it will be given; it may raise to give the plan up, and says whether the
    step has anything to do: one that would change nothing is left out.
    """
    key, table = release_key(data, plan, secret), data
    for run in _runs(data, plan):
        tell(f"step {run.number}, {run.step.method}", run.number - 1, len(plan.steps))
        with _told(run):
            if before is not None and not before(run.step, table):
                continue
            table = run.method.mask(table, _checked(table, run), KeyedDraw(key, run.number, run.step.method))
    return table


def _runs(data: Microdata, plan: Plan) -> list[_Run]:
    """The enabled steps with their methods, made before any of them runs, so that a wrong parameter changes nothing."""
    return [
        _Run(number, *registry.resolve_step(step, data.policy, origin=f"{data.policy.origin}, step {number}"))
        for number, step in enumerate(plan.steps, 1)
        if step.enabled
    ]


def conflicts(plan: Plan, policy: Policy) -> list[str]:
    """Warnings of steps that measure a risk otherwise than the policy's risk section does."""
    return [
        f"step {number} ({step.method}): {sentence}"
        for number, step in enumerate(plan.steps, 1)
        if step.enabled
        for sentence in registry.conflicting_parameters(step, policy)
    ]


def _run(run: _Run, data: Microdata, key: bytes) -> tuple[StepLog, Microdata]:
    started = time.perf_counter()
    with _told(run):
        columns = _checked(data, run)
        made = run.method.mask(data, columns, KeyedDraw(key, run.number, run.step.method))
        seconds = time.perf_counter() - started
        notes = tuple(run.method.notes(data, made, columns))
    changed, removed, added = _changes(data, made)
    return StepLog(run.number, run.step.method, columns, changed, removed, added, seconds, notes), made


@contextmanager
def _told(run: _Run) -> Iterator[None]:
    """Errors say in which step they were met; numbers near the end of their range become infinite or null, without a word."""
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            yield
    except DiscreetError as error:
        raise type(error)(f"step {run.number} ({run.step.method}): {error}") from error


def _checked(data: Microdata, run: _Run) -> tuple[str, ...]:
    """The columns a step works on, which it can."""
    columns = tuple(run.method.choose(data)) if run.step.columns is None else run.step.columns
    for name in columns:
        if name not in data.columns:
            raise PolicyError(f"there is no column '{name}' any more; {nearest(name, data.columns)}")
    run.method.check(data, columns)
    return columns


def _changes(before: Microdata, after: Microdata) -> tuple[int, int, int]:
    """Values changed, records removed and records added, counted on the tables themselves."""
    aligned = len(before) == len(after) and bool((before.records == after.records).all())
    kept = np.ones(len(before), np.bool_) if aligned else np.isin(before.records, after.records)
    came = kept if aligned else np.isin(after.records, before.records)
    old = before.frame.filter(kept) if not kept.all() else before.frame
    new = after.frame.filter(came) if not came.all() else after.frame
    order_old, order_new = np.argsort(before.records[kept], kind="stable"), np.argsort(after.records[came], kind="stable")
    changed = 0
    for name in before.columns:
        if name not in after.columns:
            changed += len(before)
            continue
        one, other = old[name], new[name]
        if not aligned:
            one, other = one[order_old], other[order_new]
        if one.dtype != other.dtype:
            if one.dtype.is_numeric() and other.dtype.is_numeric():
                one, other = one.cast(float), other.cast(float)
            else:
                one, other = as_text(one), as_text(other)
        changed += int(one.ne_missing(other).sum())
    return changed, int((~kept).sum()), int((~came).sum())
