"""Lebanon, Scannapieco, Fouad & Bertino: what the paper says of its own examples, counts and experiments."""

import itertools
import math

import numpy as np
import polars as pl
import pytest

from discreet.engine.disclosure.dictionaries import Dictionary, side_attributes
from discreet.engine.disclosure.sensitivity import Sensitivity, loss
from discreet.masking.min_risk_disclosure.least_risk import least_risk
from discreet.masking.min_risk_disclosure.losses import Disclosure, suppress_columns
from discreet.masking.min_risk_disclosure.min_risk import min_risk
from discreet.model.microdata import Microdata
from discreet.risks.decision.consistency import Similarity, count_consistent
from discreet.testing import items, table

BOOK = pl.DataFrame(
    {
        "first": ["Mary", "Mary", "John", "Ann"],
        "surname": ["Smith", "Smith", "Smith", "Lee"],
        "phone": ["1", "2", "3", "4"],
    }
)


def test_section_2_with_all_revealed_one_entry_is_consistent_without_the_phone_it_depends_on_the_name():
    seen = pl.DataFrame(
        {"first": ["Mary", "Mary", "Ann"], "surname": ["Smith", "Smith", "Lee"], "phone": ["1", None, None]},
        schema=dict.fromkeys(BOOK.columns, pl.String),
    )
    assert count_consistent(seen, BOOK, BOOK.columns).tolist() == [1, 2, 1]


@pytest.mark.parametrize(("n", "m", "k"), [(2, 3, 1), (3, 2, 2), (2, 3, 2)])
def test_section_3_the_classes_of_rules_have_the_sizes_that_are_printed(n, m, k):
    cells = list(itertools.product(range(n), range(m)))
    rules = [set(pick) for size in range(n * m + 1) for pick in itertools.combinations(cells, size)]
    per_record = [rule for rule in rules if all(sum(i == r for i, _ in rule) == k for r in range(n))]
    per_column = [rule for rule in rules if all(sum(j == c for _, j in rule) == k for c in range(m))]
    assert sum(len(rule) == k for rule in rules) == math.comb(n * m, k)
    assert len(per_record) == math.comb(m, k) ** n
    assert len(per_column) == math.comb(n, k) ** m


def test_section_3_the_loss_factorizes_under_independence():
    """1/|rho| = prod over disclosed alpha(null)/alpha(y), times prod of 1/alpha(null), where the dictionary is a product."""
    book = pl.DataFrame(list(itertools.product("aab", "xyyy", "pq")), schema=["u", "v", "w"], orient="row")
    data = Microdata(book)
    weights = {"u": 0.3, "v": 0.7, "w": 0.1}
    names = ("u", "v", "w")
    dictionary = Dictionary("book", book, names, None)
    problem = Disclosure(data, names, Sensitivity("phi5", names, weights), (dictionary,))
    plain = Disclosure(data, names, Sensitivity("phi5", names, weights), (dictionary,), independent=False)
    for mask in itertools.product([False, True], repeat=3):
        rule = np.tile(np.array(mask), (len(data), 1))
        assert problem.losses(rule)[0] == pytest.approx(plain.losses(rule)[0], rel=1e-12)


def test_algorithm_1_by_hand():
    """Three people of four are Smith, two Mary, one has each phone: gamma = 4/3, 2, 4 without weights."""
    data = Microdata(BOOK.head(1))
    names = tuple(BOOK.columns)
    problem = Disclosure(data, names, Sensitivity("phi5", names, {}), (Dictionary("book", BOOK, names, None),))
    assert np.exp(problem.log_costs(0)[0]) == pytest.approx([2.0, 4 / 3, 4.0])
    rule, losses = min_risk(problem, 2)
    assert rule.tolist() == [[True, True, False]]
    assert losses[0] == pytest.approx(2 * 4 / 3 / 4)
    # a weight of log 2 on the surname makes its gamma 8/3, above that of the first name
    heavier = Disclosure(data, names, Sensitivity("phi5", names, {"surname": math.log(2)}), problem.dictionaries)
    assert min_risk(heavier, 1)[0].tolist() == [[True, False, False]]


def test_appendix_the_forms_of_phi_by_hand():
    names, seen = ("a", "b", "c"), [np.array([True]), np.array([True]), np.array([False])]
    weights, record = {"a": 1.0, "b": 2.0, "c": 4.0}, np.array([3.0])

    def phi(form, **more):
        return float(Sensitivity(form, names, weights, **more).phi(seen, 1)[0])

    assert phi("phi1") == 3.0
    assert phi("phi2", of_record=record) == 6.0
    assert phi("phi3", of_record=record) == 9.0
    assert phi("phi4", order=2, sets={("a", "b"): 10.0, ("a", "c"): 100.0}) == 13.0
    assert phi("phi5") == pytest.approx(math.exp(3.0))
    assert phi("phi5", of_record=np.array([2.0])) == pytest.approx(phi("phi5") ** 2)


