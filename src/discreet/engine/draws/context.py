"""The context of a release: what its draws depend on besides the secret key.

Draws that depend on the key alone are the same in every release made with it: two releases of one table with noise of different
levels would then be two equations for each original value. So the key of a release's draws is a keyed hash (BLAKE2b, RFC 7693)
of the plan, of what the policy says of the attributes and risks (steps read both), of the table and of the release's number.
Whatever of these changes, all draws change.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from discreet.engine.draws.draw import KEY_BYTES
from discreet.model.policy import Plan, Policy


def draw_key(secret: bytes, policy: Policy, plan: Plan, fingerprint: bytes) -> bytes:
    """The key of all draws of one release."""
    content = json.dumps(_content(policy, plan), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    made = hashlib.blake2b(fingerprint, digest_size=KEY_BYTES, key=secret, person=b"discreet release")
    made.update(content.encode("utf-8", "surrogatepass"))
    return made.digest()


def plan_digest(plan: Plan) -> str:
    """A short name for the content of a plan, for people to compare."""
    content = json.dumps(_plan(plan), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _content(policy: Policy, plan: Plan) -> dict[str, Any]:
    attributes = {}
    for name, attribute in policy.attributes.items():
        said = attribute.model_dump(mode="json", exclude_defaults=True, exclude={"reason"})
        if isinstance(said.get("hierarchy"), dict) and said["hierarchy"].get("file"):
            # the same file has another path from another folder
            said["hierarchy"]["file"] = PurePath(said["hierarchy"]["file"]).name
        attributes[name] = said
    return {"plan": _plan(plan), "attributes": _plain(attributes), "risk": _plain(policy.risk)}


def _plan(plan: Plan) -> dict[str, Any]:
    steps = [
        [number, step.method, None if step.columns is None else list(step.columns), _plain(step.parameters)]
        for number, step in enumerate(plan.steps, 1)
        if step.enabled
    ]
    return {"steps": steps, "order": plan.order, "identifiers": plan.identifiers, "release": plan.release}


def _plain(value: Any) -> Any:
    """One form for what a policy file and a Python program may write in several: 2 and 2.0, lists and tuples."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
