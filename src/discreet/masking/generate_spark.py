"""The Masked Microdata Generator where the rows are somewhere else: the same plan, step by step, by the table's own engine."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from discreet import registry
from discreet.engine.draws.context import draw_key
from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.draws.secret import plan_secret
from discreet.engine.runtime import dispatch
from discreet.engine.runtime.progress import tell
from discreet.errors import DataError, DiscreetError, PolicyError, nearest
from discreet.masking.generate import conflicts
from discreet.model.contracts import MaskingMethod
from discreet.model.policy import Plan, Step
from discreet.model.results import Release, StepLog


class DistributedRelease(Release):
    """A release whose tables stay with their engine; no method that adds records runs there."""

    @property
    def link(self) -> Any:
        raise DataError("the link of a release on another engine stays there; write it with discreet.write_link")

    @property
    def r(self) -> int:
        return len(self.masked)


def generate_elsewhere(data: Any, plan: Plan, secret: bytes | None = None) -> Release:
    """Run a plan by the engine of the table: what it makes is what the local engine would make of the same records."""
    methods = [
        (number, *registry.resolve_step(step, data.policy, origin=f"{data.policy.origin}, step {number}"))
        for number, step in enumerate(plan.steps, 1)
        if step.enabled
    ]
    # what does not run there is said before anything is read
    works = [
        _told(number, step, lambda m=method: dispatch.work_of(data.engine, "masking", m)) for number, step, method in methods
    ]
    table, log, counts = data.initial, [], data.changes()
    made_from = plan_secret(plan) if secret is None else secret
    key = draw_key(made_from, data.policy, plan, table.fingerprint(made_from))
    for (number, step, method), work in zip(methods, works, strict=True):
        tell(f"step {number}, {step.method}", number - 1, len(plan.steps))
        started = time.perf_counter()
        columns = _told(number, step, lambda m=method, s=step, t=table: _columns(t, s, m))
        draw = KeyedDraw(key, number, step.method)
        made = _told(number, step, lambda w=work, m=method, t=table, c=columns, d=draw: w(m, t, c, d))
        notes = tuple(method.notes(table.shape, made.table.shape, columns))
        table = counts.after(table, made, number)
        log.append(StepLog(number, step.method, columns, 0, made.removed, 0, time.perf_counter() - started, notes))
    final, changed = counts.finish(table)
    entries = tuple(replace(entry, values_changed=changed[entry.step]) for entry in log)
    return DistributedRelease(data, final, plan, entries, tuple(conflicts(plan, data.policy)), key)


def _columns(table: Any, step: Step, method: MaskingMethod) -> tuple[str, ...]:
    columns = tuple(method.choose(table)) if step.columns is None else step.columns
    for name in columns:
        if name not in table.columns:
            raise PolicyError(f"there is no column '{name}' any more; {nearest(name, table.columns)}")
    return columns


def _told(number: int, step: Step, work: Any) -> Any:
    """What a piece of work gives; errors say in which step they were met."""
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return work()
    except DiscreetError as error:
        raise type(error)(f"step {number} ({step.method}): {error}") from error