def test_section_2_infinite_sensitivity_is_allowed_where_there_is_no_chance_of_identification():
    assert loss(np.array([math.inf, math.inf]), np.array([0, 5])).tolist() == [0.0, math.inf]


@pytest.fixture(scope="module")
def whole():
    return items(4_000)


WORDS = ("department", "color", "size", "material", "origin", "season", "unit", "carrier")


@pytest.mark.parametrize("similarity", [None, Similarity(threshold=0.8)])
def test_figure_1_left_risk_grows_with_k_and_falls_with_the_dictionary(whole, similarity):
    data = Microdata(whole.frame.head(200).select(WORDS))
    weights = dict(zip(WORDS, np.random.default_rng(3).random(len(WORDS)).tolist(), strict=True))
    everyone = Dictionary("all", whole.frame.select(WORDS), WORDS, None)
    problem = Disclosure(data, WORDS, Sensitivity("phi5", WORDS, weights), (everyone,))
    risks = {}
    for k in (2, 4, 6, 8):
        rule, _ = min_risk(problem, k)
        release = data.frame.with_columns(list(suppress_columns(data, problem.columns, rule).values()))
        for size in (400, 1_000, 2_000, 4_000):
            rho = count_consistent(release, whole.frame.head(size).select(WORDS), WORDS, similarity=similarity)
            for form in ("phi1", "phi5"):
                phi = Sensitivity(form, WORDS, weights).phi([rule[:, at] for at in range(len(WORDS))], len(data))
                risks[form, k, size] = loss(phi, rho).mean()
    for form, size in itertools.product(("phi1", "phi5"), (400, 1_000, 2_000, 4_000)):
        by_k = [risks[form, k, size] for k in (2, 4, 6, 8)]
        assert by_k == sorted(by_k)
    for form, k in itertools.product(("phi1", "phi5"), (2, 4, 6, 8)):
        by_size = [risks[form, k, size] for size in (400, 1_000, 2_000, 4_000)]
        assert by_size == sorted(by_size, reverse=True)
    assert all(risks["phi5", k, size] > risks["phi1", k, size] for _, k, size in risks)


def test_figure_1_right_every_point_lies_above_the_diagonal(whole):
    generator = np.random.default_rng(4)
    own = whole.frame.head(300).select(WORDS)
    for share, missing, size in itertools.product((0.3, 0.6, 1.0), (0.0, 0.2), (300, 1_000, 4_000)):
        release = own.with_columns([own[name].set(pl.Series(generator.random(300) >= share), None) for name in WORDS])
        book = whole.frame.head(size).select(WORDS)
        book = book.with_columns([book[name].set(pl.Series(generator.random(size) < missing), None) for name in WORDS])
        phi = Sensitivity("phi1", WORDS, dict.fromkeys(WORDS, 1.0)).phi(
            [release[name].is_not_null().to_numpy() for name in WORDS], 300
        )
        true, estimated = (loss(phi, count_consistent(release, one, WORDS)) for one in (book, own))
        assert (true <= estimated).all()


def test_the_wide_table_of_the_experiments_is_masked_whole():
    data = items(300)
    names = side_attributes(data)
    assert len(names) == 70
    weights = dict(zip(names, np.random.default_rng(5).random(70).tolist(), strict=True))
    book = Dictionary("itself", data.frame, tuple(names), None)
    problem = Disclosure(data, tuple(names), Sensitivity("phi5", tuple(names), weights), (book,))
    for k in (17, 35, 52, 70):
        found = least_risk(problem, k, "record")
        assert found.exact
        assert (found.rule.sum(axis=1) == np.minimum(k, problem.available.sum(axis=1))).all()


def test_section_4_k_anonymity_bounds_every_loss_by_c_over_k():
    data = table({"zip": ["a"] * 3 + ["b"] * 2, "age": [1, 1, 1, 2, 2]}, key=["zip", "age"])
    rho = count_consistent(data.frame, data.frame, ["zip", "age"])
    for c, k in itertools.product((1.0, 5.0), (2, 3)):
        losses = loss(np.full(5, c), rho)
        assert ((losses <= c / k) == (rho >= k)).all()
