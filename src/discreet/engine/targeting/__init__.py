"""State, rule and kernels of masking that targets high-risk records (Orooji & Knapp 2018b)."""
