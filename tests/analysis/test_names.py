"""Kinds of attributes recognised by column names, in several languages and spellings; and words that only contain such names."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.analysis.analyzer import profile_table
from discreet.analysis.families import TableNames, kind_without_affix
from discreet.engine.recognition.abbreviations import complete_truncated_word
from discreet.engine.recognition.column_names import look_up_name
from discreet.model.microdata import Microdata

NAMES_BY_KIND = {
    "name": "Name NAME nombre navn mother_name",
    "person's name": "first_name patientName lastName FULL-NAME surname Vorname apellido username userName FNAME sukunimi prénom",
    "national number": "SSN soc_sec_id personnummer codice_fiscale fødselsnummer henkilötunnus BSN",
    "e-mail address": "email e-mail Email_Address work.email sähköposti",
    "phone number": "phone phone2 TelefonNr mobile_phone telefono",
    "address": "street_address address_1 Straße Adresse house_number",
    "account number": "IBAN account_no creditCard",
    "device address": "IPAddress ip mac_address device_id",
    "web address": "url homepage",
    "record id": "id patient_id patient_nbr customerID RECID uuid Kundennummer encounter_id",
    "age": "age AGE age_years alter edad age_at_diagnosis ageGroup",
    "sex": "sex Gender geschlecht",
    "birth date": "dob dateOfBirth date_of_birth BirthDate Geburtsdatum",
    "birth year": "birth_year YOB Geburtsjahr",
    "postal code": "zip ZIP5 zip_code postcode PLZ código_postal",
    "region": "state county Parish city fips city_name city_id",
    "country": "native-country nationality father_country",
    "marital status": "marital-status Familienstand",
    "occupation": "occupation occupation_code job_title job_id",
    "school": "school school_id school_name",
    "disease": "diagnosis diagnosis_id icd10 ICD-10 disease_name diag_1 medicalCondition covid",
    "medication": "drug drug_name metformin glyburide-metformin insulin simvastatin",
    "income": "income annual_income_usd HHIncome salary-class wage_per_hour Einkommen household_income",
    "bill": "billing Charges total_cost",
    "benefit": "snap_ben veterans_benefits tanf",
    "crime": "felony criminal_record",
    "survey weight": "weight fnlwgt instance_weight PWGTP",
    "body weight": "weight_kg body_weight birthWeight",
}
NAMES_WITHOUT_KIND = """period valid usage message hidden identity idea video android percentage average stage agency page image
    file_name product_name table_name colour x1 q17 change stratum 姓名 __ 12"""


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in NAMES_BY_KIND.items() for name in names.split()])
def test_a_column_name_has_its_kind(kind, name):
    recognised = look_up_name(name).kind
    assert recognised is not None
    assert recognised.name == kind


@pytest.mark.parametrize("name", [*NAMES_WITHOUT_KIND.split(), "", " "])
def test_other_column_names_have_no_kind(name):
    assert look_up_name(name).kind is None


@given(st.text(max_size=60))
@settings(deadline=None, max_examples=120)
def test_any_text_can_be_a_column_name(name):
    assert look_up_name(name) == look_up_name(name)


short_names = st.text("aAbß", min_size=1, max_size=4)


@given(st.lists(short_names, min_size=1, max_size=8), short_names, st.booleans(), st.integers(0, 7))
def test_a_rest_is_shared_as_looking_at_every_other_name_says(names: list[str], rest: str, own: bool, index: int) -> None:
    name = names[index % len(names)].lower()
    rest = name[1:] if own else rest
    others = {other.lower()[1:] for other in names if other.lower() != name}
    expected = rest in {other.lower() for other in names} or rest in others
    assert TableNames(names).is_shared(rest, name) == expected


def test_one_letter_in_front_counts_beside_the_plain_name_or_a_second_letter_only() -> None:
    for names, recognised in ((["mage"], False), (["mage", "age"], True), (["mage", "fage"], True), (["mage", "MAGE"], False)):
        found = kind_without_affix("mage", TableNames(names))
        assert (found is not None) == recognised, names
    found = kind_without_affix("mothage", TableNames(["mothage"]))
    assert found is not None
    assert (found[0].name, found[1]) == ("age", "age")


@pytest.mark.parametrize(
    "word", ["plate", "status", "under", "never", "still", "organ", "light", "condo", "gross", "minor", "spell"]
)
def test_a_whole_word_is_not_the_beginning_of_another(word: str) -> None:
    assert complete_truncated_word(word) is None


@pytest.mark.parametrize("word", ["disea", "karnof", "perfor", "enroll", "attend", "protest", "aufnahme"])
def test_a_word_cut_short_is_the_beginning_of_another(word: str) -> None:
    assert complete_truncated_word(word) is not None


PLATES = [f"W-{10_000 + 37 * at % 89_999}{chr(65 + at % 26)}{chr(65 + at % 7)}" for at in range(400)]


@pytest.mark.parametrize(
    "name",
    ["plate", "platel", "perfor", "platel_a", "license_plate", "licence plate", "Kennzeichen", "Autokennzeichen", "plate_no"],
)
def test_codes_that_single_records_have_are_identifiers_whatever_the_beginning_of_a_word_says(name: str) -> None:
    people = {"sex": ["f", "m"] * 200, "age": [18 + at % 60 for at in range(400)]}
    frame = pl.DataFrame(
        {**people, name: PLATES, "platel_b": [at % 90 for at in range(400)], "platel_c": [at % 80 for at in range(400)]}
    )
    assert profile_table(Microdata(frame))[name].attribute.role == "identifier"
