"""A step of a plan as a sentence for a statistician. Each method describes its own; exact parameters are in the policy file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet import registry
from discreet.errors import DiscreetError
from discreet.masking.step_words import list_words, say_value
from discreet.model.display import SECRET_NAME
from discreet.model.policy import Step

if TYPE_CHECKING:
    from discreet.model.contracts import MaskingMethod


def format_step(step: Step) -> str:
    """What a step does, as a sentence without its first capital and its full stop.

    >>> format_step(Step(method="microaggregation", columns=("age", "income"), size=5, publish="ranges"))
    'group at least 5 similar records by age and income, and release the ranges or sets of values of each group'
    >>> format_step(Step(method="local_suppression", columns=("sex",), k=3))
    'suppress single values of sex until at least 3 records agree with every record, where a blank agrees with any value'
    """
    try:
        method: type[MaskingMethod] = registry.load("masking", step.method)
        columns = list_words(step.columns) if step.columns else method.default_columns
        if (sentence := method.describe_step(columns, step.parameters)) is not None:
            return sentence
    except (DiscreetError, TypeError, ValueError, KeyError):
        pass  # a draft with an unknown method or a parameter of the wrong type, which is refused where it runs
    shown = {name: value for name, value in step.parameters.items() if name != "reason" and not SECRET_NAME.search(name)}
    parameters = [f"{name.replace('_', ' ')} {say_value(value)}" for name, value in shown.items()]
    of = f" of {list_words(step.columns)}" if step.columns else ""
    return f"{step.method.replace('_', ' ')}{of}" + (f", with {list_words(parameters)}" if parameters else "")


def as_sentence(text: str) -> str:
    """A text with a capital and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."
