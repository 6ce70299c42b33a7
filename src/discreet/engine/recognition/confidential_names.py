"""Column names of confidential attributes, which an attacker seldom knows and wants to learn (Truta et al., section 2)."""

from __future__ import annotations

from discreet.engine.recognition.name_rules import Kind
from discreet.model.attribute import Role

_S = Role.CONFIDENTIAL

CONFIDENTIALS = (
    Kind("disease", _S, """
        disease, diagnosis, diagnoses, diag, dx, icd, icd9, icd10, ill, illness, sickness, condition, medical condition, health,
        health status, health condition, comorbidity, comorbidities, symptom, symptoms, cancer, tumor, tumour,
        diabetes, asthma, covid, stroke, hepatitis, tuberculosis, epilepsy, dementia, krankheit, diagnose, diagnostic,
        maladie, enfermedad, diagnostico, malattia, diagnosi, ziekte, sairaus, diagnoosi, sjukdom, sykdom, injury,
        flu, influenza, pneumonia, bronchitis, gastritis, migraine, hypertension, obesity, anemia, anaemia, leukemia,
        leukaemia, heart disease, heart attack, heart failure, arthritis, infection, malaria, measles, kidney disease,
        allergy, allergies, morbidity, drg, gesundheit, cause of death, todesursache, snomed""", 0.001, 1.0, coded=True),
    Kind("stigmatised disease", _S, """
        hiv, hiv status, aids, std, sti, syphilis, mental, mental health, mental illness, depression, psychiatric,
        schizophrenia, suicide, self harm, addiction, alcoholism, overdose""", 0.001, 1.0, coded=True),
    Kind("substance use", _S, """
        drugs, drug use, drug abuse, alcohol, alcohol use, smoking, smoker, smokes, tobacco, cannabis, opioid,
        opioids, cocaine, heroin, substance, substance use, substance abuse, drogen, alkohol, tabac, rauchen""",
        0.02, 0.8, coded=True),
    Kind("medication", _S, """
        drug, medication, medications, medicine, med, meds, prescription, rx, dose, dosage, atc, ndc, pharmacy,
        medikament, medikamente, medicament, medicamento, farmaco, laake, lakemedel, insulin, chemotherapy,
        antibiotic, antibiotics, contraception, vaccine, vaccination, acarbose, miglitol""", 0.005, 0.7, coded=True),
    Kind("treatment", _S, """
        treatment, procedure, procedures, surgery, operation, therapy, cpt, hcpcs, behandlung, traitement,
        tratamiento, terapia, hoito, behandling, transplant, dialysis, abortion, readmitted, readmission, outpatient,
        inpatient, emergency, icu, los, length of stay, time in hospital, discharge, discharge disposition, admission,
        admission type, admission source""", 0.01, 0.5, coded=False),
    Kind("laboratory result", _S, """
        lab, labs, lab result, lab results, laboratory, test result, result, a1c, hba1c, a1c result, glucose, glu,
        serum, cholesterol, blood pressure, systolic, diastolic, blood, blood type, blood group, bmi, hemoglobin,
        creatinine, viral load, pathology, biopsy, ecg, xray, mri, heart rate, pulse, temperature""", 0.001, 0.6),
    Kind("genetic", _S, """
        genotype, genetic, genome, gene, snp, dna, allele, mutation, brca, carrier status""", 0.0005, 1.0, coded=True),
    Kind("disability", _S, """
        disability, disabled, handicap, impairment, blind, deaf, wheelchair, special needs, special education, iep,
        behinderung, invalidite, discapacidad, disabilita, vamma""", 0.02, 0.8, coded=True),
    Kind("reproduction", _S, """
        pregnant, pregnancy, miscarriage, fertility, births, parity, gravida, schwanger, enceinte, embarazo""",
        0.02, 0.7, coded=True),
    Kind("income", _S, """
        income, incomes, salary, salary class, wage, wages, earnings, pay, payroll, bonus, revenue, pension,
        einkommen, gehalt, lohn, revenu, salaire, ingresos, ingreso, salario, sueldo, reddito, stipendio, inkomen,
        salaris, tulot, palkka, inkomst, inntekt, compensation, household income, family income, agi, agi bin, hourly
        wage, poverty, ptotval""", 0.005, 0.9),
    Kind("wealth and debt", _S, """
        wealth, assets, net worth, savings, balance, debt, loan, mortgage, capital gain, capital gains, capital loss,
        capital losses, dividend, dividends, interest income, investment, investments, stocks, property value, credit,
        credit score, credit limit, bankruptcy, vermoegen, schulden, deuda, patrimonio, dette, fortune""", 0.005, 0.8),
    Kind("bill", _S, """
        billing, bill, charge, charges, cost, costs, price, amount, payment, payments, paid, expense, expenses,
        expenditure, spending, invoice, invoice amount, fee, rechnung, betrag, kosten, montant, importe, costo,
        purchase, purchases""", 0.005, 0.5),
    Kind("insurance", _S, """
        insurance, insurer, payer, payer code, payor, coverage, versicherung, assurance, seguro, premium""",
        0.02, 0.4, coded=True),
    Kind("benefit", _S, """
        benefit, benefits, ben, welfare, social assistance, snap, food stamps, tanf, ssi, wic, medicaid, mcaid,
        medicare, mcare, unemployment, unemployed, unemployment reason, lunch, free lunch, lunch status, housing
        assistance, subsidy, sozialhilfe, hartz, allocation, subsidio, sussidio, tukien, bafoeg, veterans benefits""", 0.01, 0.6),
    Kind("tax", _S, """
        tax, taxes, tax filer status, filer, filing status, deduction, deductions, steuer, impot, impuesto, tassa,
        vero""", 0.005, 0.7),
    Kind("crime", _S, """
        crime, criminal, criminal record, conviction, convicted, arrest, arrested, offence, offense, felony,
        misdemeanor, prison, jail, probation, parole, incarcerated, incarceration, sentence, violent, violence,
        victim, abuse, police, court, straftat, vorstrafe, delito, reato, rikos, lawsuit, gang""", 0.005, 1.0),
    Kind("school discipline", _S, """
        suspended, suspension, expelled, expulsion, truancy, truant, dropout, retained, detention, disciplinary,
        absences, absent, attendance""", 0.005, 0.7),
    Kind("performance", _S, """
        gpa, exam, exam score, test score, marks, mark, score, scores, iq, evaluation, appraisal, performance, noten,
        satisfaction, gifted, rating""", 0.01, 0.4),
    Kind("hardship", _S, """
        homeless, homelessness, foster, foster care, orphan, refugee, asylum, migrant, undocumented, eviction, food
        insecurity, shelter""", 0.01, 0.8, coded=True),
    Kind("religion", _S, """
        religion, religious, faith, denomination, church, confession, konfession, religione, uskonto, glaube, creed""",
        0.1, 0.8, coded=True),
    Kind("politics", _S, """
        political, politics, party, vote, voted, voting, ideology, party affiliation, partei, parti, partido, puolue,
        political views, opinion""", 0.05, 0.9, coded=True),
    Kind("union", _S, """
        union, union member, trade union, union membership, gewerkschaft, syndicat, sindicato, sindacato""",
        0.02, 0.7, coded=True),
    Kind("orientation", _S, """
        sexual orientation, orientation, lgbt, lgbtq, gay, lesbian, sexuality, gender identity, transgender, sex life,
        sexual, sexual partners, orientierung""", 0.01, 1.0, coded=True),
)  # fmt: skip

DRUG_STEMS = (
    "formin", "glinide", "glitazone", "gliptin", "gliflozin", "glutide", "buride", "pizide", "piride", "clazide",
    "butamide", "amide", "statin", "sartan", "olol", "dipine", "cillin", "conazole", "prazole", "mycin", "floxacin",
    "cycline", "tidine", "triptan", "setron", "azepam", "zolam", "barbital", "caine", "oxetine", "apine", "peridol",
    "dronate", "tinib", "ximab", "zumab", "umab", "navir", "tegravir", "ciclovir", "parin", "grel", "xaban", "profen",
    "codone", "phylline", "terol", "sone", "solone", "thiazide", "semide",
)  # fmt: skip
"""Stems of international non-proprietary names (WHO): a column named after a substance is a medication."""
