"""The Masked Microdata Generator on another engine: the same plan, step by step, by the engine that holds the table."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet import registry
from discreet.engine.draws.context import derive_draw_key
from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.draws.secret import secret_of_plan
from discreet.engine.runtime.progress import report_progress
from discreet.errors import DataError, DiscreetError, PolicyError, nearest
from discreet.masking.generate import conflict_warnings
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


@dataclass(frozen=True)
class _EngineStep:
    """An enabled step: its number in the plan, its method with parameters, and the function that runs it on the engine."""

    number: int
    step: Step
    method: MaskingMethod
    function: Callable[..., Any]


def generate_on_engine(data: Any, plan: Plan, secret: bytes | None = None) -> Release:
    """Run a plan on the engine of the table; the release equals that of the local engine for the same records."""
    if plan.holdout:
        raise DataError("plan.holdout does not run on Spark; read the table on the local engine for it")
    steps = _load_steps(data, plan)
    table, log, counts = data.initial, [], data.changes()
    release_secret = secret_of_plan(plan) if secret is None else secret
    key = derive_draw_key(release_secret, data.policy, plan, table.fingerprint(release_secret))
    for run in steps:
        report_progress(f"step {run.number}, {run.step.method}", run.number - 1, len(plan.steps))
        started = time.perf_counter()
        with _errors_name_step(run.number, run.step):
            columns = _check_columns(table, run.step, run.method)
            masked = run.function(run.method, table, columns, KeyedDraw(key, run.number, run.step.method))
        notes = tuple(run.method.notes(table.shape, masked.table.shape, columns))
        table = counts.after(table, masked, run.number)
        seconds = time.perf_counter() - started
        log.append(StepLog(run.number, run.step.method, columns, 0, masked.removed, 0, seconds, notes))
    final, changed = counts.finish(table)
    entries = tuple(replace(entry, values_changed=changed[entry.step]) for entry in log)
    return DistributedRelease(data, final, plan, entries, tuple(conflict_warnings(plan, data.policy)), key)


def _load_steps(data: Any, plan: Plan) -> list[_EngineStep]:
    """All enabled steps with their functions, so that a step that does not run there is refused before anything is read."""
    resolved = [
        (number, *registry.resolve_step(step, data.policy, origin=f"{data.policy.origin}, step {number}"))
        for number, step in enumerate(plan.steps, 1)
        if step.enabled
    ]
    steps = []
    for number, step, method in resolved:
        with _errors_name_step(number, step):
            function = registry.load_engine_function("masking", method, data.engine)
        steps.append(_EngineStep(number, step, method, function))
    return steps


def _check_columns(table: Any, step: Step, method: MaskingMethod) -> tuple[str, ...]:
    columns = tuple(method.choose(table)) if step.columns is None else step.columns
    for name in columns:
        if name not in table.columns:
            raise PolicyError(f"there is no column '{name}' any more; {nearest(name, table.columns)}")
    return columns


@contextmanager
def _errors_name_step(number: int, step: Step) -> Iterator[None]:
    """Errors name the step in which they arose; numbers out of range become infinite or null without a warning."""
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            yield
    except DiscreetError as error:
        raise type(error)(f"step {number} ({step.method}): {error}") from error
