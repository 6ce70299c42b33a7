"""A step of a plan as a sentence for a statistician: the method in words, its columns, and the parameters that matter.

The exact parameters are in the policy file. A step names only what differs from its method's defaults and from the policy's
``risk`` section, so that a parameter that is absent is not mentioned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from discreet.model.display import SECRET_NAME, format_number
from discreet.model.policy import Step

Parameters = Mapping[str, Any]
_MOST_NAMES, _MOST_BOUNDS = 12, 6
_KEYS, _ALL = "the keys", "the columns that the method chooses"
_WHERE_NONE_NAMED = {
    "remove_identifiers": "the identifiers", "pseudonymization": "the identifiers", "generalization": _KEYS,
    "local_suppression": _KEYS, "microaggregation": _KEYS, "balanced_partition": _KEYS, "targeted_suppression": "the attributes",
    "targeted_generalization": "the attributes", "min_risk_disclosure": "the attributes",
}  # fmt: skip


def format_step(step: Step) -> str:
    """What a step does, as a sentence without its first capital and its full stop.

    >>> format_step(Step(method="microaggregation", columns=("age", "income"), size=5, publish="ranges"))
    'group at least 5 similar records by age and income, and release the ranges or sets of values of each group'
    >>> format_step(Step(method="local_suppression", columns=("sex",), k=3))
    'suppress single values of sex until at least 3 records agree with every record, where a blank agrees with any value'
    """
    columns = list_words(step.columns) if step.columns else _WHERE_NONE_NAMED.get(step.method, _ALL)
    if (describe := _SENTENCES.get(step.method)) is not None:
        try:
            return describe(columns, step.parameters, step.columns or ())
        except (TypeError, ValueError, KeyError):  # a draft with a parameter of the wrong type, which is refused where it runs
            pass
    shown = {name: value for name, value in step.parameters.items() if name != "reason" and not SECRET_NAME.search(name)}
    said = [f"{name.replace('_', ' ')} {_say(value)}" for name, value in shown.items()]
    of = f" of {columns}" if step.columns else ""
    return f"{step.method.replace('_', ' ')}{of}" + (f", with {list_words(said)}" if said else "")


def as_sentence(text: str) -> str:
    """A text with a capital and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


