"""Steps of a plan as sentences: a statistician reads what is done, not the parameters of a program."""

import pytest

from discreet import registry
from discreet.masking.step_words import list_words
from discreet.model.policy import Step
from discreet.selection.step_sentences import as_sentence, format_step

BUILT_IN = sorted(
    name for name in registry.installed_names("masking") if registry.load("masking", name).__module__.startswith("discreet.")
)


def say(method, columns=None, **parameters):
    return format_step(Step(method=method, columns=columns, **parameters))


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (("remove_identifiers",), "remove the identifiers"),
        (("remove_identifiers", ("a", "b")), "remove a and b"),
        (("global_recoding", ("age",), {"level": 2}), "recode age to hierarchy level 2"),
        (("global_recoding", ("age", "job"), {"level": 1}), "recode age and job to hierarchy level 1"),
        (("global_recoding", ("dob",), {"unit": "month"}), "recode dob to the month"),
        (("global_recoding", ("age",), {"width": 10.0}), "recode age to intervals of width 10"),
        (("global_recoding", ("age",), {"breaks": [20, 40]}), "recode age to intervals with the bounds 20 and 40"),
        (("global_recoding", ("age",), {"breaks": list(range(9))}), "recode age to intervals with 9 bounds"),
        (
            ("global_recoding", ("job",), {"groups": {"x": ["secret"]}, "other": "rest"}),
            "recode values of job into 1 group, and all other values into one group",
        ),
        (
            ("generalization", ("age", "sex"), {"k": 5, "algorithm": "full_domain", "suppression_limit": 0.02, "loss": "ncp"}),
            ("generalize age and sex to one level for each column until at least 5 records share every combination of them, "
            "suppressing at most 2 % of the records"),
        ),
        (
            ("generalization", None, {"k": 5, "l": 3, "algorithm": "partition"}),
            ("generalize the keys by recursive cuts (Mondrian) until at least 5 records share every combination of them and "
            "every class has at least 3 distinct sensitive values"),
        ),
        (
            ("local_suppression", ("sex",), {"k": 3, "blanks": "category", "importance": {"sex": 2.0}}),
            ("suppress single values of sex until at least 3 records share every combination, a blank being a value, sparing "
            "some columns more than others"),
        ),
        (
            ("microaggregation", ("age",), {"size": 6, "how": "mdav", "scale": "range", "publish": "ranges"}),
            "group at least 6 similar records by age, and release the ranges or sets of values of each group",
        ),
        (
            ("microaggregation", ("age",), {"size": 3, "aggregate": "median", "strata": ["sex"]}),
            "group at least 3 similar records by age, within each combination of sex, and release the median of each group",
        ),
        (
            ("targeted_suppression", None, {"threshold": {"among": 20}, "passes": "until_safe", "protect": ["age"]}),
            ("suppress values of the attributes in high-risk records only, until each is hidden among at least 20 records, never "
            "of age"),
        ),
        (
            ("targeted_generalization", ("age",)),
            "generalize values of age in high-risk records only, until none has a risk (known_sets) above the policy's threshold",
        ),
        (
            ("top_bottom_coding", ("pay",), {"top_share": 0.01, "bottom": 100, "replace": "mean"}),
            "replace the largest 1 % and values at or below 100 of pay by their mean",
        ),
        (("sampling", None, {"fraction": 0.8, "strata": ["sex"]}),
         "release a random sample of 80 % of the records, within each combination of sex"),
        (("noise", ("pay",), {"level": 0.1}), "add random noise to pay with 0.1 times the standard deviation of the column"),
        (("rounding", ("pay",), {"base": 100}), "round pay to multiples of 100"),
        (("swapping", ("pay",), {"window": 8}),
         "swap values of pay between records whose ranks differ by at most 8 % of the values"),
        (("balanced_partition", ("age",), {"criterion": "records", "k": 4}),
         "split the records by age into groups of at least 4 records, and release the ranges of each group"),
    ],
)  # fmt: skip
def test_a_step_is_a_sentence_without_names_of_parameters(step, words):
    method, columns, parameters = (*step, None, {})[:3] if len(step) == 1 else (*step, {})[:3]
    assert say(method, columns, **parameters) == words


def test_every_built_in_method_has_a_sentence_with_and_without_parameters():
    for method in BUILT_IN:
        assert "describe_step" in vars(registry.load("masking", method)), method
        words = say(method, ("age",))
        assert words
        assert words[0].islower()
        assert "_" not in words.replace("known_sets", "")
        assert "None" not in words


def test_a_method_of_a_plug_in_is_named_with_its_parameters():
    assert say("rare_method", ("dob",), days=14) == "rare method of dob, with days 14"
    assert say("own_method", api_key="x", share=0.5, exact=True) == "own method, with share 0.5 and exact yes"


@pytest.mark.parametrize("method", BUILT_IN)
def test_a_draft_with_a_parameter_of_the_wrong_type_still_has_a_name(method):
    names = "fraction level share breaks groups weights top_share threshold suppression_limit strata given factor protect l t h"
    assert say(method, ("age",), **dict.fromkeys(names.split(), "(withheld)"))


def test_lists_and_sentences_are_written_as_people_write_them():
    assert list_words([f"c{number}" for number in range(20)]).endswith("c11 and 8 more")
    assert as_sentence("remove a") == "Remove a."


def test_a_plug_in_words_its_own_steps_as_built_in_methods_do():
    assert say("date_shift", days=7) == "move each date of the keys that are dates by at most 7 days, at random"
