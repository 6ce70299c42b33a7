"""Column names of direct identifiers (Truta et al., section 2)."""

from __future__ import annotations

from discreet.engine.recognition.name_rules import HOUSEHOLD_ID, PERSON_NAME, RECORD_ID, SURVEY_WEIGHT, Kind
from discreet.model.attribute import Role

_I = Role.IDENTIFIER

IDENTIFIERS = (
    Kind(PERSON_NAME, _I, """
        name, names, nom, nombre, naam, nimi, namn, navn, nome""", weak=True),
    Kind("person's name", _I, """
        first name, last name, middle name, given name, family name, maiden name, full name, surname, forename,
        first nm, last nm, name first, name last, author, author name, defendant, plaintiff, contestant, candidate name,
        player name, member name, owner name, nickname, user name, login name, screen name, login, alias, display name,
        prenom, nom de famille, nom complet, vorname, nachname, familienname, geburtsname, apellido, apellidos,
        primer apellido, segundo apellido, cognome, sobrenome, voornaam, achternaam, etunimi, sukunimi, fornamn,
        efternamn, fornavn, etternavn, efternavn, fname, lname, mname, initials, person name, patient name,
        contact name, signature,
        benutzername, rufname, spitzname, kundenname, patientenname, mitarbeitername"""),
    Kind("national number", _I, """
        ssn, social security, social security number, soc sec, soc sec id, national id, national number,
        national insurance, nino, nhs number, nhs no, nhs, tax id, tin, taxpayer id, itin, hetu, henkilotunnus,
        personnummer, personal number, personal identity, fodselsnummer, cpr, cpr nummer, bsn, burgerservicenummer,
        codice fiscale, dni, nie, nif, nir, numero de securite sociale, steuer id, steuernummer,
        sozialversicherungsnummer, sin, pesel, rijksregisternummer, cpf, aadhaar, curp, identity card, id card, svnr,
        ahv,
        versicherungsnummer, rentenversicherungsnummer, krankenversicherungsnummer"""),
    Kind("document number", _I, """
        passport, passport number, reisepass, passeport, pasaporte, driver license, drivers license, driving licence,
        license number, licence number, license plate, number plate, plate number, vin, vehicle id, kennzeichen,
        visa number, medical record number, mrn, health plan number, medicare number, beneficiary number,
        certificate number,
        ausweisnummer, passnummer, licence plate, licence plate number, license plate number, registration plate,
        car plate, vehicle plate, vehicle registration, plate no, plate nr, car registration, reg plate, immatriculation,
        plaque d immatriculation, kenteken, targa, nummernschild, autokennzeichen, kfz kennzeichen, nummerplade,
        rekisterinumero, registreringsnummer"""),
    Kind("e-mail address", _I, """
        email, e mail, mail, email address, correo, courriel, sahkoposti, epost"""),
    Kind("phone number", _I, """
        phone, phone number, telephone, tel, mobile, mobile phone, cell phone, cell, fax, telefon, telefono, telefone,
        puhelin, handy, portable, telephone number, phone no, tel no,
        telefonnummer, handynummer, mobilnummer, telefonnr"""),
    Kind("address", _I, """
        address, street, street address, street number, street name, house number, home address, mailing address, addr,
        adresse, direccion, indirizzo, endereco, adres, osoite, adress, strasse, calle, straat, katuosoite, hausnummer,
        huisnummer, apartment number, apt, po box, postal address, address line,
        anschrift"""),
    Kind("account number", _I, """
        iban, account, account number, account no, bank account, acct, bic, credit card, card number, kontonummer,
        konto, cuenta, compte, rekeningnummer, routing number, policy number, loyalty number,
        membership number"""),
    Kind("web address", _I, """
        url, uri, website, web page, homepage, web site, profile link, twitter, facebook, instagram, linkedin,
        social media, handle"""),
    Kind("device address", _I, """
        ip, ip address, ipv4, ipv6, mac address, imei, imsi, device id, device serial, android id, advertising id, idfa,
        cookie, cookie id, session id, serial number, fingerprint, user agent"""),
    Kind("credential", _I, """
        password, passwd, pwd, pin code, secret, token, api key, passcode"""),
    Kind("picture or voice", _I, """
        photo, photograph, picture, selfie, voiceprint, retina, iris scan, biometric"""),
    Kind(RECORD_ID, _I, """
        id, ids, uid, guid, uuid, identifier, record id, rec id, recid, record number, record no, row id, rownum,
        row number, seq, sequence number, seqn, serial, serialno, idx, key id, pid, pseudonym, case id, case number,
        case no, patient number, patient nbr, patient no, patient nr, patnr, person number, person nr, persnr, personnr,
        client number, client no, client nr, customer number, customer no, customer nr, kundennummer, kundennr,
        member number, member no, employee number, employee no, personalnummer, student number, student no,
        matrikelnummer, subject number, subject no, subject, participant number, respondent number, encounter number,
        encounter nbr, visit number, claim number, invoice number, order number, reference number, ref no,
        registration number, fallnummer, aktenzeichen, barcode, specimen number, sample number, caseid, subjid, usubjid,
        idnr, idno, lfdnr, laufende nummer, numero de dossier, tunniste, tunnus, idcode, id code, idnum, id num,
        id number, persnum, pnr, data id, mrno, chart number, docket, docket number, file number, badge number,
        bib number, ticket number, sno, s no, sr no, obs number, observation, license no, permit number, idp, childid,
        child id, pupil number, pupil nr, pupil no, pupil id, student nr, case nr, participant nr, participant no,
        respondent no, respondent nr, employee nr, member nr, subject nr, donor number, registration no, studyid,
        respid, resp id, subjectid,
        patientennummer, mitgliedsnummer, vertragsnummer, matrikelnr, mitarbeiternummer, schuelernummer""",
        coded=True, weak=True),
    Kind(HOUSEHOLD_ID, Role.HOUSEHOLD, """
        household number, household id, household seq, h seq, family id, family number, hh id, hhid, hid, hh, hhno,
        hh no, hhnum, hh num, hhcode, hh code, famid, fam id, idhh, id hh, hhidpn, hh number, household code,
        haushaltsnummer, haushalts id, id menage, numero menage, id hogar, dwelling id, dwelling number, family code,
        household no, household nr""", coded=True, weak=True),
)  # fmt: skip

