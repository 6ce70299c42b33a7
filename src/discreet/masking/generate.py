"""The Masked Microdata Generator (seed 002, section 2): a list of methods applied one at a time."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from discreet import registry
from discreet.engine.random import KeyedDraw
from discreet.errors import DiscreetError, PolicyError, nearest
from discreet.model.contracts import MaskingMethod
from discreet.model.microdata import Microdata
from discreet.model.policy import Plan, Step
from discreet.model.results import Release, StepLog

Progress = Callable[[int, int, str], None]


def generate(data: Microdata, plan: Plan, *, progress: Progress | None = None) -> Release:
    """Run a plan: each step gets the previous step's table and draws keyed by (seed, step, record)."""
    steps = [(number, step) for number, step in enumerate(plan.steps, 1) if step.enabled]
    methods = [
        registry.make("masking", step.method, step.parameters, origin=f"{data.policy.origin}, step {number}")
        for number, step in steps
    ]
    current, log, done = data, [], []
    for (number, step), method in zip(steps, methods, strict=True):
        if progress is not None:
            progress(number, len(plan.steps), step.method)
        columns = _columns(current, number, step, method)
        started = time.perf_counter()
        try:
            method.check(current, columns)
            made = method.mask(current, columns, KeyedDraw(plan.seed, number))
        except DiscreetError as error:
            raise type(error)(f"step {number} ({step.method}): {error}") from error
        log.append(_entry(number, step, columns, current, made, time.perf_counter() - started))
        done.append((number, method, columns))
        current = made
    warnings = tuple(
        f"step {number} ({method.name}): {sentence}"
        for number, method, columns in done
        for sentence in method.promise(current, columns)
    )
    return Release(data, current, plan, tuple(log), warnings)


def _columns(data: Microdata, number: int, step: Step, method: MaskingMethod) -> tuple[str, ...]:
    if step.columns is None:
        return tuple(method.choose(data))
    for name in step.columns:
        if name not in data.columns:
            raise PolicyError(
                f"step {number} ({step.method}): there is no column '{name}' any more; {nearest(name, data.columns)}"
            )
    return step.columns


def _entry(number: int, step: Step, columns: tuple[str, ...], before: Microdata, after: Microdata, seconds: float) -> StepLog:
    """What a step did, counted on the tables themselves."""
    kept = np.isin(before.records, after.records)
    came = np.isin(after.records, before.records)
    old = before.frame.filter(kept) if not kept.all() else before.frame
    new = after.frame.filter(came) if not came.all() else after.frame
    order_old, order_new = np.argsort(before.records[kept], kind="stable"), np.argsort(after.records[came], kind="stable")
    changed = 0
    for name in before.columns:
        if name not in after.columns:
            changed += len(before)
            continue
        one, other = old[name], new[name]
        if not (before.is_initial and after.is_initial):
            one, other = one[order_old], other[order_new]
        if one.dtype != other.dtype:
            one, other = one.cast(str), other.cast(str)
        changed += int(one.ne_missing(other).sum())
    return StepLog(number, step.method, columns, changed, int((~kept).sum()), int((~came).sum()), seconds)
