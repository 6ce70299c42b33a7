"""Which readings of knowledge targeted methods follow: the paper's products, in the worst of all scenarios."""

from __future__ import annotations

from discreet.errors import DataError
from discreet.model.attribute import Attribute
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy


def refuses_targeting(policy: Policy) -> str:
    """Why records cannot be targeted under a policy; empty where they can."""
    if policy.risk.get("known_sets", {}).get("knowledge", "products") != "products":
        return "knowledge: independent, whose likelihoods do not fall as sets grow"
    return "known_together, whose sets have several attributes at a time" if policy.known_together else ""


def check_reading(method: str, data: Microdata) -> None:
    """Raise DataError where the policy reads knowledge in a way that a targeted method does not follow."""
    if reason := refuses_targeting(data.policy):
        raise DataError(
            f"{method} lowers the risk of the paper's products attribute by attribute, but the policy has {reason}; mask with "
            "local_suppression, generalization or microaggregation, and assess the result"
        )


def attribute_in_worst_scenario(data: Microdata, name: str) -> Attribute:
    """An attribute with the largest probability that it has in any scenario."""
    return data.policy.at_largest_known().attributes.get(name, data.attribute(name))


def in_worst_scenario(data: Microdata) -> Microdata:
    """The table with the largest probability of every attribute in any scenario: a record safe there is safe in each of them."""
    return data.with_policy(data.policy.at_largest_known()) if data.policy.scenarios else data
