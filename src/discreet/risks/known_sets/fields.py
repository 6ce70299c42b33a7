"""The fields of known_sets: what each is, and whether less or more of it is better."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from discreet.model.contracts import Direction

BETTER: Mapping[str, Direction] = {
    "sets": "low", "undecided": "low", "high_risk": "low", "high_risk_share": "low", "mean": "low", "max": "low",
    "effective_k_min": "high", "effective_k_median": "high", "below_5": "low",
    "high_risk_low": "low", "high_risk_high": "low", "mean_best": "low", "mean_worst": "low", "effective_k_low": "high",
    "mean_low": "low", "mean_high": "low", "all_sets_low": "low", "all_sets_high": "low",
    "reidentification": "low", "reidentification_max": "low",
}  # fmt: skip
OCCASIONAL: Collection[str] = (
    "high_risk_low", "high_risk_high", "mean_best", "mean_worst", "effective_k_low",
    "mean_low", "mean_high", "all_sets_low", "all_sets_high", "reidentification", "reidentification_max",
    "worst_scenario", "high_risk_by_scenario", "mean_by_scenario", "max_by_scenario", "effective_k_min_by_scenario",
)  # fmt: skip
LIMIT_SENTENCES: Mapping[str, str] = {
    "effective_k_min": "whatever is known, nobody is easier to find than one in {number}",
    "high_risk": "there are at most {number} records at high risk, whatever is known",
    "high_risk_share": "at most {percent} % of the records are at high risk, whatever is known",
}
MEANING: Mapping[str, str] = {
    "sets": "known sets with a probability above epsilon, the empty set included (independent: and every part of such a set)",
    "undecided": "records whose interval holds the threshold: high-risk or not is not certain over all sets",
    "high_risk": "records whose risk is greater than the threshold, or whose effective class size is below among",
    "high_risk_share": "their share of all records",
    "mean": "average risk of a record",
    "max": "largest risk of a record",
    "effective_k_min": "smallest effective class size: among how many records the worst one is hidden, whatever is known",
    "effective_k_median": "median effective class size of the records with something to learn",
    "below_5": "records with an effective class size below 5",
    "widest": "largest width of an interval, as a share of its lower end",
    "high_risk_low": "high-risk records in the best case of the policy's ranges; only where it has ranges",
    "high_risk_high": "high-risk records in the worst case of the policy's ranges",
    "mean_best": "average risk in the best case of the policy's ranges",
    "mean_worst": "average risk in the worst case of the policy's ranges",
    "effective_k_low": "smallest effective class size for any guess within the policy's ranges (certified)",
    "mean_low": "lower end of the statistical interval of the mean (population)",
    "mean_high": "upper end of the statistical interval of the mean (population)",
    "all_sets_low": "least mean over all known sets, at the estimated class sizes (population)",
    "all_sets_high": "largest mean over all known sets, at the estimated class sizes (population)",
    "reidentification": "expected share of records that an intruder identifies (knowledge: independent)",
    "reidentification_max": "largest probability of being identified (knowledge: independent)",
    "worst_scenario": "the scenario with the most high-risk records, then the largest mean; only where the policy has scenarios",
    "high_risk_by_scenario": "high-risk records in each scenario; 'attributes' is the attribute table without a scenario",
    "mean_by_scenario": "average risk in each scenario",
    "max_by_scenario": "largest risk in each scenario",
    "effective_k_min_by_scenario": "smallest effective class size in each scenario",
    "quantiles": "risk that this share of the records does not exceed",
    "histogram": "records with a risk of at least this power of ten, and below the next",
}
RECORD_MEANING: Mapping[str, str] = {
    "risk": "likelihood times consequence, summed over the known sets above epsilon",
    "lower": "least risk over all known sets",
    "upper": "largest risk over all known sets",
    "effective_k": "effective class size of the record",
    "effective_k_lower": "least effective class size over all known sets",
    "effective_k_upper": "largest effective class size over all known sets",
    "top_set": "known set that contributes most to the risk",
    "top_share": "contribution of that set",
    "likelihood": "likelihood of re-identification, summed over the known sets",
    "consequence": "consequence of disclosure",
    "risk_best": "risk in the best case of the policy's ranges",
    "risk_worst": "risk in the worst case of the policy's ranges",
    "effective_k_low": "least effective class size for any guess within the ranges (certified)",
    "effective_k_high": "largest effective class size for any guess within the ranges (certified)",
    "reidentification": "probability that an intruder identifies the record, over what may be known (knowledge: independent)",
    "reidentification_lower": "least probability over all known sets",
    "reidentification_upper": "largest probability over all known sets",
    "scenario_risk": "largest risk of the record in any scenario",
    "scenario": "the scenario with that risk",
    "risk_low": "the risk at the lower end of the class sizes' interval (population)",
    "risk_high": "the risk at the upper end of the class sizes' interval (population)",
}
