"""Column names of attributes that are neither known of a person nor sensitive, although their values read like such ones."""

from __future__ import annotations

from discreet.engine.recognition.name_rules import ROAD_OR_WEATHER, Kind
from discreet.model.attribute import Role

OTHERS = (
    Kind(ROAD_OR_WEATHER, Role.OTHER, """
        road, roads, road type, road class, road category, road surface, road condition, road conditions, type of road,
        class of road, street type, carriageway, carriageway type, junction, junction type, junction detail, intersection type,
        speed limit, number of lanes, light conditions, lighting conditions, weather, weather condition, weather conditions,
        strassenart, strassentyp, strassenklasse, strassenzustand, wetter, witterung, lichtverhaeltnisse, type de route,
        categorie de route, meteo, conditions meteorologiques, tipo de via, tipo de carretera, estado del tiempo, tipo di strada,
        condizioni meteo, wegtype, wegsoort, weersomstandigheden, vagtyp, vagtype, veitype, tietyyppi""", 0.005),
)  # fmt: skip
"""An urban road is no region where somebody lives, and rain no attribute of a person."""
