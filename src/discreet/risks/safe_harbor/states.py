"""Places that are a state of the United States or larger, by the values of a column."""

from __future__ import annotations

from discreet.engine.recognition.name_rules import word_set
from discreet.engine.recognition.value_facts import Facts

_ABBREVIATIONS = word_set(
    """al ak az ar ca co ct de dc fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv nh nj nm ny nc nd oh ok or pa ri sc
    sd tn tx ut vt va wa wv wi wy pr gu vi as mp"""
)
_NAMES = frozenset(
    name.strip()
    for name in """alabama, alaska, arizona, arkansas, california, colorado, connecticut, delaware, district of columbia, florida,
    georgia, hawaii, idaho, illinois, indiana, iowa, kansas, kentucky, louisiana, maine, maryland, massachusetts, michigan,
    minnesota, mississippi, missouri, montana, nebraska, nevada, new hampshire, new jersey, new mexico, new york, north carolina,
    north dakota, ohio, oklahoma, oregon, pennsylvania, rhode island, south carolina, south dakota, tennessee, texas, utah,
    vermont, virginia, washington, west virginia, wisconsin, wyoming, puerto rico, guam, american samoa""".replace(
        "\n", " "
    ).split(",")
)
_LARGER = frozenset(
    name.strip()
    for name in """northeast, midwest, south, west, north central, new england, middle atlantic, mid-atlantic, mid atlantic,
    east north central, west north central, south atlantic, east south central, west south central, mountain, pacific, north,
    east, northwest, southeast, southwest, africa, asia, europe, north america, south america, america, americas, oceania,
    australia, antarctica, urban, rural, suburban, metropolitan, non-metropolitan, nonmetropolitan, metro, nonmetro, non-metro,
    other, unknown, abroad""".replace("\n", " ").split(",")
)
_MOST_FIPS = 78


def are_states_or_larger(facts: Facts) -> bool:
    """Whether every value is a state, a census region, a continent, or a word such as urban and rural.

    A number is a state only in a column that is named so, and a flag of two values (urban or not) is no place.
    """
    if facts.distinct <= 2 and (facts.yes is not None or facts.is_whole):
        return True
    if facts.is_whole:
        return bool({"state", "statefip", "fips"} & set(facts.naming.words)) and _are_state_numbers(facts)
    texts = {" ".join(text.lower().replace("_", " ").split()) for text in facts.words[0] or facts.sample}
    texts = {text.strip("{}*") for text in texts if text != "*"}
    parts = {part.strip() for text in texts for part in text.split("|")}
    return parts <= (_ABBREVIATIONS | _NAMES | _LARGER)


def _are_state_numbers(facts: Facts) -> bool:
    low, high = (int(end) for end in facts.extremes)
    return low >= 0 and high <= _MOST_FIPS
