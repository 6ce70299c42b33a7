"""Column names of quasi-identifiers (keys; Truta et al., section 2), with the default probability that an attacker knows them.

What anyone can see or hear (sex, ethnicity, region) is nearly always known; what registers and profiles contain (birth date,
occupation, education) often; what only acquaintances know (hours of work, housing, dates of a stay) seldom.
"""

from __future__ import annotations

from discreet.engine.recognition.name_rules import BODY_WEIGHT, OCCASION, Kind
from discreet.model.attribute import Role

_K = Role.KEY

KEYS = (
    Kind("sex", _K, """
        sex, gender, geschlecht, sexe, sexo, sesso, geslacht, sukupuoli, kon, kjonn, koen, genero, genre""",
        0.8, 0.0, coded=True),
    Kind("ethnicity", _K, """
        race, ethnicity, ethnic, ethnic group, ethnic origin, ethnie, etnia, hispanic, hispanic origin, latino,
        ancestry, tribe, skin color, skin colour, indigenous, rasse, raza, rac, herkunft""", 0.8, 0.3, coded=True),
    Kind("age", _K, """
        age, ages, alter, edad, eta, idade, leeftijd, ika, alder, age group, age band, age class, age years, age in
        years, agegrp, altersgruppe, alterklasse, tranche age, groupe age, ikaryhma""", 0.3),
    Kind("birth date", _K, """
        date of birth, birth date, dob, born, birthday, geburtsdatum, geburtstag, date de naissance, naissance, fecha
        de nacimiento, nacimiento, data di nascita, nascita, data nascimento, geboortedatum, syntymaaika,
        syntymapaiva, fodelsedatum, fodselsdato, gebdat""", 0.3),
    Kind("birth year", _K, """
        birth year, year of birth, yob, geburtsjahr, annee de naissance, ano de nacimiento, anno di nascita,
        geboortejaar, syntymavuosi, fodelsear, fodselsar, birthyr""", 0.3),
    Kind("birth month", _K, """
        birth month, month of birth, mob, geburtsmonat, mois de naissance, mes de nacimiento""", 0.1),
    Kind("region", _K, """
        state, province, region, county, parish, district, canton, kanton, department code, departement, prefecture,
        territory, bundesland, landkreis, kreis, gemeinde, bezirk, commune, comune, comunidad, municipio,
        municipality, provincia, regione, provincie, gemeente, kunta, maakunta, lan, kommun, kommune, fylke, city,
        town, village, suburb, borough, ward, neighborhood, neighbourhood, locality, location, place, residence,
        stadt, ort, wohnort, ville, ciudad, citta, cidade, stad, kaupunki, ortschaft, fips, nuts, msa, metro, puma,
        lsoa, msoa, area, census tract, tract, block group, urban, rural, urbanicity, place of residence, domicile""",
        0.6, coded=True),
    Kind("postal code", _K, """
        zip, zip code, postal code, postcode, post code, plz, postleitzahl, code postal, cp, codigo postal, cap, cep,
        postnummer, postinumero""", 0.5, coded=True),
    Kind("coordinates", _K, """
        latitude, longitude, lat, lon, lng, gps, coordinates, geo, geolocation, easting, northing""", 0.2, 0.2),
    Kind("country", _K, """
        country, nationality, native country, country of birth, birth country, birthplace, birth place, place of
        birth, land, staat, staatsangehoerigkeit, nationalitat, pays, pays de naissance, nationalite, pais,
        nacionalidad, paese, cittadinanza, nazionalita, kansalaisuus, geburtsland, syntymamaa, father country, mother
        country, home country""", 0.3, 0.1, coded=True),
    Kind("citizenship", _K, """
        citizenship, citizen, immigrant, immigration, immigration status, visa, visa status, residence permit,
        foreigner, aufenthaltsstatus""", 0.1, 0.4, coded=True),
    Kind("marital status", _K, """
        marital, marital status, marital stat, married, marriage, civil status, familienstand, zivilstand, etat civil,
        situation matrimoniale, estado civil, stato civile, burgerlijke staat, siviilisaaty, civilstand""",
        0.4, 0.05, coded=True),
    Kind("household", _K, """
        household, household size, hh size, hhsize, family size, family, famsize, number of children, children, num
        children, nchild, kids, dependents, dependants, siblings, relationship, relation, household type, family type,
        family relationship, householder, haushalt, haushaltsgroesse, kinder, menage, hogar, famiglia""", 0.3),
    Kind("family member", _K, """
        spouse, husband, wife, father, mother, parents, parent""", 0.1, coded=True, weak=True),
    Kind("education", _K, """
        education, educ, schooling, degree, qualification, education level, education num, edu, highest degree, school
        degree, bildung, schulabschluss, abschluss, ausbildung, niveau d etudes, diplome, educacion, estudios,
        istruzione, titolo di studio, opleiding, koulutus, utbildning, utdanning, literacy""", 0.3),
    Kind("school", _K, """
        school, college, university, kindergarten, campus, schule, ecole, escuela, scuola, koulu, skola, school
        district, enrolled, enrollment""", 0.3, coded=True),
    Kind("school year", _K, """
        grade, grade level, school year, klasse, schulklasse, luokka, year group""", 0.2),
    Kind("occupation", _K, """
        occupation, occup, job, job title, profession, beruf, metier, ocupacion, profesion, professione, beroep,
        ammatti, yrke, isco, soc code, trade""", 0.4, coded=True),
    Kind("industry", _K, """
        industry, sector, branche, branch, nace, naics, sic, economic activity, toimiala""", 0.3, coded=True),
    Kind("employer", _K, """
        employer, company, company name, firm, workplace, arbeitgeber, employeur, empresa, azienda, werkgever,
        tyonantaja, workclass, work class, class of worker, class worker, organisation, organization, department, own
        business, self employed, business""", 0.3, coded=True),
    Kind("employment", _K, """
        employment, employment status, employed, labor force, labour force, full part time, part time, full time, work
        status, working, erwerbsstatus, activite, empleo""", 0.2, 0.1, coded=True),
    Kind("hours of work", _K, """
        hours, hours per week, work hours, working hours, weeks worked, weekly hours""", 0.05),
    Kind("language", _K, """
        language, mother tongue, native language, sprache, muttersprache, langue, idioma, lingua, taal, kieli,
        aidinkieli, sprak""", 0.2, coded=True),
    Kind("looks", _K, """
        height, body height, stature, groesse, taille, estatura, pituus, hair color, hair colour, eye color, eye
        colour, shoe size, tattoo, handedness""", 0.1),
    Kind(BODY_WEIGHT, _K, """
        body weight, weight kg, weight lb, weight lbs, weight pounds, koerpergewicht, patient weight, bodyweight,
        birth weight""", 0.05, 0.2),
    Kind("veteran", _K, """
        veteran, veterans, military, military service, wehrdienst, armed forces""", 0.1, 0.1, coded=True),
    Kind("moving house", _K, """
        migration, migration msa, moved, mover, mobility, same house, previous residence, mig, years at address""", 0.05),
    Kind("housing", _K, """
        housing, dwelling, tenure, home ownership, homeowner, rooms, bedrooms, rent, building, wohnung, logement,
        vivienda, asunto, house type, car, vehicles, vehicle, pet, pets""", 0.1, 0.1),
    Kind(OCCASION, _K, """
        admission date, discharge date, visit date, service date, date of service, date of admission, date of
        discharge, encounter date, event date, admit date, appointment date, test date, date of death, death date,
        dod, aufnahmedatum, entlassungsdatum, date entree, fecha de ingreso, arrival, departure, timestamp, admission
        month, admission year, hire date, start date""", 0.05, 0.1),
    Kind("place of care", _K, """
        hospital, clinic, facility, provider, physician, doctor, krankenhaus, klinik, hopital, medico, ospedale,
        sairaala, site, center, centre, practice, ward name, station, medical specialty, specialty""", 0.05, 0.2, coded=True),
)  # fmt: skip