WEIGHTS = (
    Kind(SURVEY_WEIGHT, Role.WEIGHT, """
        weight, wt, wgt, wght, fnlwgt, final weight, pweight, pwgt, pwgtp, wgtp, perwt, hhwt, asecwt, marsupwt,
        finalwgt, sample weight, sampling weight, survey weight, instance weight, design weight, person weight,
        household weight, expansion factor, factor de expansion, gewicht, hochrechnungsfaktor, gewichtung, poids,
        ponderation, ponderacion, fattore di riporto, pesofin, otospaino, painokerroin, grossing factor,
        replicate weight, dweight, pspwght, pspweight, anweight, perweight, persweight, wtssall, wtss, wtssnr, finalwt,
        final wt, sampwt, samp wt, sampweight, samplingweight, fweight, aweight, iweight, wtint, wtmec, survey wt,
        svy weight, person wt, hh weight, hhweight, household wt, weighting, weights, population weight,
        calibration weight, earnwt, wtfinl, wtsupp, inclusion probability, expansion, peso, paino, vikt, vekt, vaegt,
        stichprobengewicht, personengewicht, haushaltsgewicht, designgewicht, querschnittsgewicht, laengsschnittgewicht,
        befragungsgewicht, hochrechnungsgewicht, peso muestral, factor de ponderacion, poids de sondage,
        poids individuel, peso campionario, coefficiente di ponderazione"""),
)  # fmt: skip
