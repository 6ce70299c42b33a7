"""Column names of confidential attributes about health: diseases, laboratory results, treatments, substances, reproduction."""

from __future__ import annotations

from discreet.engine.recognition.name_rules import Kind
from discreet.model.attribute import Role

_S = Role.CONFIDENTIAL

HEALTH = (
    Kind("disease", _S, """
        disease, diseases, diagnosis, diagnoses, diag, dx, icd, icd9, icd10, condition, medical condition, krankheit,
        diagnose, diagnostic, maladie, enfermedad, diagnostico, malattia, diagnosi, ziekte, sairaus, diagnoosi, sjukdom,
        sykdom, drg, cause of death, todesursache, snomed, histology, histol, cell type, celltype, injury type,
        injtype,
        erkrankung, diagnos, sygdom""", 0.001, 1.0, coded=True),
    Kind("disease", _S, """
        ill, illness, sickness, sick, health, hlth, health status, health condition, general health, genhlth, goodhlth,
        gdhlth, poorhlth, badh, badhlth, self rated health, physical health, comorbidity, comorbidities, symptom,
        symptoms, cancer, tumor, tumour, chronic, nchronic, lchronic, numchron, ndisease, chronic condition,
        chronic disease, diabetes, diabetic, diab, diabet, asthma, covid, stroke, hepatitis, tuberculosis, tb, epilepsy,
        seizure, seizures, dementia, alzheimer, injury, injuries, injured, inj, trauma, fracture, concussion, burn, flu,
        influenza, pneumonia, bronchitis, bronch, gastritis, migraine, headache, hypertension, hbp, high bp, highbp,
        high blood pressure, obesity, obese, overweight, anemia, anaemia, leukemia, leukaemia, lymphoma, melanoma,
        carcinoma, heart disease, heart attack, heart failure, chf, chd, cvd, copd, angina, infarction, arrhythmia,
        arthritis, infection, infections, infect, sepsis, malaria, measles, polio, kidney disease, renal, liver disease,
        hepatic, colitis, ulcer, pepticulcer, gout, thyroid, allergy, allergies, hay fever, hayfever, cough,
        chronic cough, fever, nausea, vomiting, rash, lesion, lesions, edema, oedema, ascites, jaundice, pain,
        back pain, ache, fatigue, insomnia, sleep, sleep disorder, sleep quality, hours of sleep, weakness, dizziness,
        itch, bleeding, bleed, relapse, recurrence, recur, remission, complication, complications, metastasis,
        metastases, tumor grade, tumor size, lymph nodes, nodes, karnofsky, karno, ecog, stage of disease, cancer stage,
        morbidity, gesundheit, nervous breakdown, nervousbreak, cmv, gvhd, vital status, deceased, dead, died, death,
        mortality, alive, survived, survival, survival time, fustat, futime, follow up time, time to event,
        time to death, time to relapse, disease severity, severity, apgar, premature,
        premie, preterm, lbw, low birth weight, lowbirthweight, gestation, gestational age,
        malnutrition, stunting, wasting, vision, hearing, dental, caries""", 0.001, 1.0),
    Kind("sick leave", _S, """
        sick days, sick leave, illdays, act days, days ill, krankheitstage, krankentage, fehltage, fehlzeiten,
        krankmeldung, krankmeldungen, krankschreibung, arbeitsunfaehigkeit, jours de maladie, dias de
        enfermedad, giorni di malattia, ziekteverzuim, sjukdagar, sykedager, sygedage, sairauspoissaolot""",
        0.001, 1.0),
    Kind("stigmatised disease", _S, """
        hiv, hiv status, aids, std, sti, syphilis, chlamydia, gonorrhea, mental, mental health, mental illness,
        depression, depress, depressed, depressive, cesd, bdi, phq, phq9, gad7, anxiety, anxious, stress, ptsd, bipolar,
        psychiatric, psychosis, psychological, schizophrenia, autism, adhd, suicide, suicidal, self harm, addiction,
        addicted, alcoholism, overdose, eating disorder""",
        0.001, 1.0, coded=False),
    Kind("substance use", _S, """
        drugs, drug use, drug abuse, drug risk, drugrisk, alcohol, alcohol use, alc, smoking, smoker, smokes, smoke,
        smk, smstat, qsmk, smoking status, smoking history, current smoker, former smoker, smokeyrs, smoke intensity,
        smokeintensity, smkintensity, cigs, cig, cigarette, cigarettes, cigars, packs, pack years, tobacco, nicotine,
        vaping, vape, snuff, cannabis, marijuana, opioid, opioids, cocaine, crack, heroin, substance, substance use,
        substance abuse, drink, drinks, drinker, drinking, avg drinks, max drinks, binge, binge drinking, beer, wine,
        liquor, sober, drogen, alkohol, tabac, rauchen, fumeur, fumador, any sub, anysub, days any sub, anysubstatus,
        coffee, caffeine""", 0.02, 0.8, coded=False),
    Kind("medication", _S, """
        drug, medication, medications, medicine, medecine, med, meds, prescription, prescriptions, prescrib, nonpresc,
        rx, dose, dosage, atc, ndc, pharmacy, medikament, medikamente, medicament, medicamento, farmaco, laake,
        lakemedel, insulin, chemotherapy, antibiotic, antibiotics, contraception, contraceptive, birth control, vaccine,
        vaccination, vaccinated, immunization, acarbose, miglitol, steroid, steroids, aspirin, placebo, hormone,
        hormones, hormon, hormone therapy, anesthesia, opiate, statins, antidepressant, supplement, supplements,
        vitamin, vitamins, boweldrug, allergymed, painkiller,
        impfstatus, impfung""", 0.005, 0.7, coded=True),
    Kind("treatment", _S, """
        treatment, treated, treat, trt, tx, procedure, procedures, surgery, surg, surgical, operation, therapy, cpt,
        hcpcs, behandlung, traitement, tratamiento, terapia, hoito, behandling, transplant, dialysis, abortion,
        readmitted, readmission, outpatient, inpatient, emergency, icu, los, length of stay, time in hospital,
        discharge, discharge disposition, admission, admission type, admission source, admit, hospitalized,
        hospitalised, hospitalization, hospitalizations, hospital stay, hospital visits, hospvis, hospadmi, hospdays,
        hosp, doctor visits, docvis, numvisit, doctorco, nondocco, visits, nvisits, ovisits, physician visits,
        clinic visits, medical visits, er visits, emergency visits, emr, prenatal visits, prenatal care, npvis, monpre,
        chemo, radiation, radiotherapy, radther, implant, stent, biopsy result, randomized, randomised, randomization,
        treatment arm, study arm, treatment group, satreat, rehab, rehabilitation, detox, patient class, medical care,
        health care use, checkup,
        therapie, verweildauer, liegedauer, liegetage, duree de sejour, duree sejour, duracion de la estancia,
        dias de estancia, durata della degenza, degenza, verpleegduur, vardtid, hoitoaika""",
        0.01, 0.5, coded=False),
    Kind("laboratory result", _S, """
        lab, labs, lab result, lab results, laboratory, test result, result, a1c, hba1c, a1c result, glucose, glu,
        glyhb, blood sugar, serum, cholesterol, chol, hdl, ldl, trig, triglyceride, triglycerides, tg, blood pressure,
        bloodpressure, bp, sbp, dbp, sysbp, diabp, systolic, systolic bp, diastolic, systolic blood pressure,
        diastolic blood pressure, bp sys, bp dia, blood, blood type, blood group, abo, rhesus, bmi, body mass index,
        body fat, bodyfat, pcbfat, percent fat, skinfold, skin thickness, triceps, waist, hip, whr, waist circumference,
        hemoglobin, haemoglobin, hgb, hb, hct, hematocrit, wbc, rbc, rcc, wcc, platelet, platelets, plt, creatinine,
        creat, bun, urea, egfr, gfr, bilirubin, bili, albumin, alb, sgot, sgpt, ast, alt, alp, alk phos, ggt, ldh,
        sodium, potassium, calcium, copper, iron, ferritin, ferr, protime, prothrombin, inr, psa, cea, crp, esr, cd4,
        cd8, cd34, cd3, viral load, log virus, po2, pco2, pco, ph level, bicarbonate, lactate, troponin, tsh, cortisol,
        testosterone, estrogen, progesterone, pgr, antibody, antigen, titer, pathology, biopsy, ecg, ekg, eeg, xray,
        mri, ct result, heart rate, heartrate, hrtrate, hr, pulse, resp rate, respiratory rate, spo2, oxygen saturation,
        temperature, body temperature, fev, fev1, fvc, lung function, lung capacity, bone density, mmse, glasgow, gcs,
        apache, nyha, mcs, pcs, sf36, pss fr, indtot, mspike, kappa, lambda, biomarker, mallampati,
        asa,
        blutgruppe, blutdruck, blutzucker""",
        0.001, 0.6),
    Kind("genetic", _S, """
        genotype, genetic, genome, gene, snp, dna, allele, mutation, brca, carrier status, apoe, hla, flt3, karyotype,
        family history, famhx""", 0.0005, 1.0, coded=True),
    Kind("disability", _S, """
        disability, disabled, disab, handicap, handicapped, impairment, impaired, blind, deaf, wheelchair,
        special needs, special education, iep, behinderung, invalidite, discapacidad, disabilita, vamma, adl, adldiff,
        functional limitation, limitation, limitations, activity limitation, limit, limited activity, physlim, physlm,
        reduced activity, learning disability""", 0.02, 0.8, coded=True),
    Kind("reproduction", _S, """
        pregnant, pregnancy, pregnancies, preg, npreg, prev preg, miscarriage, miscarriages, stillbirth, fertility,
        births, live births, children ever born, ceb, parity, gravida, schwanger, enceinte, embarazo, menopause, meno,
        menopausal, menarche, menstruation, breastfeeding, breastfed, bfeed, age at first birth, age first birth,
        agefbrth, agefirstbirth, usemeth, knowmeth, ivf, gestation weeks, induced ab, spont ab""", 0.02, 0.7, coded=False),
)  # fmt: skip

DRUG_STEMS = (
    "formin", "glinide", "glitazone", "gliptin", "gliflozin", "glutide", "buride", "pizide", "piride", "clazide",
    "butamide", "amide", "statin", "sartan", "olol", "dipine", "cillin", "conazole", "prazole", "mycin", "floxacin",
    "cycline", "tidine", "triptan", "setron", "azepam", "zolam", "barbital", "caine", "oxetine", "apine", "peridol",
    "dronate", "tinib", "ximab", "zumab", "umab", "navir", "tegravir", "ciclovir", "parin", "grel", "xaban", "profen",
    "codone", "phylline", "terol", "sone", "solone", "thiazide", "semide", "fentanil", "fentanyl",
)  # fmt: skip
"""Stems of international non-proprietary names (WHO): a column named after a substance is a medication."""
