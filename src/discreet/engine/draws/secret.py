"""The secret that a plan's draws begin with, where no key ring is asked."""

from __future__ import annotations

import secrets

from discreet.engine.draws.draw import KEY_BYTES, key_of_seed
from discreet.engine.draws.secret_bytes import SecretBytes
from discreet.errors import PolicyError
from discreet.model.policy import Plan


def new_secret() -> bytes:
    """256 bits from the system's generator."""
    return SecretBytes(secrets.token_bytes(KEY_BYTES))


def plan_secret(plan: Plan) -> bytes:
    """The secret of a numeric seed, or a new one that nobody keeps."""
    if plan.key is not None:
        raise PolicyError(f"the plan names the key {plan.key}, which is in a key ring; run it by discreet.mask")
    return new_secret() if plan.seed is None else key_of_seed(plan.seed)
