"""Column names of quasi-identifiers, ordered by the probability that an intruder knows them.

What anyone can see or hear (sex, ethnicity, region) is nearly always known; what registers and profiles contain (birth date,
occupation, education) often; dates of events (a stay in hospital, an accident, the start of a job) by those around the person;
what only acquaintances know (hours of work, housing) seldom.
"""

from __future__ import annotations

from discreet.engine.recognition.name_rules import BODY_WEIGHT, OCCASION, Kind
from discreet.model.attribute import Role

_K = Role.KEY

KEYS = (
    Kind("sex", _K, """
        sex, gender, gend, geschlecht, sexe, sexo, sesso, geslacht, sukupuoli, kon, kjonn, koen, genero, genre, male,
        female, males, females, fem, fml, man, woman, boy, girl, sx, is male, is female, hombre, mujer, homme, femme,
        masculino, femenino, maennlich, weiblich, uomo, donna""", 0.8, 0.0, coded=True),
    Kind("ethnicity", _K, """
        race, ethnicity, ethnic, ethnic group, ethnic origin, ethnie, etnia, hispanic, hispanic origin, latino, latina,
        latinx, ancestry, tribe, skin color, skin colour, indigenous, rasse, raza, rac, herkunft, black, white,
        nonwhite, non white, nwhite, hisp, hispan, asian, minority, minor group, caucasian, cauc, afam,
        african american, native american, american indian, blck, whte, mexican, chicano, raceth, race eth,
        race ethnicity, racegrp, race grp, racecat, race cat, ethn, ethrace, othrace, other race, othr race, mixed race,
        multiracial, aboriginal, maori, roma, caste, clan, visible minority, amerindian, nonhispanic, pacific islander,
        migrationshintergrund,
        volkszugehoerigkeit""", 0.8, 0.3, coded=True),
    Kind("age", _K, """
        age, ages, alter, edad, eta, idade, leeftijd, ika, alder, age group, age band, age class, age years,
        age in years, agegrp, age grp, agegp, agecat, age cat, age range, age bracket, ageg, agea, ageyrs, age yrs,
        ager, xage, agey, agem, altersgruppe, alterklasse, altersklasse, lebensalter, tranche age, groupe age, ikaryhma,
        grupo edad, senior citizen, elderly, years old""", 0.3),
    Kind("birth date", _K, """
        date of birth, birth date, dob, born, birthday, birth dt, geburtsdatum, geburtstag, date de naissance,
        naissance, fecha de nacimiento, nacimiento, data di nascita, nascita, data nascimento, geboortedatum,
        syntymaaika, syntymapaiva, fodelsedatum, fodselsdato, gebdat, birth""", 0.3),
    Kind("birth year", _K, """
        birth year, year of birth, yob, geburtsjahr, annee de naissance, ano de nacimiento, anno di nascita,
        geboortejaar, syntymavuosi, fodelsear, fodselsar, birthyr, birth yr, birth y, byear, yearborn, year born,
        yr born, birth cohort""", 0.3),
    Kind("birth month", _K, """
        birth month, month of birth, mob, geburtsmonat, mois de naissance, mes de nacimiento, birth mo, bmonth,
        mnthborn, month born, birth d, day of birth, birth quarter, birthq, quarter of birth, qob""", 0.1),
    Kind("zodiac sign", _K, """zodiac, sternzeichen, star sign""", 0.1),
    Kind("region", _K, """
        state, province, region, county, parish, district, canton, kanton, department code, departement, prefecture,
        territory, bundesland, landkreis, kreis, gemeinde, bezirk, commune, comune, comunidad, municipio, municipality,
        provincia, regione, provincie, gemeente, kunta, maakunta, lan, kommun, kommune, fylke, city, town, village,
        suburb, borough, ward, neighborhood, neighbourhood, locality, location, place, residence, stadt, ort, wohnort,
        ville, ciudad, citta, cidade, stad, kaupunki, ortschaft, fips, nuts, msa, metro, puma, lsoa, msoa, area,
        census tract, tract, block group, urban, rural, urbanicity, place of residence, domicile, hometown, home town,
        home city, home state, precinct, township, villnum, vill, village id, smsa, cbsa, metropolitan, nonmetro,
        central city, centcity, big city, bigcity, small city, smcity, inner city, south, north, northeast, nrtheast,
        nor east, northcentral, northcen, nrthcen, midwest, southwest, southeast, northwest, southern, northern,
        statefip, state fips, state code, prov, regn, stateabb, state abbr, farm, community, reg code, subregion,
        census division, continent, kontinent, reg, arrondissement, quartier, barrio, distrito, departamento, bairro, oblast,
        size of town,
        town size, community size,
        woonplaats, asuinkunta, kotikunta""",
        0.6, coded=True),
    Kind("distance", _K, """distance from home, distance to work, commute, commuting, distance to school""",
        0.05),
    Kind("postal code", _K, """
        zip, zip code, postal code, postcode, post code, plz, postleitzahl, code postal, cp, codigo postal, cap, cep,
        postnummer, postinumero, zcta""", 0.5, coded=True),
    Kind("coordinates", _K, """
        latitude, longitude, lat, lon, lng, gps, coordinates, geo, geolocation, easting, northing, breitengrad,
        laengengrad""",
        0.2, 0.2),
    Kind("country", _K, """
        country, nationality, native country, country of birth, birth country, birthplace, birth place, birth pl,
        place of birth, land, staat, staatsangehoerigkeit, nationalitat, pays, pays de naissance, nationalite, pais,
        nacionalidad, paese, cittadinanza, nazionalita, kansalaisuus, geburtsland, syntymamaa, father country,
        mother country, home country, cntry, cntry code, country code, ctry,
        geburtsort, staatsbuergerschaft, geboorteplaats, fodested, lieu de naissance, lugar de nacimiento,
        luogo di nascita""", 0.3, 0.1, coded=True),
    Kind("citizenship", _K, """
        citizenship, citizen, immigrant, immigration, immigration status, visa, visa status, residence permit,
        foreigner, aufenthaltsstatus, foreign, foreign born, foreignborn, native born, nativeborn, born abroad,
        born in country, brncntr, nativity, native""", 0.1, 0.4, coded=True),
    Kind("marital status", _K, """
        marital, marital status, marital stat, married, marriage, civil status, familienstand, zivilstand, etat civil,
        situation matrimoniale, estado civil, stato civile, burgerlijke staat, siviilisaaty, civilstand, marr, maried,
        marstat, maritl, mstatus, mar stat, marst, maritalcat, divorced, divorce, widow, widowed, widower, separated,
        never married, nevermarried, nev mar, ever married, evermarr, cohab, cohabiting, cohabitation, living together,
        single, partner, spouse present, relationship status, rel status, marry, years married, yrsmarr, yrs married,
        bachelor status, verheiratet, ledig, casado, marie""",
        0.4, 0.05, coded=True),
    Kind("household", _K, """
        household, household size, hh size, hhsize, family size, family, famsize, fam size, fsize, number of children,
        children, num children, nchild, nchildren, kids, nkids, num kids, numkids, number of kids, dependents,
        dependants, numdep, num dep, depends, deps, dep, siblings, sibs, nsibs, num sibs, sibsp, parch, household type,
        family type, householder, haushalt, haushaltsgroesse, kinder, menage, hogar, famiglia, child, childs, babies,
        preteen, teens, toddlers, youngkids, young kids, oldkids, old kids, kidslt, kids lt, kidsge, kids ge, kidlt,
        kidge, adults, nadults, num adults, household members, hh members, persons in household, people in household,
        number of persons, live with, livewith, living with, living arrangement, twins, twin, birth order, brthord,
        brother, sister, brothers, sisters, siblings number, children under, agpop, momdad, sinmom, stepparent,
        single parent, lone parent, household composition, hh type, personas hogar,
        taille du menage, taille menage, nb personnes menage, tamano del hogar, tamano hogar, huishouden,
        hushall, kotitalous, nucleo familiare, gezinsgrootte, kinderzahl, kinderanzahl, familiengroesse""", 0.3),
    Kind("relation to head", _K, """
        relationship, relation, relat, family relationship, relationship to head, relation to head, rel head, relhead,
        hh relation, household head, head of household, hh head, relate, verwandtschaft""", 0.3, coded=True),
    Kind("family member", _K, """
        spouse, husband, wife, father, mother, parents, parent""", 0.1, coded=True, weak=True),
    Kind("education", _K, """
        education, educ, schooling, degree, qualification, qual, education level, education num, edu, highest degree,
        school degree, bildung, schulabschluss, abschluss, ausbildung, niveau d etudes, diplome, educacion, estudios,
        istruzione, titolo di studio, opleiding, koulutus, utbildning, utdanning, literacy, literate, ed, edlevel,
        ed level, eduyrs, edu yrs, yedu, educat, educatn, educ years, educ yr, educyr, years of schooling,
        years of education, yschool, yrs school, hgc, highest grade, nodegree, no degree, college grad, collgrad,
        college educated, collegeed, hs grad, hsgrad, high school, hs, ged, phd, diploma, graduate, postgraduate,
        undergraduate, illiterate, reads, can read, bachelors, masters, mothers education, motheduc, fatheduc, meduc,
        feduc, momed, daded, moth educ, fath educ, parental education, pared, huseduc, wifeeduc, sp educ,
        field of study, study field, educational attainment, attainment, bildungsabschluss, scolarite, escolaridad,
        niveau etude, nivel educativo, no schooling, attended school, coll, college degree,
        college education,
        schulbildung, berufsbildung, weiterbildung, bildungsstand, bildungsniveau, bildungsgrad, opleidingsniveau,
        utbildningsniva, koulutusaste, uddannelse""", 0.3),
    Kind("school", _K, """
        school, college, university, univ, kindergarten, campus, schule, ecole, escuela, scuola, koulu, skola,
        school district, enrolled, enrollment, student, is student, school type, catholic school, private school,
        public school, faculty, major, colegio, alma mater""", 0.3, coded=True),
    Kind("school year", _K, """
        grade, grade level, school year, klasse, schulklasse, luokka, year group, freshman, sophomore, soph, junior,
        senior""", 0.2),
    Kind("occupation", _K, """
        occupation, occup, occ, occp, job, job title, job role, job class, jobclass, job type, jobcat, job category,
        job position, profession, beruf, metier, ocupacion, profesion, professione, beroep, ammatti, yrke, isco,
        soc code, trade, occ code, occ cat, occupational, focc, occrecode, blue collar, bluecol, white collar, clerical,
        clerocc, manager, managerial, profocc, servocc, craftsman, laborer, foreman, worker type, rank title,
        position title, employee type, puesto, emploi,
        berufsgruppe, berufsbezeichnung, ammattinimike""", 0.4, coded=True),
    Kind("occupation", _K, """occupational prestige, prestige, isei, siops, job level, job grade""", 0.2),
    Kind("industry", _K, """
        industry, sector, branche, branch, nace, naics, sic, economic activity, toimiala, indust, indus, ind code,
        industry code, construc, construction, manuf, manufacturing, agric, agriculture, ndurman, durman, trcommpu,
        profserv, services, mining, wholesale, retail, business travel""", 0.3, coded=True),
    Kind("employer", _K, """
        employer, company, company name, firm, workplace, arbeitgeber, employeur, empresa, azienda, werkgever,
        tyonantaja, workclass, work class, class of worker, class worker, organisation, organization, department,
        own business, self employed, selfemp, self employ, self, business, firm size, public sector,
        government employee, state employee, num companies worked""", 0.3, coded=True),
    Kind("employment", _K, """
        employment, employment status, employed, empl, employ, labor force, labour force, full part time, part time,
        parttime, fulltime, full time, work status, workstat, wrkstat, working, erwerbsstatus, activite, empleo, lfp,
        inlf, labour force participation, labor force participation, participation, participate, retired, retirement,
        worked, works, has job, currently working, jobless, econ active, economically active, activity status,
        housewife, homemaker, emp status, empstat, job status, work type, occupation status, outwork,
        erwerbstaetigkeit, erwerbstaetig, beschaeftigung""", 0.2, 0.1, coded=True),
    Kind("work experience", _K, """
        experience, exper, expr, work experience, job experience, years of experience, yrs experience, ttl exp,
        total experience, tenure, job tenure, years at company, years in current role, years since last promotion,
        years with curr manager, total working years, seniority, length of service, years of service, years on job,
        yrs service, anciennete, antiguedad, time in job,
        betriebszugehoerigkeit, dienstalter, dienstjahre, berufserfahrung, berufsjahre""", 0.1),
    Kind("hours of work", _K, """
        hours, hours per week, work hours, working hours, weeks worked, weekly hours, hrs, hours worked, hours of work,
        annual hours, annhrs, hushrs, hrs worked, wks worked, wks work, weeks, wks, over time, overtime, totwrk,
        shift work, night work,
        arbeitsstunden, wochenstunden, arbeitszeit, wochenarbeitszeit, uberstunden, ueberstunden, pensum, arbeitspensum,
        beschaeftigungsgrad""", 0.05),
    Kind("language", _K, """
        language, mother tongue, native language, sprache, muttersprache, langue, idioma, lingua, taal, kieli,
        aidinkieli, sprak, home language, speaks english, english speaker, english proficiency,
        spoken language""", 0.2, coded=True),
    Kind("looks", _K, """
        height, body height, stature, groesse, taille, estatura, pituus, hair color, hair colour, eye color, eye colour,
        shoe size, tattoo, handedness, ht, hgt, heightcm, height cm, height in, hair, eyes, handed, dominant hand, hand,
        wr hnd, beauty, attractiveness, foot length, foot width,
        koerpergroesse, schuhgroesse, haarfarbe, augenfarbe""", 0.1),
    Kind(BODY_WEIGHT, _K, """
        body weight, weight kg, weight lb, weight lbs, weight pounds, koerpergewicht, patient weight, bodyweight,
        birth weight, bwght, bwt, bweight, birthwt, body mass, weightkg, wtkg, wt kg,
        geburtsgewicht""", 0.05, 0.2),
    Kind("veteran", _K, """
        veteran, veterans, military, military service, wehrdienst, armed forces, army, vet status,
        draft status""",
        0.1, 0.1, coded=True),
    Kind("moving house", _K, """
        migration, migration msa, moved, mover, mobility, same house, previous residence, mig, years at address,
        residential mobility, years in residence, years at residence, years in neighborhood""", 0.05),
    Kind("housing", _K, """
        housing, dwelling, tenure status, housing tenure, home ownership, homeowner, home owner, homeown, home own,
        owned home, owns home, own house, renter, rooms, bedrooms, rent, building, wohnung, logement, vivienda, asunto,
        house type, cars, vehicles, has car, has vehicle, own car, owns car, own vehicle, owns vehicle, car ownership,
        car owner, vehicle ownership, car available, number of vehicles, pet, pets, apartment, persons per room, house, hogares,
        miete, kaltmiete, warmmiete""", 0.1, 0.1),
    Kind("vehicle", _K, """
        vehicle, car, vehicle year, vehicle age, age of vehicle, car year, car age, model year, year of manufacture, baujahr,
        fahrzeugalter, vehicle make, vehicle model, vehicle type, vehicle class, vehicle brand, vehicle colour, vehicle color,
        vehicle body, car make, car model, car brand, car type, car colour, car color, fahrzeug, fahrzeugmarke, fahrzeugtyp,
        fahrzeugart, fahrzeugklasse, fahrzeugfarbe, fahrzeugmodell, automarke, marque du vehicule, type de vehicule,
        modele du vehicule, vehicule, vehiculo, marca del vehiculo, tipo de vehiculo, veicolo, marca auto, automerk, bilmarke,
        bilmerke, auton merkki, ajoneuvo, voertuig, first registration, erstzulassung""", 0.3),
    Kind("dwelling material", _K, """
        roof, walls, wall, floor, toilet, latrine, sewage, water source, drinking water, water, electric, electricity,
        electcon, cooking fuel, fuel, lighting, kitchen, radio, television, tv, bicycle, bike, motorcycle, refrigerator,
        fridge, tractor, cattle, livestock, landline, washing machine, air conditioning, heating""", 0.1, 0.1, coded=True),
    Kind(OCCASION, _K, """
        admission date, discharge date, visit date, service date, date of service, date of admission, date of discharge,
        encounter date, event date, admit date, appointment date, test date, date of death, death date, dod,
        aufnahmedatum, entlassungsdatum, date entree, fecha de ingreso, arrival, departure, timestamp, admission month,
        admission year, hire date, start date, end date, interview date, date of interview, issue date,
        application date, year of death, month of death, day of death, yrdth, modth, dadth, diagnosis year,
        year of diagnosis, dxyr, yronset, year of onset, year of admission, stintrvw, endintrvw, inwds, inwde,
        follow up date, entry date, exit date, screening date, jail in, jail out, in custody, out custody, offense date,
        arrest date, compas screening date, sample yr, accept date, accident date, date of accident, incident date,
        hearing date, date of hearing, court date, trial date, termination date, registration date,
        graduation date""",
        0.2, 0.1),
    Kind("place of care", _K, """
        hospital name, hospital id, hospital, clinic, facility, provider, physician, doctor, krankenhaus, klinik,
        hopital, medico, ospedale, sairaala, site, center, centre, practice, ward name, station, medical specialty,
        specialty, instit, institution, clinic name, provnum, hosp id, study site, study center""", 0.05, 0.2, coded=True),
)  # fmt: skip
