"""State and rule of masking that targets high-risk records (Orooji & Knapp 2018b)."""
