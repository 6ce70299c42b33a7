"""Sources of the presets, and conditions that several of them share."""

from __future__ import annotations

KEYS_ARE_RIGHT = (
    "It rests on the quasi-identifiers of the policy (role key): an attribute that an intruder knows and that has another role "
    "is not counted."
)
CHOICE_OF_LEVEL = (
    "The source names several levels, and which of them fits a release is the owner's decision: this one is a starting value."
)
AVERAGE_NUMBERS = (
    "The sources name average risk and no numbers for it: 1/k, the mean risk where all classes have k records, is a starting "
    "value."
)
K_NUMBERS = "The sources define k and leave its number to whoever releases the data: it is a starting value."
OFFICE_NUMBERS = "The handbook names these rules and leaves the numbers to the office: they are starting values to edit."
WP216_NUMBERS = "WP216 names three criteria and no numbers: 0.09 is the level of EMA Policy 0070, a starting value to edit."
ONE_RECORD_PER_PERSON = "It counts records: where a person has several, set a limit on repeated_records as well."

EMA = (
    "European Medicines Agency (2018). External guidance on the implementation of the European Medicines Agency policy on the "
    "publication of clinical data for medicinal products for human use (Policy 0070), chapter 3; Health Canada (2019). Public "
    "release of clinical information: guidance document."
)
EL_EMAM = "El Emam, K. (2013). Guide to the De-Identification of Personal Health Information. CRC Press."
AVERAGE = (
    "El Emam, K. & Arbuckle, L. (2013). Anonymizing Health Data. O'Reilly; ISO/IEC 27559:2022, 7.3.2 (maximum or average risk)."
)
CMS = "Centers for Medicare & Medicaid Services. Cell size suppression policy (no cell of 1 to 10 is displayed)."
K_ANONYMITY = (
    "Sweeney, L. (2002). k-anonymity: a model for protecting privacy. IJUFKS 10(5), 557-570; Hundepool, A. et al. (2012). "
    "Statistical disclosure control. Wiley."
)
HANDBOOK = (
    "Hundepool, A. et al. (2012). Statistical disclosure control. Wiley, chapter 3; Benschop, T., Machingauta, C. & Welch, M. "
    "(2019). Statistical disclosure control: a practice guide. World Bank / IHSN."
)
WP216 = (
    "Article 29 Data Protection Working Party (2014). Opinion 05/2014 on anonymisation techniques (WP216); Giomi, M., Boenisch, "
    "F., Wehmeyer, C. & Tasnádi, B. (2023). A unified framework for quantifying privacy risk in synthetic data. PoPETs 2023(2)."
)
HIPAA = "45 CFR 164.514(b)(2): standard for de-identification of protected health information (Safe Harbor)."
