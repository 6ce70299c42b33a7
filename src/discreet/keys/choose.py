"""The key of a release: the one that its plan names, or a new one that is stored in the key ring."""

from __future__ import annotations

from dataclasses import dataclass, field

from discreet.engine.draws.context import plan_digest
from discreet.engine.draws.draw import derive_seed_key
from discreet.engine.draws.secret import new_secret, secret_of_plan
from discreet.errors import PolicyError
from discreet.keys.ring import KeyRing
from discreet.model.policy import Plan

UNSAFE_SEED = (
    "plan.seed is a number, which is unsafe: anybody can try seeds until one reverses the row order and all random steps; "
    "for a release, remove the seed from the plan, so that a secret key is generated"
)

SEED_GAP = (
    "the plan's seed is a number: anybody can try seeds until one reverses the row order and all random steps, which no "
    "measure takes into account; remove the seed from the plan and mask again"
)


@dataclass(frozen=True)
class ChosenKey:
    """The secret of a release, the plan with the id of its key, and warnings for the owner."""

    secret: bytes = field(repr=False)
    plan: Plan
    warnings: tuple[str, ...] = ()


def choose_key(plan: Plan, source: str = "", ring: KeyRing | None = None) -> ChosenKey:
    """The key of a plan's seed or key id, or a new one; a warning says so if the ring cannot store it."""
    if plan.seed is not None:
        return ChosenKey(derive_seed_key(plan.seed), plan, (UNSAFE_SEED,))
    try:
        key_ring = KeyRing() if ring is None else ring
    except RuntimeError as error:  # there is no home folder
        return _unstored_key(plan, str(error))
    if plan.key is not None:
        return ChosenKey(key_ring.get(plan.key).secret, plan)
    secret = new_secret()
    try:
        stored = key_ring.add(secret, source=source, plan=plan_digest(plan))
    except OSError as error:
        return _unstored_key(plan, f"{key_ring.folder}: {error.strerror or error}", secret)
    return ChosenKey(secret, plan.model_copy(update={"key": stored.id}))


def secret_of(plan: Plan) -> bytes:
    """The secret of a plan's key or seed; without either, a new one that is not stored."""
    return KeyRing().get(plan.key).secret if plan.key is not None else secret_of_plan(plan)


def with_key(plan: Plan, key: str | None) -> Plan:
    """The plan with a key of the ring; raises PolicyError if the plan has a seed or another key."""
    if key is None:
        return plan
    if plan.seed is not None:
        raise PolicyError(f"the key '{key}' was requested, but the plan has a seed; remove one of them")
    if plan.key is not None and plan.key != key:
        raise PolicyError(f"the key '{key}' was requested, but the plan names the key '{plan.key}'; remove one of them")
    return plan.model_copy(update={"key": key})


def _unstored_key(plan: Plan, reason: str, secret: bytes | None = None) -> ChosenKey:
    warning = (
        f"the key of this release could not be stored ({reason}), so the release cannot be repeated "
        "and its rows cannot be linked to the originals later; set DISCREET_HOME to a writable folder, or write the link table"
    )
    return ChosenKey(secret or new_secret(), plan, (warning,))
