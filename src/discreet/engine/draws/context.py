"""The context of a release: what its draws depend on besides the secret key.

Draws that depended on the key alone would be the same in every release made with it: two releases of a table with different
levels of noise would be two equations for each original value. The key of a release's draws is therefore a keyed hash (BLAKE2b,
RFC 7693) of the plan, of the attributes and risks of the policy (steps read both), of the files that these name (a hierarchy, a
dictionary), of the table and of the number of the release. If any of these changes, all draws change.
"""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any

from discreet.engine.draws.draw import KEY_BYTES
from discreet.engine.draws.secret_bytes import SecretBytes
from discreet.engine.encoding.policy_paths import resolve_path
from discreet.errors import DiscreetError
from discreet.model.policy import Plan, Policy

_LONGEST_PATH = 4096


def derive_draw_key(secret: bytes, policy: Policy, plan: Plan, fingerprint: bytes) -> bytes:
    """The key of all draws of one release."""
    content = json.dumps(_release_content(policy, plan), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    hasher = hashlib.blake2b(fingerprint, digest_size=KEY_BYTES, key=secret, person=b"discreet release")
    hasher.update(content.encode("utf-8", "surrogatepass"))
    return SecretBytes(hasher.digest())


def plan_digest(plan: Plan) -> str:
    """A short digest of the content of a plan, for people to compare."""
    content = json.dumps(_plan_content(plan), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _release_content(policy: Policy, plan: Plan) -> dict[str, Any]:
    attributes = {}
    for name, attribute in policy.attributes.items():
        content = attribute.model_dump(mode="json", exclude_defaults=True, exclude={"reason"})
        hierarchy = content.get("hierarchy")
        if isinstance(hierarchy, dict) and hierarchy.get("file"):
            # not the path, because the same file has different paths from different folders
            content["hierarchy"] = hierarchy | {
                "file": _file_digest(policy, hierarchy["file"]) or PurePath(hierarchy["file"]).name
            }
        attributes[name] = content
    parts = {"plan": _plan_content(plan), "attributes": _normalize(attributes), "risk": _normalize(policy.risk)}
    return {name: _replace_file_names(policy, part) for name, part in parts.items()}


def _replace_file_names(policy: Policy, value: Any) -> Any:
    """The parameters with each text that names a file replaced by the file's name and a hash of its content.

    Parameters of plug-ins may name files too, so this applies to every text with a suffix or a folder that is an existing file,
    and to every text of a parameter whose name ends with "file".
    """
    if isinstance(value, dict):
        return {
            key: (_file_digest(policy, inner) or inner)
            if isinstance(inner, str) and key.endswith("file")
            else _replace_file_names(policy, inner)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_replace_file_names(policy, inner) for inner in value]
    if not isinstance(value, str) or not 0 < len(value) < _LONGEST_PATH:
        return value
    has_form_of_path = PurePath(value).suffix or len(PurePath(value).parts) > 1
    return (_file_digest(policy, value) or value) if has_form_of_path else value


def _file_digest(policy: Policy, name: str) -> str | None:
    """The name of a file with a hash of its content; None if the policy may not read it or it does not exist."""
    try:
        path = resolve_path(policy, name)
        state = path.stat()
        return f"{path.name} {_hash_file(path, state.st_mtime_ns, state.st_size)}" if stat.S_ISREG(state.st_mode) else None
    except (DiscreetError, OSError, ValueError, RuntimeError):
        return None


@lru_cache(maxsize=256)
def _hash_file(path: Path, modified: int, size: int) -> str:  # noqa: ARG001 - a modified file is hashed again
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=32)).hexdigest()


def _plan_content(plan: Plan) -> dict[str, Any]:
    steps = [
        [number, step.method, None if step.columns is None else list(step.columns), _normalize(step.parameters)]
        for number, step in enumerate(plan.steps, 1)
        if step.enabled
    ]
    content = {"steps": steps, "order": plan.order, "identifiers": plan.identifiers, "release": plan.release}
    return content | ({"holdout": plan.holdout} if plan.holdout else {})


def _normalize(value: Any) -> Any:
    """A canonical form for values that may be written in several ways: 2 and 2.0, lists and tuples."""
    if isinstance(value, Mapping):
        return {str(key): _normalize(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_normalize(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
