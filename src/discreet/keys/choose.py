"""Which key a release is made with: the one that its plan names, or a new one that the ring keeps."""

from __future__ import annotations

from dataclasses import dataclass, field

from discreet.engine.draws.context import plan_digest
from discreet.engine.draws.draw import key_of_seed
from discreet.engine.draws.secret import new_secret, plan_secret
from discreet.errors import PolicyError
from discreet.keys.ring import KeyRing
from discreet.model.policy import Plan

UNSAFE_SEED = (
    "plan.seed is a number, which is unsafe: anybody can try seeds until one undoes the order of the rows and all random steps; "
    "for a release take the seed out of the plan, and a secret key is drawn"
)

SEED_GAP = (
    "the plan's seed is a number: anybody can try seeds until one undoes the order of the rows and all random steps, which no "
    "measure counts; take the seed out of the plan and mask again"
)


@dataclass(frozen=True)
class ChosenKey:
    """The secret of a release, the plan with the id of its key, and what its owner should know."""

    secret: bytes = field(repr=False)
    plan: Plan
    warnings: tuple[str, ...] = ()


def choose_key(plan: Plan, source: str = "", ring: KeyRing | None = None) -> ChosenKey:
    """The key of a plan's seed or id, or a new one; where the ring cannot keep it, a warning says that it is gone afterwards."""
    if plan.seed is not None:
        return ChosenKey(key_of_seed(plan.seed), plan, (UNSAFE_SEED,))
    try:
        place = KeyRing() if ring is None else ring
    except RuntimeError as error:  # nobody's home
        return _unkept(plan, str(error))
    if plan.key is not None:
        return ChosenKey(place.get(plan.key).secret, plan)
    secret = new_secret()
    try:
        made = place.add(secret, source=source, plan=plan_digest(plan))
    except OSError as error:
        return _unkept(plan, f"{place.folder}: {error.strerror or error}", secret)
    return ChosenKey(secret, plan.model_copy(update={"key": made.id}))


def secret_of(plan: Plan) -> bytes:
    """The secret of a plan's key or seed; without either a new one that nobody keeps."""
    return KeyRing().get(plan.key).secret if plan.key is not None else plan_secret(plan)


def with_key(plan: Plan, key: str | None) -> Plan:
    """The plan run with a key of the ring; one that has another source of randomness already is refused."""
    if key is None:
        return plan
    if plan.seed is not None:
        raise PolicyError(f"the key '{key}' was asked for, but the plan has the seed {plan.seed}; take one of them away")
    if plan.key is not None and plan.key != key:
        raise PolicyError(f"the key '{key}' was asked for, but the plan names the key '{plan.key}'; take one of them away")
    return plan.model_copy(update={"key": key})


def _unkept(plan: Plan, why: str, secret: bytes | None = None) -> ChosenKey:
    sentence = (
        f"the key of this release could not be kept ({why}), so the release cannot be repeated, nor its rows laid beside "
        "their originals later; set DISCREET_HOME to a folder that can be written, or write the link"
    )
    return ChosenKey(secret or new_secret(), plan, (sentence,))
