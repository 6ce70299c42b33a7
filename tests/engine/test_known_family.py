"""The family of known sets and the terms of its sets against all subsets, one by one."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.engine.known_sets.family import family, fitting_epsilon
from discreet.engine.known_sets.terms import Pattern, terms
from discreet.errors import ParameterError

PROBABILITIES = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 0.9, 1.0]), max_size=5)
EPSILONS = st.sampled_from([0.0, 0.01, 0.02, 0.06, 0.1, 0.25, 0.5, 0.9])


def all_subsets(places):
    return itertools.chain.from_iterable(itertools.combinations(places, size) for size in range(len(places) + 1))


@given(PROBABILITIES, EPSILONS)
def test_the_family_has_the_empty_set_and_every_set_above_epsilon(probabilities, epsilon):
    tree = family(probabilities, epsilon, 100)
    kept = {
        some
        for some in all_subsets(range(len(probabilities)))
        if not some or math.prod(probabilities[at] for at in some) > epsilon
    }
    assert {tree.members(node) for node in range(len(tree))} == kept
    assert len(tree) == len(kept)


@given(PROBABILITIES, EPSILONS)
def test_the_tree_is_in_pre_order_and_knows_parents_depths_and_chances(probabilities, epsilon):
    tree = family(probabilities, epsilon, 100)
    names = [frozenset(one) for one in tree.sets]
    for node in range(len(tree)):
        below = [
            other
            for other in range(len(tree))
            if names[node] <= names[other] and tree.sets[other][: len(names[node])] == tree.sets[node]
        ]
        assert below == list(range(node, int(tree.end[node]))), "a subtree is a run of nodes"
        children = [other for other in below if len(names[other]) == len(names[node]) + 1]
        assert list(tree.children(node)) == children
        assert tree.has_children(node) == bool(children)
        assert tree.depth[node] == len(names[node])
        assert tree.chance[node] == pytest.approx(math.prod(probabilities[tree.order[at]] for at in names[node]))
        assert tree.reach[node] == max((tree.last[child] for child in children), default=tree.last[node])
        for child in children:
            assert tree.parent[child] == node
    assert tree.width == 1 + max((at for name in names for at in name), default=-1)
    by_rank = sorted(range(len(tree)), key=lambda node: tree.rank[node])
    assert [tree.members(node) for node in by_rank] == sorted(
        (tree.members(node) for node in by_rank), key=lambda one: (len(one), one)
    )


def test_as_many_sets_as_allowed_are_kept_and_one_more_is_refused_with_an_epsilon_that_fits():
    probabilities = [0.9, 0.8, 0.7, 0.6]
    number = len(family(probabilities, 0.1, 100))
    assert len(family(probabilities, 0.1, number)) == number
    with pytest.raises(ParameterError, match="more than") as caught:
        family(probabilities, 0.1, number - 1)
    fitting = float(str(caught.value).split("epsilon: ")[1].split()[0])
    assert len(family(probabilities, fitting, number - 1)) <= number - 1
    assert len(family(probabilities, fitting * 0.99, 100)) > number - 2, "hardly a smaller one would fit"


@given(
    st.lists(st.sampled_from([0.9, 0.8, 0.5, 0.3, 0.11]), max_size=5).map(lambda one: sorted(one, reverse=True)),
    st.integers(1, 40),
)
def test_the_epsilon_that_fits_is_the_probability_of_the_next_likeliest_set(falling, most):
    products = sorted((math.prod(some) for some in all_subsets(falling)), reverse=True)
    expected = products[most] * (1 + 1e-5) if most < len(products) else 0.0
    assert fitting_epsilon(falling, most) == pytest.approx(expected, rel=1e-9)


def test_attributes_that_may_be_known_are_named_by_falling_probability_and_others_are_not():
    assert family([0.2, 0.0, 0.9], 0.5, 100).known_names(["a", "b", "c"]) == ["c", "a"]


def test_attributes_that_everybody_knows_fit_under_no_epsilon_below_one():
    with pytest.raises(ParameterError, match="no epsilon below 1 fits"):
        family([1.0, 1.0, 1.0], 0.5, 4)


@given(PROBABILITIES, EPSILONS, st.data())
def test_the_terms_of_a_set_are_those_of_the_sets_that_have_its_count(probabilities, epsilon, data):
    """x is p (C - c_S) and y the same over S with every subset of what epsilon dropped below it; unknown attributes move both."""
    tree = family(probabilities, epsilon, 100)
    width = tree.width
    singles = list(range(width))
    unknown = frozenset(data.draw(st.sets(st.integers(0, max(width - 1, 0)), max_size=2)) if width else ())
    lost = frozenset(data.draw(st.sets(st.integers(0, max(width - 1, 0)), max_size=1)) if width else ()) - unknown
    built = terms(tree, singles, [Pattern(), Pattern(unknown, lost)])
    weights = np.array([1.0 + at for at in range(width)])
    total = weights.sum() + 10.0
    record = np.concatenate(([total], weights))
    place_of = {tree.sets[node]: node for node in range(len(tree))}

    def term(some, without):
        chance = math.prod(0.0 if at in without else float(tree.probabilities[at]) for at in some)
        return chance * (total - sum(weights[at] for at in some))

    for pattern, (blank, gone) in enumerate([(frozenset(), frozenset()), (unknown, lost)]):
        kept, whole = np.zeros(len(tree)), np.zeros(len(tree))
        for some, node in place_of.items():
            if gone & set(some):
                continue
            home = place_of[tuple(at for at in some if at not in blank)]
            kept[home] += term(some, ())
            dropped = range(int(tree.reach[node]) + 1, width)
            whole[home] += sum(term((*some, *more), gone) for more in all_subsets(dropped))
        assert built.kept[:, pattern] @ record == pytest.approx(kept, abs=1e-9)
        assert built.whole[:, pattern] @ record == pytest.approx(whole, abs=1e-9)
        for node in range(len(tree)):
            run = slice(node, int(tree.end[node]))
            assert built.kept_below[node, pattern] @ record == pytest.approx(kept[run].sum(), abs=1e-9)
            assert built.whole_below[node, pattern] @ record == pytest.approx(whole[run].sum(), abs=1e-9)
    assert built.member.tolist() == [[at in tree.sets[node] for at in singles] for node in range(len(tree))]


@given(
    PROBABILITIES.filter(len), EPSILONS, st.sampled_from(["products", "independent"]), st.booleans(), st.sets(st.integers(0, 4))
)
@example([0.2, 0.3, 0.2], 0.1, "independent", True, {1})  # the unit is dropped below a set
def test_all_sets_that_find_a_record_have_the_probability_of_its_units(probabilities, epsilon, knowledge, together, lost):
    """Both factors of each unit; of a unit with an attribute that the record is not found by, that nothing of it is known."""
    units = [[0, len(probabilities) - 1]] if together and len(probabilities) > 1 else []
    tree = family(probabilities, epsilon, 100, knowledge=knowledge, together=units)
    lost = frozenset(place for place in lost if place < tree.width)
    expected = 1.0
    for unit in set(tree.unit[: tree.width].tolist()):
        places = np.flatnonzero(tree.unit == unit).tolist()
        known, unknown = tree.probabilities[places[0]], tree.unknown[places[0]]
        expected *= unknown if lost & set(places) else known + unknown
    assert terms(tree, [], [Pattern(lost=lost)]).whole_below[0, 0, 0] == pytest.approx(expected)


@given(
    PROBABILITIES,
    EPSILONS,
    st.sampled_from(["products", "independent"]),
    st.sampled_from([[], [[1, 0]], [[0, 2]], [[0, 3], [2, 1]], [[0, 1, 2], []]]),
)
@example([0.1, 0.2, 0.3], 0.006, "products", [])  # rounding decides: the product is greater in this order only
def test_sets_of_units_are_kept_with_a_likelier_larger_set_and_have_the_probability_of_their_units(
    probabilities, epsilon, knowledge, together
):
    """The sets of only some attributes of kept units are there, too, with a probability of 0."""
    everything = range(len(probabilities))
    together = [[at for at in unit if at in everything] for unit in together]
    units = [unit for unit in map(sorted, together) if unit]
    units = sorted(units + [[at] for at in everything if all(at not in unit for unit in units)])
    known = [max(probabilities[at] for at in unit) for unit in units]
    unknown = [1 - chance if knowledge == "independent" else 1.0 for chance in known]

    def factors(some, without):
        return [one if some & set(unit) else other for unit, one, other in zip(units, known, without, strict=True)]

    tree = family(probabilities, epsilon, 10_000, knowledge=knowledge, together=together)
    likelier = [max(pair) for pair in zip(known, unknown, strict=True)]
    assert sorted(tree.members(node) for node in range(len(tree))) == sorted(
        some for some in all_subsets(everything) if not some or math.prod(factors(set(some), likelier)) > epsilon
    )
    for node in range(len(tree)):
        some = set(tree.members(node))
        is_whole = all(some >= set(unit) or not some & set(unit) for unit in units)
        assert tree.chance[node] == pytest.approx(math.prod(factors(some, unknown)) if is_whole else 0.0)
        reached = {int(tree.order[place]) for place in range(int(tree.reach[node]) + 1)}
        upto = [factor for factor, unit in zip(factors(some, unknown), units, strict=True) if reached >= set(unit)]
        assert tree.mass[node] == pytest.approx(math.prod(upto) if is_whole else 0.0)
    places = range(len(tree.order))
    begins, chances, others = tree.begins.tolist(), tree.probabilities.tolist(), tree.unknown.tolist()
    assert tree.either.tolist() == [chances[at] + others[at] if begins[at] else 1.0 for at in places]
    assert tree.parent[0] == 0
    assert tree.is_plain == (all(len(unit) == 1 for unit in units) and all(factor == 1 for factor in unknown))
    assert [int(tree.order[place]) for place in np.flatnonzero(tree.begins)] == [
        units[number][0] for number in sorted(range(len(units)), key=lambda at: (-known[at] / likelier[at], units[at][0]))
    ]


def test_a_unit_is_lost_with_any_of_its_attributes_pattern_by_pattern():
    tree = family([0.5, 0.5, 0.5], 0.01, 100, together=[[0, 2]])
    places = {int(at): place for place, at in enumerate(tree.order)}
    lost = np.zeros((3, 3), dtype=np.bool_)
    lost[0, places[0]] = lost[1, places[1]] = True
    before = lost.copy()
    spread = tree.spread_lost(lost)
    assert [{at for at, place in places.items() if row[place]} for row in spread] == [{0, 2}, {1}, set()]
    assert (lost == before).all(), "the flags that were given stay"


def test_sums_over_many_patterns_are_those_over_each_alone():
    tree = family([0.9, 0.8, 0.7], 0.01, 100)
    patterns = [Pattern(frozenset(one)) for one in all_subsets(range(3))] * 3
    together = terms(tree, [0, 2], patterns)
    for at, pattern in enumerate(patterns[:8]):
        alone = terms(tree, [0, 2], [pattern])
        for name in ("kept", "whole", "kept_below", "whole_below"):
            assert getattr(together, name)[:, at].tolist() == getattr(alone, name)[:, 0].tolist(), name
