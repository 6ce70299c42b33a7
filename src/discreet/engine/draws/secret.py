"""The secret behind the draws of a plan that does not use a key ring."""

from __future__ import annotations

import secrets

from discreet.engine.draws.draw import KEY_BYTES, derive_seed_key
from discreet.engine.draws.secret_bytes import SecretBytes
from discreet.errors import PolicyError
from discreet.model.policy import Plan


def new_secret() -> bytes:
    """256 bits from the random generator of the operating system."""
    return SecretBytes(secrets.token_bytes(KEY_BYTES))


def secret_of_plan(plan: Plan) -> bytes:
    """The secret of a numeric seed; default: a new one, which is not stored."""
    if plan.key is not None:
        raise PolicyError(f"the plan names the key {plan.key}, which is in a key ring; run the plan with discreet.mask")
    return new_secret() if plan.seed is None else derive_seed_key(plan.seed)
