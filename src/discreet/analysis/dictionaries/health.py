"""Values about health: diseases, symptoms, medicines, treatments, test results, substances."""

HEALTH: dict[str, str] = {
    "disease": """
        abscess, acne, acquired immunodeficiency syndrome, acute lymphoblastic leukemia, acute myeloid leukemia,
        acute myocardial infarction, aids, allergy, alzheimer s disease, alzheimers, anemia, angina, anorexia, anxiety,
        appendicitis, arrhythmia, arthritis, asthma, atrial fibrillation, autism, back pain, bipolar disorder,
        brain tumor, breast cancer, bronchitis, bulimia, cancer, cardiovascular, cardiomyopathy, cataract,
        celiac disease, cerebral palsy, chickenpox, chlamydia, cholera, chronic kidney disease,
        chronic lymphocytic leukemia, chronic myeloid leukemia, cirrhosis, cold, colitis, colon cancer,
        colorectal cancer, common cold, copd, coronary artery disease, covid, covid 19, crohn s disease, crohns disease,
        cystic fibrosis, dementia, dengue, depression, dermatitis, diabetes, type 1 diabetes, type 2 diabetes, diarrhea,
        digestive, eczema, emphysema, endometriosis, epilepsy, fibromyalgia, flu, fracture, gastritis, gastric ulcer,
        genitourinary, glaucoma, gonorrhea, gout, headache, heart attack, heart disease, heart failure, hemophilia,
        hepatitis, hepatitis a, hepatitis b, hepatitis c, hernia, herpes, high blood pressure, hiv, hiv positive,
        hodgkin lymphoma, non hodgkin lymphoma, huntington, hypertension, hyperthyroidism, hypothyroidism, infection,
        influenza, injury, insomnia, kidney disease, kidney failure, kidney stones, leukemia, liver disease,
        liver cancer, lung cancer, lupus, lyme disease, lymphoma, malaria, measles, melanoma, meningitis, migraine,
        multiple myeloma, multiple sclerosis, mumps, muscular dystrophy, musculoskeletal, myelodysplastic syndrome,
        myelofibrosis, myocardial infarction, neoplasms, neuropathy, obesity, obstructive sleep apnea, osteoarthritis,
        osteoporosis, ovarian cancer, pancreatic cancer, pancreatitis, parkinson s disease, parkinsons, pneumonia,
        polio, prostate cancer, psoriasis, ptsd, rabies, renal failure, respiratory, rheumatoid arthritis, rubella,
        schizophrenia, sepsis, shingles, sickle cell, sinusitis, skin cancer, smallpox, stroke, syphilis, tetanus,
        thyroid cancer, tonsillitis, trauma, tuberculosis, tumor, typhoid, ulcer, ulcerative colitis,
        urinary tract infection, uti, zika, bone marrow failure, aplastic anemia, gastric viral, stomach ulcer,
        stomach cancer, bladder cancer, cervical cancer, squamous, adenocarcinoma, adeno, smallcell, large cell, aura,
        no aura, myopia, alive, dead, died, deceased, survived, death, relapse, relapsed, remission, recurrence,
        censored, transplant, recovered, hospitalized, discharged, metastatic, benign, malignant""",
    "laboratory result": """
        positive, negative, invalid, inconclusive, indeterminate, abnormal, elevated, reactive, non reactive,
        nonreactive, detected, not detected, pos, neg, borderline, hypertensive, normotensive, underweight, overweight,
        obese, a positive, o positive, b positive, ab positive, a negative, o negative, b negative,
        ab negative""",
    "substance use": """
        never smoker, former smoker, current smoker, smoker, non smoker, nonsmoker, ex smoker, formerly smoked,
        never smoked, smokes, occasional smoker, heavy smoker, light smoker, heavy drinker, light drinker,
        social drinker, non drinker, never drinks, abstainer, cocaine, heroin, alcohol, cannabis, marijuana, opioids,
        methamphetamine, amphetamine, lsd, ecstasy, crack, tobacco, cigarettes, hand rolled, packets, still smokes,
        quit smoking, until current pregnancy, once did not now""",
    "medication": """
        placebo, aspirin, ibuprofen, paracetamol, acetaminophen, penicillin, amoxicillin, insulin, metformin, warfarin,
        heparin, statin, atorvastatin, simvastatin, lisinopril, amlodipine, omeprazole, prednisone, methotrexate,
        tamoxifen, morphine, fentanyl, methadone, oxycodone, diazepam, lithium, fluoxetine, sertraline, levothyroxine,
        salbutamol, albuterol, streptomycin, chemotherapy, radiotherapy, immunotherapy, hormone therapy, antibiotics,
        steroids, vitamin c, progabide, vaccine, standard treatment, verum, sham, usual care, standard of care,
        new treatment, lorazepam, ketamine""",
    "treatment": """
        inpatient, outpatient, emergency, urgent, elective, observation, day surgery, surgery, icu, intensive care,
        admitted, recurring outpatient, ambulatory, emergency room, newborn, trauma center, rehabilitation, hospice,
        treated, untreated, drug treatment, dialysis, medical, surgical, palliative""",
    "insurance": """
        medicare, medicaid, private insurance, uninsured, self pay, commercial, charity care, blue cross, hmo, ppo,
        no insurance, insured, not insured, medical assistance, tricare, kaiser, public insurance, statutory,
        privat versichert, gesetzlich, fee for service""",
    "disability": """
        disabled, not disabled, hearing, visual impairment, wheelchair, blind, deaf, limited, severely limited,
        physically disabled""",
}  # fmt: skip