def list_words(words: Sequence[str]) -> str:
    """Words as in a sentence; of many the first, and how many more.

    >>> list_words(["a"]), list_words(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    more = len(words) - _MOST_NAMES
    shown = [*words[:_MOST_NAMES], f"{more:,} more"] if more > 1 else list(words)
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]])) if shown else ""


def _say(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return format_number(value)
    if isinstance(value, Mapping):
        return list_words([f"{name} {_say(inner)}" for name, inner in value.items()])
    return list_words([_say(one) for one in value]) if isinstance(value, list | tuple) else str(value)


def _required(value: Any, otherwise: str = "the required number of") -> str:
    return otherwise if value is None else _say(value)


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


def _within(parameters: Parameters) -> str:
    return f", within each combination of {list_words(strata)}" if (strata := parameters.get("strata")) else ""


def _weighted(parameters: Parameters) -> str:
    """That columns count differently; the numbers are in the policy."""
    if parameters.get("importance"):
        return ", sparing some columns more than others"
    return ", weighing the columns differently" if parameters.get("weights") else ""


def _recode(columns: str, parameters: Parameters, names: Sequence[str]) -> str:
    if (level := parameters.get("level")) is not None:
        return f"recode {columns} to level {level} of {'its hierarchy' if len(names) == 1 else 'their hierarchies'}"
    if (unit := parameters.get("unit")) is not None:
        return f"recode {columns} to the {unit}"
    if (width := parameters.get("width")) is not None:
        return f"recode {columns} to intervals of width {_say(width)}"
    if breaks := parameters.get("breaks"):
        few = len(breaks) <= _MOST_BOUNDS
        return f"recode {columns} to intervals" + (f" with the bounds {_say(breaks)}" if few else f" with {len(breaks)} bounds")
    groups = parameters.get("groups") or ()
    into = f" into {len(groups)} group{'' if len(groups) == 1 else 's'}" if groups else ""
    others = ", and all other values into one group" if parameters.get("other") is not None else ""
    return f"recode values of {columns}{into}{others}"


def _generalize(columns: str, parameters: Parameters, _: Sequence[str]) -> str:
    wanted = []
    if (k := parameters.get("k")) is not None:
        wanted.append(f"at least {k} records share every combination of them")
    if (least := parameters.get("l")) is not None:
        wanted.append(f"every class has at least {_say(least)} {parameters.get('diversity', 'distinct')} sensitive values")
    if (distance := parameters.get("t")) is not None:
        wanted.append(f"no class is farther than {_say(distance)} from the table in a sensitive attribute")
    how = "by recursive cuts (Mondrian)" if parameters.get("algorithm") == "partition" else "to one level for each column"
    suppressed = parameters.get("suppression_limit")
    rest = f", suppressing at most {_percent(suppressed)} of the records" if suppressed else ""
    until = f" until {list_words(wanted)}" if wanted else " until every class is large enough by the policy"
    return f"generalize {columns} {how}{until}{rest}"


def _suppress(columns: str, parameters: Parameters, _: Sequence[str]) -> str:
    k, threshold = parameters.get("k"), parameters.get("threshold")
    records = f"at least {k} records" if k is not None else "as many records as the policy requires"
    meaning = {
        "category": f"{records} share every combination, a blank being a value",
        "discount": f"{records} agree with every record in equal values",
    }.get(str(parameters.get("blanks", "match")), f"{records} agree with every record, where a blank agrees with any value")
    risk = f", so that no risk is above {_say(threshold)}" if threshold is not None else ""
    small = f" in each set of up to {size} of them" if (size := parameters.get("dimension")) is not None else ""
    return f"suppress single values of {columns} until {meaning}{small}{risk}{_within(parameters)}{_weighted(parameters)}"


def _aggregate(columns: str, parameters: Parameters, _: Sequence[str]) -> str:
    size, how = parameters.get("size"), parameters.get("aggregate")
    released = "the ranges or sets of values of each group" if parameters.get("publish") == "ranges" else None
    released = (
        released or f"the {how} of each group" if how else released or "the mean, median or most frequent value of each group"
    )
    similar = f"group at least {_required(size)} similar records by {columns}{_within(parameters)}"
    return f"{similar}, and release {released}{_weighted(parameters)}"


def _partition(columns: str, parameters: Parameters, _: Sequence[str]) -> str:
    criterion, k = parameters.get("criterion", "balance"), parameters.get("k")
    if criterion == "balance":
        ends = [f"g-balance of at least {_say(g)}" for g in (parameters.get("g"),) if g is not None]
        ends += [f"h-affiliation of at most {_say(h)}" for h in (parameters.get("h"),) if h is not None]
        into = f"groups with {list_words(ends)}" if ends else "groups that are balanced as the policy requires"
    else:
        into = f"groups of at least {_required(k)} {criterion}"
    what = "means" if parameters.get("publish") == "means" else "ranges"
    return f"split the records by {columns} into {into}, and release the {what} of each group{_weighted(parameters)}"


def _target(verb: str) -> Callable[[str, Parameters, Sequence[str]], str]:
    def describe(columns: str, parameters: Parameters, _: Sequence[str]) -> str:
        threshold, measure = parameters.get("threshold"), parameters.get("risk", "known_sets")
        if isinstance(threshold, Mapping):
            until = f"each is hidden among at least {_say(threshold['among'])} records"
        else:
            limit = "the policy's threshold" if threshold is None else _say(threshold)
            until = f"none has a risk ({measure}) above {limit}"
        once = ", in one pass" if parameters.get("passes") == 1 else ""
        spared = f", never of {list_words(protect)}" if (protect := parameters.get("protect")) else ""
        return f"{verb} values of {columns} in high-risk records only, until {until}{once}{spared}"

    return describe


def _code_ends(columns: str, parameters: Parameters, _: Sequence[str]) -> str:
    ends = []
    for end, beyond, extreme in (("top", "at or above", "largest"), ("bottom", "at or below", "smallest")):
        if (limit := parameters.get(end)) is not None:
            ends.append(f"values {beyond} {_say(limit)}")
        elif (share := parameters.get(f"{end}_share")) is not None:
            ends.append(f"the {extreme} {_percent(share)}")
        elif (count := parameters.get(f"{end}_count")) is not None:
            ends.append(f"the {extreme} {count:,} values")
    by = {"mean": "their mean", "median": "their median", "label": "a label"}.get(str(parameters.get("replace")), "the limit")
    return f"replace {list_words(ends) or 'the extreme values'} of {columns} by {by}"


def _swap(columns: str, parameters: Parameters, _: Sequence[str]) -> str:
    how = parameters.get("how", "rank")
    if how == "targeted":
        return f"swap values of {columns} of records in classes of fewer than {parameters.get('smaller_than', 3)}"
    if how == "random":
        share = f"{_percent(parameters['share'])} of the " if "share" in parameters else ""
        return f"swap values of {columns} between random pairs of {share}records{_within(parameters)}"
    window = parameters.get("window", 5)
    return f"swap values of {columns} between records whose ranks differ by at most {_say(window)} % of the values"


def _add_noise(columns: str, parameters: Parameters, _: Sequence[str]) -> str:
    how, level = parameters.get("how", "additive"), parameters.get("level", 0)
    if how == "multiplicative":
        return f"multiply {columns} by random noise with a standard deviation of {_percent(level)} of the value"
    kind = "" if how == "additive" else f"{how} "
    return f"add {kind}random noise to {columns} with {_say(level)} times the standard deviation of the column"


def _randomise(columns: str, parameters: Parameters, _: Sequence[str]) -> str:
    if parameters.get("matrix"):
        how = "by the transition probabilities of the policy"
    else:
        how = f"keeping each with a probability of {_say(parameters.get('retention', 0.8))}"
    invariant = ", preserving their expected frequencies" if parameters.get("invariant") else ""
    return f"change categories of {columns} at random (PRAM), {how}{invariant}{_within(parameters)}"


def _disclose(columns: str, parameters: Parameters, _: Sequence[str]) -> str:
    per = {"table": "of the whole table", "attribute": "of each attribute"}.get(str(parameters.get("per")), "of each record")
    k = _required(parameters.get("k"))
    return f"disclose only {k} entries {per} in {columns}, those with the least risk, and suppress the others"


def _shuffle(columns: str, parameters: Parameters, _: Sequence[str]) -> str:
    given = list_words(parameters["given"]) if parameters.get("given") else _KEYS
    return f"shuffle the values of {columns} between records, preserving how their ranks relate to {given}"


def _sample(columns: str, parameters: Parameters, _: Sequence[str]) -> str:  # noqa: ARG001 - it releases whole records
    return f"release a random sample of {_percent(parameters.get('fraction', 1))} of the records{_within(parameters)}"


def _simulate(columns: str, parameters: Parameters, _: Sequence[str]) -> str:  # noqa: ARG001 - it makes whole records
    share = parameters.get("factor", 0)
    how = "by perturbing records" if parameters.get("how") == "bootstrap" else "from a Gaussian copula"
    if share == 1:
        return f"replace all records by synthetic ones, drawn {how}"
    return f"add synthetic records, drawn {how}, until they are {_percent(share)} of the release"


def _round(columns: str, parameters: Parameters, _: Sequence[str]) -> str:
    hows = {"random": " at random without bias", "controlled": ", preserving sums (controlled rounding)"}
    base, how = _required(parameters.get("base"), "the base"), hows.get(str(parameters.get("how")), "")
    return f"round {columns} to multiples of {base}{how}"


_SENTENCES: Mapping[str, Callable[[str, Parameters, Sequence[str]], str]] = {
    "remove_identifiers": lambda columns, _, __: f"remove {columns}",
    "pseudonymization": lambda columns, _, __: f"replace {columns} by pseudonyms, which need a key",
    "global_recoding": _recode, "generalization": _generalize, "local_suppression": _suppress, "microaggregation": _aggregate,
    "balanced_partition": _partition, "targeted_suppression": _target("suppress"),
    "targeted_generalization": _target("generalize"), "min_risk_disclosure": _disclose, "noise": _add_noise, "pram": _randomise,
    "rounding": _round, "sampling": _sample, "shuffling": _shuffle, "simulation": _simulate, "swapping": _swap,
    "top_bottom_coding": _code_ends,
}  # fmt: skip
"""What each built-in method does; a step of another method is named with its parameters."""
