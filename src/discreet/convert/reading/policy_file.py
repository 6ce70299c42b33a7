"""Loading a policy from a path, a mapping or a Policy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.errors import PolicyError
from discreet.model.display import describe_type
from discreet.model.policy import Policy, parse_policy


def load_policy(policy: Policy | Mapping[str, Any] | str | Path | None) -> Policy:
    """Load a policy from a path or a mapping; a Policy is returned as it is, and None gives an empty policy."""
    if policy is None:
        return Policy()
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, Mapping):
        return Policy.from_dict(dict(policy), origin="the policy")
    if not isinstance(policy, str | Path):
        raise PolicyError(f"a policy is a path, a dict or a discreet.Policy; got {describe_type(policy)}")
    path = Path(policy)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise PolicyError(f"{path}: the policy is not UTF-8 text") from None
    except OSError as error:
        raise PolicyError(f"{path}: the policy cannot be read: {error.strerror}") from None
    return parse_policy(text, origin=str(path), folder=str(path.parent))
