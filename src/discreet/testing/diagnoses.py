"""Diagnoses in the style of ICD-10, the medications that they are treated with, and how common they are."""

from __future__ import annotations

DIAGNOSES = (
    "J45 Asthma", "J18 Pneumonia", "J11 Influenza", "S52 Fracture of forearm", "K35 Acute appendicitis",
    "A09 Gastroenteritis", "E66 Obesity", "E10 Type 1 diabetes", "E11 Type 2 diabetes", "I10 Hypertension",
    "I21 Myocardial infarction", "I50 Heart failure", "I63 Stroke", "J44 Chronic obstructive lung disease",
    "M16 Arthrosis of hip", "K80 Gallstones", "N39 Urinary infection", "C50 Breast cancer", "C34 Lung cancer",
    "C18 Colon cancer", "F32 Depression", "F10 Alcohol dependence", "F20 Schizophrenia", "O80 Delivery",
    "B20 HIV disease", "B18 Chronic hepatitis", "G40 Epilepsy", "G30 Alzheimer's disease",
)  # fmt: skip
WEIGHTS_BY_AGE = (
    (22, 10, 14, 18, 14, 16, 3, 6, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0, 0, 0, 4, 0),
    (8, 4, 6, 7, 6, 6, 9, 5, 8, 8, 3, 1, 1, 1, 1, 7, 6, 3, 1, 1, 9, 8, 4, 16, 2, 2, 3, 0),
    (3, 8, 4, 4, 1, 3, 5, 2, 16, 18, 10, 13, 10, 11, 9, 6, 8, 4, 5, 5, 5, 4, 1, 0, 1, 1, 2, 7),
)
"""Weights of the diagnoses for ages under 18, 18 to 49, and 50 and over."""

MEDICATIONS = (
    "none", "salbutamol", "amoxicillin", "ibuprofen", "insulin", "metformin", "lisinopril", "aspirin", "furosemide",
    "tamoxifen", "cisplatin", "sertraline", "naltrexone", "olanzapine", "dolutegravir", "entecavir", "levetiracetam",
    "donepezil",
)  # fmt: skip
USUAL_MEDICATION = {
    "J45": 1, "J18": 2, "J11": 3, "S52": 3, "K35": 2, "A09": 0, "E66": 0, "E10": 4, "E11": 5, "I10": 6, "I21": 7,
    "I50": 8, "I63": 7, "J44": 1, "M16": 3, "K80": 3, "N39": 2, "C50": 9, "C34": 10, "C18": 10, "F32": 11, "F10": 12,
    "F20": 13, "O80": 3, "B20": 14, "B18": 15, "G40": 16, "G30": 17,
}  # fmt: skip
"""Index of the usual medication, by the code of the diagnosis."""


def medication_weights() -> list[list[int]]:
    """One row of weights per diagnosis: about four of five records have the usual medication, the others any."""
    rows = []
    for diagnosis in DIAGNOSES:
        row = [1] * len(MEDICATIONS)
        row[USUAL_MEDICATION[diagnosis[:3]]] = 4 * len(MEDICATIONS)
        rows.append(row)
    return rows
