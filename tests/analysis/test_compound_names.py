"""Names that are written together: German, Dutch and Nordic compounds carry their kind in the last part."""

import numpy as np
import polars as pl
import pytest

from discreet.analysis.analyzer import profile_table
from discreet.engine.recognition.column_names import look_up_name
from discreet.engine.recognition.compound_heads import HEADS_BEHIND, SAFE_HEADS
from discreet.engine.recognition.vocabulary import phrases
from discreet.model.microdata import Microdata

COMPOUNDS = {
    "income": """Jahreslohn Monatslohn Bruttolohn Nettolohn Stundenlohn Jahresgehalt Grundgehalt Monatsgehalt Bruttoverdienst
        Arbeitsentgelt Nettoeinkommen Vergütung Altersrente årslön månadslön Lön timløn løn årslønn bruttoinntekt årsinkomst
        årsindkomst jaarloon maandsalaris uurloon jaarinkomen kuukausipalkka vuositulot retribuzione nómina""",
    "sick leave": "Krankheitstage Fehltage",
    "disease": "Hauptdiagnose Vorerkrankung grundsjukdom",
    "treatment": "Verweildauer Vorbehandlung Chemotherapie",
    "region": "Wohnort Arbeitsort Unfallort Wohngemeinde Heimatkanton Geburtsstadt woonplaats bostedskommune",
    "country": "Geburtsort Herkunftsland Heimatstaat geboorteland födelseland Staatsbürgerschaft",
    "education": "Schulabschluss Hochschulabschluss Berufsausbildung Schulbildung grundutbildning",
    "marital status": "Familienstand",
    "household": "Haushaltsgröße Kinderzahl",
    "age": "Eintrittsalter Sterbealter Lebensalter",
    "occupation": "Hauptberuf Berufsgruppe",
    "work experience": "Betriebszugehörigkeit",
    "religion": "Religionszugehörigkeit",
    "union": "Gewerkschaftsmitglied",
    "address": "Wohnadresse Anschrift",
    "bill": "Behandlungskosten Rechnungsbetrag",
    "language": "Erstsprache",
    "wealth and debt": "Nettovermögen Privatschulden",
    "survey weight": "Stichprobengewicht",
    "body weight": "Geburtsgewicht",
}
TWO_WORDS = ["salaire annuel", "salaire_mensuel", "revenu fiscal", "salario anual", "sueldo bruto", "renta anual",
             "reddito annuo", "stipendio mensile", "salário mensal"]  # fmt: skip
OTHER_WORDS = """Sauerstoffgehalt Antwort Passwort Standort Jahresabschluss Sehvermögen Fahrzeughalter Schalter Abbildung
    saloon balloon Gleichgewicht Gewöhnung Rücksprache"""


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in COMPOUNDS.items() for name in names.split()])
def test_a_compound_is_of_the_kind_of_its_last_part(kind, name):
    recognised = look_up_name(name).kind
    assert recognised is not None
    assert recognised.name == kind


@pytest.mark.parametrize("name", TWO_WORDS)
def test_a_wage_in_two_words_is_an_income(name):
    recognised = look_up_name(name).kind
    assert recognised is not None
    assert recognised.name == "income"


@pytest.mark.parametrize("name", OTHER_WORDS.split())
def test_a_word_that_only_ends_like_such_a_part_has_no_kind(name):
    assert look_up_name(name).kind is None


@pytest.mark.parametrize(
    ("name", "kind"), [("lon", "coordinates"), ("kön", "sex"), ("salon", None), ("start_lon", "coordinates")]
)
def test_longitudes_and_other_words_are_no_nordic_wages(name, kind):
    recognised = look_up_name(name).kind
    assert (recognised.name if recognised else None) == kind


def test_every_last_part_is_a_name_of_the_vocabulary():
    assert {(head,) for head in (*SAFE_HEADS, *HEADS_BEHIND)} <= set(phrases())


@pytest.mark.parametrize("name", ["Jahreslohn", "maandsalaris", "årslön", "Monatsgehalt"])
def test_wages_are_confidential_and_sensitive(name):
    draw = np.random.default_rng(1)
    frame = {"Geschlecht": draw.choice(["m", "w"], 200), "Alter": draw.integers(18, 65, 200)}
    proposal = profile_table(Microdata(pl.DataFrame({**frame, name: draw.integers(30_000, 90_000, 200)})))[name]
    assert (proposal.attribute.role, proposal.attribute.sensitivity) == ("confidential", 0.9)
