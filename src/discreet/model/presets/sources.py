"""Sources of the presets, and conditions that several of them share."""

from __future__ import annotations

KEYS_ARE_RIGHT = (
    "It rests on the quasi-identifiers of the policy (role key): an attribute that an intruder knows and that has another role "
    "is not counted."
)
ONE_RECORD_PER_PERSON = "It counts records: where a person has several, set a limit on repeated_records as well."

EMA = (
    "European Medicines Agency (2018). External guidance on the implementation of the European Medicines Agency policy on the "
    "publication of clinical data for medicinal products for human use (Policy 0070), chapter 3; Health Canada (2019). Public "
    "release of clinical information: guidance document."
)
EL_EMAM = "El Emam, K. (2013). Guide to the De-Identification of Personal Health Information. CRC Press, chapter 16."
AVERAGE = (
    "El Emam, K. & Arbuckle, L. (2013). Anonymizing Health Data. O'Reilly, chapter 2; ISO/IEC 27559:2022, 7.3.2 (maximum or "
    "average risk)."
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
